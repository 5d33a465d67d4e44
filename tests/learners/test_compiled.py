"""The compiled loops answer as the readable functions do, on random bits of all sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pools import draw_arguments

from hornbook.distributions import Random
from hornbook.learners import Settings, coverage, extract, items
from hornbook.logic import Batch, HornTheory, bits, compiled, random_theory

pytest.importorskip("numba", reason="compiled loops need numba: pip install 'hornbook[fast]'")

TWINS = {
    "intersect_rows": (items.intersect_rows, compiled.intersect_rows),
    "count_in_rows": (items.count_in_rows, compiled.count_in_rows),
    "count_all_but_one": (items.count_all_but_one, compiled.count_all_but_one),
    "find_lacking_at_most": (items.find_lacking_at_most, compiled.find_lacking_at_most),
    "count_neighbours": (items.count_neighbours, compiled.count_neighbours),
    "take_items": (items.take_items, compiled.take_items),
    "count_sole": (coverage.count_sole, compiled.count_sole),
    "to_items": (bits.to_items, compiled.to_items),
    "from_items": (bits.from_items, compiled.transpose_words),
}


@pytest.mark.parametrize("name", TWINS)
@given(
    seed=st.integers(0, 2**32 - 1),
    width=st.sampled_from([1, 2, 17, 64, 65, 130]),
    size=st.sampled_from([1, 63, 64, 65, 700, 64 * compiled.WORDS_AT_ONCE + 1]),
    density=st.sampled_from([0.1, 0.6, 0.97]),
)
def test_compiled_loops_equal_the_readable_function(name, seed, width, size, density):
    arguments = draw_arguments(name, np.random.default_rng(seed), width, size, density)
    twin, loops = TWINS[name]
    by_numpy, by_numba = twin.__wrapped__(*arguments), compiled.compile_loops(loops)(*arguments)
    assert by_numba.dtype == by_numpy.dtype
    np.testing.assert_array_equal(by_numba, by_numpy)


@given(
    seed=st.integers(0, 2**32 - 1),
    variables=st.integers(4, 40),
    rules=st.integers(1, 12),
    size=st.sampled_from([30, 64, 1000, 64 * compiled.WORDS_AT_ONCE + 1]),
)
def test_find_conflicts_compiled_equals_the_readable_closure(seed, variables, rules, size):
    rng = np.random.default_rng(seed)
    theory = random_theory(variables, rules, (0, 3), rng, bottom=0.2)
    value = rng.choice(3, (size, variables), p=[0.4, 0.2, 0.4])
    batch = Batch(theory.vocabulary, bits.pack(value == 0), bits.pack(value == 1), size)
    find = compiled.compile_loops(compiled.find_conflicts)
    by_numba = bits.flat(find(batch.true, batch.false, *theory.program.flat_indices), size)
    np.testing.assert_array_equal(by_numba, ~theory.satisfied_by(batch))


def test_use_compiled_only_where_it_pays(monkeypatch):
    monkeypatch.setattr(compiled.CompiledLoops, "on", False)
    compiled.use_compiled(compiled.WORTH_COMPILING - 1)
    assert not compiled.CompiledLoops.on
    compiled.use_compiled(compiled.WORTH_COMPILING)
    assert compiled.CompiledLoops.on


def test_extract_finds_the_same_rules_with_compiled_loops(monkeypatch):
    truth = HornTheory.parse("rain & wind -> wet\nwet & cold -> ill\nsun & rain -> rainbow")
    settings = Settings(pool=3000, size=3000)
    found = []
    for on in (False, True):
        monkeypatch.setattr(compiled.CompiledLoops, "on", on)
        found.append(extract(truth.satisfied_by, Random(truth.vocabulary), settings).theory)
    assert found[0].rules == found[1].rules
