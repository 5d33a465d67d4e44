"""One explanation: labels are asked for, candidates learned and compared, the best measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hornbook.classify.candidate import Candidate, Point
from hornbook.classify.explanation import Explanation
from hornbook.classify.reading import Reading
from hornbook.classify.search import best_by_size, candidates, chosen
from hornbook.data.conditions import exclusivity_rules
from hornbook.distributions import Distribution, Groups
from hornbook.evaluate import Agreement, RuleStatistics
from hornbook.evaluate.rules import find_redundant_rules
from hornbook.logic import Batch, Bools, HornTheory, bits
from hornbook.models import Predictor
from hornbook.oracles import Budgeted, Checked, GroupPropagation
from hornbook.queries import BudgetExhausted, Estimated, Guarantee, TeacherFailed, Unknown
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share
from hornbook.teachers import DRAWS, Unknowns, augmented_rows, classifier_labels


def explain_classifier(
    predictor: Predictor,
    rows: Batch,
    label: str,
    reading: Reading = Reading(),  # noqa: B008 (frozen)
    *,
    inputs: Sequence[str] | None = None,
    groups: Groups = (),
    distribution: Distribution | None = None,
    unknown: Unknowns | None = None,
    draws: int = DRAWS,
    watch: Callable[[Point], None] | None = None,
) -> Explanation:
    """Explain when a classifier gives a label and when it does not.

    Parameters
    ----------
    predictor
        The model.
    rows
        The features of real rows, without the label: with duals, if rules may speak of what is
        false.
    label
        The name of the label, which is true where the model decides for its positive class.
    reading
        How much a reader is willing to read, and how many answers the explanation may rest on.
    inputs
        The features that the model reads, in its order. By default the names it was trained
        with, where it knows them, and otherwise all.
    groups
        Sets of features of which at most one is true: the `groups_` of a binariser. No question
        breaks them.
    distribution
        Where the features of samples come from. By default the rows, with extra missing values
        and exchanged ones, and mixtures of two rows: `hornbook.teachers.augmented_rows`.
    unknown, draws
        How the model answers about ?: by itself, or by a majority of so many completions. See
        `hornbook.teachers.classifier_labels`.
    watch
        Is called with each candidate that was compared.

    Examples
    --------
    >>> from hornbook.logic import Vocabulary
    >>> from hornbook.models import as_predictor
    >>> symptoms = Vocabulary.with_duals(["fever", "cough"])
    >>> rows = Batch.from_array([[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]], symptoms)
    >>> model = as_predictor(lambda array: array.max(axis=1), name="any symptom")
    >>> reading = Reading(form="rules", default=False, samples=2000, evaluation=1000)
    >>> found = explain_classifier(model, rows, "ill", reading, inputs=["fever", "cough"])
    >>> print(found)
    cough → ill
    fever → ill
    not_fever ∧ not_cough → not_ill
    otherwise undetermined

    """
    labels = classifier_labels(
        predictor, rows, label, inputs=inputs, groups=groups, unknown=unknown, draws=draws, seed=reading.seed
    )
    vocabulary = labels.classifier.vocabulary
    background = HornTheory.background(vocabulary) | exclusivity_rules(vocabulary, groups)
    budget = reading.budget
    ask = Budgeted(Checked(labels), budget.membership_queries, budget.seconds)
    distribution = distribution or augmented_rows(rows, groups)
    run = _Run(ask, distribution, GroupPropagation(rows.vocabulary, groups), label, background, reading)
    return run.result(run.learn(watch), labels.describe())


class _Run:
    """The labels asked for, and the candidates made of them."""

    def __init__(
        self,
        ask: Budgeted[Bools],
        distribution: Distribution,
        exclusions: GroupPropagation,
        label: str,
        background: HornTheory,
        reading: Reading,
    ) -> None:
        self.ask, self.distribution, self.reading = ask, distribution, reading
        self.exclusions = exclusions
        self.background = background
        self.nothing = Candidate(background.vocabulary, label)
        self.weighed: list[tuple[Candidate, Point]] = []
        self.fresh: tuple[Batch, Bools] | None = None

    def learn(self, watch: Callable[[Point], None] | None) -> str:
        """Ask for labels, and weigh what can be made of them; says what ended that."""
        try:
            fresh, labels = self._labelled(self.reading.evaluation, Purpose.RULE_STATISTICS)
            # a rule may need to know that a column is in no other bin, which the background tells
            self.fresh = self.exclusions(fresh), labels
            compared = self._labelled(self.reading.evaluation, Purpose.CANDIDATE_CHOICE)
            learned = self._labelled(self.reading.samples, Purpose.LEARNING_SAMPLES)
            for candidate in candidates(self.nothing, *learned, self.reading):
                self.weighed.append((candidate, candidate.point(*compared)))
                if watch is not None:
                    watch(self.weighed[-1][1])
        except BudgetExhausted as limit:
            return str(limit)
        except KeyboardInterrupt:
            return "interrupted"
        except TeacherFailed as error:
            return f"the model failed: {error}"
        return "every candidate within the reader's budget was weighed"

    def result(self, stop_reason: str, unknowns: str) -> Explanation:
        """The best candidate, measured on samples that it was not chosen by."""
        said = chosen(self.weighed) if self.weighed else self.nothing
        fidelity = derived = Agreement.empty()
        frontier: tuple[Point, ...] = ()
        statistics: tuple[RuleStatistics, ...] = ()
        guarantee: Guarantee = Unknown(f"nothing was measured ({stop_reason})")
        source = self.distribution.describe()
        if self.fresh is not None:
            fidelity, derived = said.measured(*self.fresh)
            frontier = tuple(each.point(*self.fresh) for each in best_by_size(self.weighed))
            statistics = self._statistics(said, *self.fresh)
            guarantee = Estimated(fidelity.disagreed, source)
        return Explanation(
            said,
            self.background,
            tuple(sorted(self.weighed, key=lambda pair: pair[1].literals)),
            frontier,
            fidelity,
            derived,
            statistics,
            guarantee,
            stop_reason,
            self.ask.asked,
            source,
            unknowns,
        )

    def _labelled(self, size: int, purpose: Purpose) -> tuple[Batch, Bools]:
        batch = self.distribution.draw(size, generator(self.reading.seed, purpose))
        return batch, self.ask(batch)

    def _statistics(self, said: Candidate, batch: Batch, labels: Bools) -> tuple[RuleStatistics, ...]:
        """How often each rule fires, and how often the model then gives the label that is its head."""
        theory = HornTheory(said.vocabulary, said.rules)
        found = []
        for rule, redundant in zip(said.rules, find_redundant_rules(theory, self.background), strict=True):
            fires = bits.flat(np.bitwise_and.reduce(batch.true[sorted(rule.body)], axis=0), len(batch))
            right = labels == (rule.head == said.vocabulary.index(said.label))
            precision = Share.of((fires & right).sum(), fires.sum())
            found.append(RuleStatistics(rule, Share.of(fires.sum(), len(batch)), precision, redundant))
        return tuple(found)
