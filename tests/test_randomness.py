"""Streams of randomness: one home, and no two purposes with the same words."""

import ast
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import case_generator

from hornbook import Explainer, learn
from hornbook.errors import HornbookError
from hornbook.logic import Vocabulary
from hornbook.models import RowSampler, as_predictor
from hornbook.paper.networks import order_rng, weights_rng
from hornbook.queries import Labelled, Mixture, Random, Rows
from hornbook.randomness import LARGEST_PLACE, Purpose, generator

SOURCE = Path(__file__).parents[1] / "src" / "hornbook"

MAKERS = {"default_rng", "SeedSequence", "PCG64", "Philox", "MT19937", "SFC64", "RandomState", "Generator"}

ELSEWHERE = {  # modules that make generators outside the home, and why they may
    "randomness.py": "the home",
    "paper/hcc.py": "the seed is the name of a fixed cohort",
    "paper/networks.py": "trains the paper's networks: published figures rest on these draws",
    "paper/search.py": "as networks.py",
    "paper/task.py": "as networks.py",
}

places = st.lists(st.integers(0, LARGEST_PLACE), max_size=3).map(tuple)


@given(st.integers(0, 2**200))
def test_generator_gives_no_two_purposes_the_same_words(seed):
    words = first_words(generator(seed, purpose) for purpose in Purpose)
    assert len(np.unique(words)) == len(words)
    # nor those of a user's own generator, or of the modules that make theirs elsewhere
    others = first_words([np.random.default_rng(seed), order_rng(seed, 0), weights_rng(seed, (8, 4))])
    assert not np.isin(words, others).any()


def first_words(sources):
    return np.concatenate([source.integers(0, 2**64, 8, np.uint64) for source in sources])


@given(st.sampled_from(Purpose), places, st.sampled_from(Purpose), places)
def test_keys_tell_every_purpose_and_place_apart(one, here, other, there):
    assert (one.key(*here) == other.key(*there)) == ((one, here) == (other, there))


def test_keys_are_not_shared_and_can_be_told_from_places():
    keys = [purpose.key() for purpose in Purpose]
    assert len(set(keys)) == len(Purpose) and all(0 not in key and max(key) < 128 for key in keys)


def test_places_that_could_be_mistaken_for_others_are_refused():
    for place in (-1, LARGEST_PLACE + 1):
        with pytest.raises(HornbookError, match="places are numbers from 0"):
            generator(0, Purpose.EQUIVALENCE, place)


WIDE = Random(Vocabulary([f"v{i}" for i in range(40)]))
ROWS = WIDE.draw(50, case_generator(0))


@pytest.mark.parametrize("distribution", [WIDE, Rows(ROWS, 0.3, 0.3)])
def test_samples_for_two_purposes_have_nothing_in_common(distribution):
    drawn = {}
    for purpose in Purpose:
        batch = distribution.draw(200, generator(7, purpose))
        drawn[purpose] = {(item.true, item.false) for item in batch}
    assert not any(drawn[one] & drawn[other] for one, other in combinations(Purpose, 2))


def test_no_module_makes_a_generator_outside_the_home():
    found = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text("utf-8")
        if not any(name in text for name in MAKERS):
            continue  # parsing takes long
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
                if name in MAKERS:
                    found.add(path.relative_to(SOURCE).as_posix())
    assert found == set(ELSEWHERE)


def model(array):
    return array[:, 0] + array[:, 1] * array[:, 2] > 0.7


PREDICTOR = as_predictor(model, encoding="half")
EXTRACTIONS = {
    "judge": lambda frame: learn(PREDICTOR, frame, max_queries=1, seed=3),
    "queries": lambda frame: learn(PREDICTOR, frame, target="label", max_queries=1, seed=3),
    "explanation": lambda frame: Explainer(PREDICTOR, frame, seed=3).extract(n_samples=6000),
}


@pytest.mark.parametrize("kind", EXTRACTIONS)
def test_no_two_draws_of_a_run_use_the_same_words(kind, monkeypatch):
    """What is measured was drawn by words that drew nothing before, however large samples are."""
    states = []

    def record(draw):
        def record_state(self, size, rng):
            states.append(rng.bit_generator.state["state"]["state"])
            return draw(self, size, rng)

        return record_state

    values = np.random.default_rng(0).integers(0, 2, (60, 6)).astype(float)
    with monkeypatch.context() as patched:
        for distribution in (Rows, Labelled, Mixture):
            patched.setattr(distribution, "draw", record(distribution.draw))
        for name in ("draw", "draw_near"):
            patched.setattr(RowSampler, name, record(getattr(RowSampler, name)))
        EXTRACTIONS[kind](pd.DataFrame(values, columns=list("abcdef")))
    assert len(states) >= (3 if kind == "explanation" else 4) and len(set(states)) == len(states)
