"""The way in: a teacher, where to ask it, and within which limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hornbook.distributions import Distribution
from hornbook.distributions.literals import Groups
from hornbook.extraction.result import Extraction
from hornbook.extraction.run import Run
from hornbook.extraction.settings import Settings
from hornbook.learners.prime import Margin
from hornbook.logic.rule import Head
from hornbook.logic.theory import HornTheory
from hornbook.oracles.chain import Link
from hornbook.queries import Membership, Step
from hornbook.traces import Trace


def extract(
    member: Membership,
    distribution: Distribution,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    *,
    margin: Margin | None = None,
    background: HornTheory | None = None,
    heads: Sequence[Head] | None = None,
    groups: Groups = (),
    guided: Callable[[Membership, Margin | None], Link] | None = None,
    trace: Path | None = None,
    watch: Callable[[Step, Trace], None] | None = None,
    n_jobs: int | None = None,
    device: str | None = None,
) -> Extraction:
    """Read a Horn theory out of a teacher that need be neither Horn nor coherent.

    The run ends by equivalence, which may be but for counterexamples of which no rule that is
    precise enough can be made, by its budget, by a stall, when it is interrupted or when the
    teacher fails, and says which; what was learned until then is kept. With a trace file a
    run that was killed goes on from where it was, to the same result.

    Parameters
    ----------
    member
        The teacher.
    distribution
        Where samples come from; faithfulness is measured on it.
    settings
        Budget, sample sizes, precision and seed.
    margin
        The teacher's score, negative where it rejects; it guides the search for bodies.
    background
        Rules that always hold: the first hypothesis, never contradicted.
    heads
        The heads that rules may have, the preferred first; None for ⊥ and every variable
        without a dual.
    groups
        Sets of variables of which at most one is true; no question breaks them if the
        distribution does not.
    guided
        Makes a further equivalence oracle, asked after sampling, from the teacher and its
        margin, both under the budget.
    trace
        A file that gets a line for each equivalence query, as it happens. A run with the same
        teacher and settings takes up what it holds, perhaps with a larger budget; a run with
        other settings refuses it.
    watch
        Is called after each equivalence query.
    n_jobs
        How many processes judge samples, see `hornbook.parallel.mapped`; the result is the same.
    device
        A device of PyTorch's, such as `cuda`, on which the samples of equivalence queries are drawn,
        asked and judged, see `Sampling`. The learner's pool and its questions stay on the CPU.

    Examples
    --------
    >>> from hornbook.distributions import Random
    >>> truth = HornTheory.parse("horse & wings -> pegasus")
    >>> found = extract(truth.satisfied_by, Random(truth.vocabulary), Settings(pool=1000, size=5000))
    >>> print(found.theory)
    horse ∧ wings → pegasus
    >>> found.stop_reason, found.disagreement.hits
    ('equivalent', 0)

    """
    run = Run(
        member, distribution, settings, margin, background, heads, groups, guided, trace, n_jobs, device
    )
    return run.result(run.learn(watch))
