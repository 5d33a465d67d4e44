"""Learn what a network accepts that judges partial interpretations, as the paper does.

The network is trained on examples that a target theory accepts or rejects, so that what it
learned can be held against the truth.

    python examples/read_a_judge.py
"""

import numpy as np

from hornbook.paper import Net, Task
from hornbook.queries import Budget, Settings, measure_disagreement, run_learner
from hornbook.tables import load_dataset

task = Task.of(load_dataset("hcc-synthetic"))
network = task.network(Net(widths=(16, 8), rate=0.1), seed=0)

settings = Settings(Budget(equivalence_queries=12), pool=4096)
result = run_learner(network, task.mixed, settings, heads=task.heads)
print(f"{len(result.rules)} rules, ended by {result.stop_reason}")

judges = {"t": task.theory.satisfied_by, "h": result.theory.satisfied_by, "nn": network}
between = measure_disagreement(judges, task.mixed, 20_000, np.random.default_rng(1))
for pair, meaning in (
    ("t_h", "target and rules"),
    ("t_nn", "target and network"),
    ("h_nn", "rules and network"),
):
    print(f"{meaning}: {between[pair]}")
