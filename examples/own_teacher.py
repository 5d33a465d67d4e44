"""Learn from a teacher of your own: any function of batches will do.

Here it is a rule book that only answers yes or no. A teacher could be a simulator, a solver, a
service, or a person.

    python examples/own_teacher.py
"""

import numpy as np

from hornbook.logic import Batch, Bools, HornTheory, Vocabulary
from hornbook.queries import Counted, Random, Sampling, lrn_star

vocabulary = Vocabulary(["rain", "sprinkler", "wet", "slippery", "sunny"])


def plausible(batch: Batch) -> Bools:
    """Whether each partial description of a garden can be true."""
    garden = batch.to_array(unknown=np.nan)
    rain, sprinkler, wet, slippery, sunny = garden.T
    watered = (rain == 1) | (sprinkler == 1)
    soaked = watered | (wet == 1)
    impossible = (watered & (wet == 0)) | (soaked & (slippery == 0)) | ((rain == 1) & (sunny == 1))
    return ~impossible


teacher = Counted(plausible)
equivalent = Sampling(teacher, Random(vocabulary), "angluin", epsilon=0.01, delta=0.01, seed=0)
for step in lrn_star(vocabulary, teacher, equivalent):
    print(f"{len(step.hypothesis)} rules so far: {type(step.answer).__name__.lower()}")

learned = step.hypothesis.minimise()
print(learned)
print(step.answer)
print(f"{teacher.questions} questions")

book = "rain -> wet \n sprinkler -> wet \n wet -> slippery \n rain & sunny -> false"
assert learned.equivalent(HornTheory.parse(book, vocabulary))
