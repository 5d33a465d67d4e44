"""Theories by queries: learners, oracles, teachers, distributions, and the variables of a table."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily
from hornbook.queries.horn1 import horn1
from hornbook.queries.lrn_star import lrn_star

if TYPE_CHECKING:
    from hornbook.queries.binarise import Binariser, binarise_table
    from hornbook.queries.bins import exclusivity_rules
    from hornbook.queries.coherence import CoherenceReport, measure_coherence
    from hornbook.queries.completions import Completions, LabelOracle
    from hornbook.queries.conclusion import Conclusion, Undo, explain_facts, smallest_undo
    from hornbook.queries.distributions import (
        DEFAULT_MISSING,
        Distribution,
        Labelled,
        Random,
        Rows,
        check_share,
    )
    from hornbook.queries.examples import Examples, accuracy_by_kind, assign_parts, split_examples
    from hornbook.queries.horn_rules import UNDETERMINED, HornRules
    from hornbook.queries.literals import Groups, Literals, check_groups
    from hornbook.queries.lrn_star import Closed, by_groups, meet_query
    from hornbook.queries.membership import (
        Budgeted,
        Cached,
        Checked,
        Classifier,
        Counted,
        GroupPropagation,
        Judge,
    )
    from hornbook.queries.network import MLP, Net, Training
    from hornbook.queries.oracles import (
        SAMPLING_CHUNK,
        Chain,
        PoolOracle,
        ResumableOracle,
        RuleOracle,
        Sampling,
    )
    from hornbook.queries.perfect import PerfectTeacher
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
    from hornbook.queries.reader import BinaryColumns, Reader, is_binary, to_frame
    from hornbook.queries.result import (
        DisagreementPoint,
        QueryResult,
        RuleStatistics,
        Settings,
        measure_rules,
    )
    from hornbook.queries.run import INTERRUPTED, MODEL_FAILED, extract
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
    "Completions",
    "Conclusion",
    "Counted",
    "Counterexample",
    "DisagreementPoint",
    "Distribution",
    "Equivalence",
    "Estimated",
    "Exact",
    "Examples",
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
    "Violations",
    "accuracy_by_kind",
    "assign_parts",
    "batch_from_terms",
    "binarise_table",
    "by_groups",
    "check_groups",
    "check_share",
    "exclusivity_rules",
    "explain_facts",
    "extract",
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
        "binarise": ["Binariser", "binarise_table"],
        "bins": ["exclusivity_rules"],
        "coherence": ["CoherenceReport", "measure_coherence"],
        "completions": ["Completions", "LabelOracle"],
        "conclusion": ["Conclusion", "Undo", "explain_facts", "smallest_undo"],
        "distributions": ["DEFAULT_MISSING", "Distribution", "Labelled", "Random", "Rows", "check_share"],
        "examples": ["Examples", "accuracy_by_kind", "assign_parts", "split_examples"],
        "horn_rules": ["HornRules", "UNDETERMINED"],
        "literals": ["Groups", "Literals", "check_groups"],
        "lrn_star": ["Closed", "by_groups", "meet_query"],
        "membership": ["Budgeted", "Cached", "Checked", "Classifier", "Counted", "GroupPropagation", "Judge"],
        "network": ["MLP", "Net", "Training"],
        "oracles": ["Chain", "PoolOracle", "ResumableOracle", "RuleOracle", "SAMPLING_CHUNK", "Sampling"],
        "perfect": ["PerfectTeacher"],
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
        "reader": ["BinaryColumns", "Reader", "is_binary", "to_frame"],
        "result": ["DisagreementPoint", "QueryResult", "RuleStatistics", "Settings", "measure_rules"],
        "run": ["INTERRUPTED", "MODEL_FAILED", "extract"],
        "shrink": ["Shrink", "shrink_by_halves", "shrink_one_zero"],
        "teacher": ["BoundModel", "judge_of_table"],
        "trace": ["Trace", "read_step", "read_trace", "step_object"],
        "training": ["TrainedClassifier", "train", "train_classifier"],
        "violations": ["ImposedViolations", "NearMisses", "Violations", "smallest_violations"],
    },
)
