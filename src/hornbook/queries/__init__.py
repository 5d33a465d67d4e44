"""Theories by queries: learners, oracles, teachers, distributions, and the variables of a table."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily
from hornbook.queries.horn1 import horn1
from hornbook.queries.lrn_star import lrn_star

if TYPE_CHECKING:
    from hornbook.queries.agreement import (
        CommonestClass,
        Disagreement,
        Fidelity,
        UnseenPopulation,
        ask_judge,
        disagreement,
        fidelity,
    )
    from hornbook.queries.binarise import Binariser, binarise_table
    from hornbook.queries.bins import exclusivity_rules
    from hornbook.queries.chain import Chain, PoolOracle, ResumableOracle, RuleOracle
    from hornbook.queries.coherence import CoherenceReport, measure_coherence
    from hornbook.queries.completions import Completions, LabelOracle
    from hornbook.queries.conclusion import Conclusion, Undo, explain_facts, smallest_undo
    from hornbook.queries.distributions import Distribution, Groups, Literals, check_groups, check_share
    from hornbook.queries.examples import Examples, accuracy_by_kind, assign_parts, split_examples
    from hornbook.queries.filters import Budgeted, Cached, Checked, Counted
    from hornbook.queries.heads import Closed, by_groups, meet_query
    from hornbook.queries.horn_rules import UNDETERMINED, HornRules
    from hornbook.queries.membership import Classifier, GroupPropagation, Judge
    from hornbook.queries.mixture import Labelled, Mixture
    from hornbook.queries.network import MLP, Net, Training
    from hornbook.queries.perfect import PerfectTeacher
    from hornbook.queries.perturbed_rows import Rows
    from hornbook.queries.protocol import (
        Budget,
        BudgetExhausted,
        Change,
        Counterexample,
        Equivalence,
        Estimated,
        Exact,
        Guarantee,
        IncoherentTeacher,
        Membership,
        NotHorn,
        Pac,
        Proved,
        Step,
        Unknown,
        batch_from_terms,
        interpretation,
        rejected,
        run_together,
    )
    from hornbook.queries.random_interpretations import DEFAULT_MISSING, Random
    from hornbook.queries.reader import BinaryColumns, Reader, is_binary, to_frame
    from hornbook.queries.result import DisagreementPoint, QueryResult, Settings
    from hornbook.queries.rule_statistics import RuleStatistics, measure_rules
    from hornbook.queries.run import INTERRUPTED, MODEL_FAILED, extract
    from hornbook.queries.sampling import SAMPLING_CHUNK, Sampling
    from hornbook.queries.shrink import Shrink, shrink_by_halves, shrink_one_zero
    from hornbook.queries.teacher import BoundModel, judge_of_table
    from hornbook.queries.trace import Trace, read_step, read_trace, step_object
    from hornbook.queries.training import TrainedClassifier, train, train_classifier
    from hornbook.queries.violations import ImposedViolations, NearMisses, Violations, smallest_violations

__all__ = [
    "DEFAULT_MISSING",
    "INTERRUPTED",
    "MLP",
    "MODEL_FAILED",
    "SAMPLING_CHUNK",
    "UNDETERMINED",
    "Binariser",
    "BinaryColumns",
    "BoundModel",
    "Budget",
    "BudgetExhausted",
    "Budgeted",
    "Cached",
    "Chain",
    "Change",
    "Checked",
    "Classifier",
    "Closed",
    "CoherenceReport",
    "CommonestClass",
    "Completions",
    "Conclusion",
    "Counted",
    "Counterexample",
    "Disagreement",
    "DisagreementPoint",
    "Distribution",
    "Equivalence",
    "Estimated",
    "Exact",
    "Examples",
    "Fidelity",
    "GroupPropagation",
    "Groups",
    "Guarantee",
    "HornRules",
    "ImposedViolations",
    "IncoherentTeacher",
    "Judge",
    "LabelOracle",
    "Labelled",
    "Literals",
    "Membership",
    "Mixture",
    "NearMisses",
    "Net",
    "NotHorn",
    "Pac",
    "PerfectTeacher",
    "PoolOracle",
    "Proved",
    "QueryResult",
    "Random",
    "Reader",
    "ResumableOracle",
    "Rows",
    "RuleOracle",
    "RuleStatistics",
    "Sampling",
    "Settings",
    "Shrink",
    "Step",
    "Trace",
    "TrainedClassifier",
    "Training",
    "Undo",
    "Unknown",
    "UnseenPopulation",
    "Violations",
    "accuracy_by_kind",
    "ask_judge",
    "assign_parts",
    "batch_from_terms",
    "binarise_table",
    "by_groups",
    "check_groups",
    "check_share",
    "disagreement",
    "exclusivity_rules",
    "explain_facts",
    "extract",
    "fidelity",
    "horn1",
    "interpretation",
    "is_binary",
    "judge_of_table",
    "lrn_star",
    "measure_coherence",
    "measure_rules",
    "meet_query",
    "read_step",
    "read_trace",
    "rejected",
    "run_together",
    "shrink_by_halves",
    "shrink_one_zero",
    "smallest_undo",
    "smallest_violations",
    "split_examples",
    "step_object",
    "to_frame",
    "train",
    "train_classifier",
]

__getattr__ = load_lazily(
    "hornbook.queries",
    {
        "agreement": [
            "CommonestClass",
            "Disagreement",
            "Fidelity",
            "UnseenPopulation",
            "ask_judge",
            "disagreement",
            "fidelity",
        ],
        "binarise": ["Binariser", "binarise_table"],
        "bins": ["exclusivity_rules"],
        "chain": ["Chain", "PoolOracle", "ResumableOracle", "RuleOracle"],
        "coherence": ["CoherenceReport", "measure_coherence"],
        "completions": ["Completions", "LabelOracle"],
        "conclusion": ["Conclusion", "Undo", "explain_facts", "smallest_undo"],
        "distributions": ["Distribution", "Groups", "Literals", "check_groups", "check_share"],
        "examples": ["Examples", "accuracy_by_kind", "assign_parts", "split_examples"],
        "filters": ["Budgeted", "Cached", "Checked", "Counted"],
        "heads": ["Closed", "by_groups", "meet_query"],
        "horn_rules": ["HornRules", "UNDETERMINED"],
        "membership": ["Classifier", "GroupPropagation", "Judge"],
        "mixture": ["Labelled", "Mixture"],
        "network": ["MLP", "Net", "Training"],
        "perfect": ["PerfectTeacher"],
        "perturbed_rows": ["Rows"],
        "protocol": [
            "Budget",
            "BudgetExhausted",
            "Change",
            "Counterexample",
            "Equivalence",
            "Estimated",
            "Exact",
            "Guarantee",
            "IncoherentTeacher",
            "Membership",
            "NotHorn",
            "Pac",
            "Proved",
            "Step",
            "Unknown",
            "batch_from_terms",
            "interpretation",
            "rejected",
            "run_together",
        ],
        "random_interpretations": ["DEFAULT_MISSING", "Random"],
        "reader": ["BinaryColumns", "Reader", "is_binary", "to_frame"],
        "result": ["DisagreementPoint", "QueryResult", "Settings"],
        "rule_statistics": ["RuleStatistics", "measure_rules"],
        "run": ["INTERRUPTED", "MODEL_FAILED", "extract"],
        "sampling": ["SAMPLING_CHUNK", "Sampling"],
        "shrink": ["Shrink", "shrink_by_halves", "shrink_one_zero"],
        "teacher": ["BoundModel", "judge_of_table"],
        "trace": ["Trace", "read_step", "read_trace", "step_object"],
        "training": ["TrainedClassifier", "train", "train_classifier"],
        "violations": ["ImposedViolations", "NearMisses", "Violations", "smallest_violations"],
    },
)
