"""Theories by queries: learners, oracles, teachers, distributions, and the variables of a table."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily
from hornbook.queries.disagreement import measure_disagreement
from hornbook.queries.distributions import DEFAULT_MISSING, Distribution, Labelled, Mixture, Random, Rows
from hornbook.queries.horn1 import horn1
from hornbook.queries.literals import Groups, Literals, check_groups, exclusivity_rules
from hornbook.queries.lrn_star import by_groups, lrn_star, shrink_by_halves
from hornbook.queries.membership import Cached, Counted, Judge
from hornbook.queries.oracles import NegativeSampling, PerfectTeacher, Sampling
from hornbook.queries.protocol import (
    Budget,
    Counterexample,
    Estimated,
    Exact,
    Guarantee,
    Membership,
    Pac,
    Proved,
    Step,
    Unknown,
    UnknownKind,
    interpretation,
    rejected,
)
from hornbook.queries.run import INTERRUPTED, MODEL_FAILED, Learner, QueryResult, Settings, run_learner
from hornbook.queries.violations import Violations, smallest_violations, target_theory

if TYPE_CHECKING:
    from hornbook.queries.envelope import (
        Envelope,
        KnownCases,
        World,
        find_envelope,
        learn_by_samples,
    )
    from hornbook.queries.horn_rules import UNDETERMINED, HornRules
    from hornbook.queries.network import MLP, TrainedClassifier, train_classifier
    from hornbook.queries.teacher import QuerySubject, QueryTeacher
    from hornbook.queries.variables import Binariser

__all__ = [
    "DEFAULT_MISSING",
    "INTERRUPTED",
    "MLP",
    "MODEL_FAILED",
    "UNDETERMINED",
    "Binariser",
    "Budget",
    "Cached",
    "Counted",
    "Counterexample",
    "Distribution",
    "Envelope",
    "Estimated",
    "Exact",
    "Groups",
    "Guarantee",
    "HornRules",
    "Judge",
    "KnownCases",
    "Labelled",
    "Learner",
    "Literals",
    "Membership",
    "Mixture",
    "NegativeSampling",
    "Pac",
    "PerfectTeacher",
    "Proved",
    "QueryResult",
    "QuerySubject",
    "QueryTeacher",
    "Random",
    "Rows",
    "Sampling",
    "Settings",
    "Step",
    "TrainedClassifier",
    "Unknown",
    "UnknownKind",
    "Violations",
    "World",
    "by_groups",
    "check_groups",
    "exclusivity_rules",
    "find_envelope",
    "horn1",
    "interpretation",
    "learn_by_samples",
    "lrn_star",
    "measure_disagreement",
    "rejected",
    "run_learner",
    "shrink_by_halves",
    "smallest_violations",
    "target_theory",
    "train_classifier",
]

__getattr__ = load_lazily(
    "hornbook.queries",
    {
        "envelope": [
            "Envelope",
            "KnownCases",
            "World",
            "find_envelope",
            "learn_by_samples",
        ],
        "horn_rules": ["HornRules", "UNDETERMINED"],
        "network": ["MLP", "TrainedClassifier", "train_classifier"],
        "teacher": ["QuerySubject", "QueryTeacher"],
        "variables": ["Binariser"],
    },
)
"""What needs pandas, scikit-learn, PyTorch or the provers."""
