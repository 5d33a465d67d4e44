"""What a network says about unknown values by all its completions, not by some of them."""

from __future__ import annotations

import numpy as np

from hornbook.logic.batch import Batch
from hornbook.logic.bits import Bools
from hornbook.logic.errors import HornbookError
from hornbook.oracles.adapters.scores import Floats
from hornbook.oracles.proof.cascade import Prover, Verdict


class ExactCompletions:
    """Accepts an interpretation if the model accepts some completion of it, of all there are.

    What stays undecided in the prover's time counts as accepted, so that no rule rests on it;
    `undecided` counts how often that was.

    Parameters
    ----------
    prover
        Who decides; it must be about complete inputs.

    Examples
    --------
    >>> import torch
    >>> from hornbook.logic.vocabulary import Vocabulary
    >>> from hornbook.oracles.adapters import as_predictor
    >>> module = torch.nn.Sequential(torch.nn.Linear(2, 1))
    >>> with torch.no_grad():
    ...     _ = module[0].weight.copy_(torch.tensor([[2.0, 2.0]])), module[0].bias.fill_(-3.0)
    >>> vocabulary = Vocabulary(["horse", "wings"])
    >>> some = ExactCompletions(Prover(as_predictor(module), vocabulary))
    >>> some(Batch.from_array([[1, np.nan], [0, np.nan]], vocabulary))
    array([ True, False])

    """

    def __init__(self, prover: Prover) -> None:
        if prover.values != "complete":
            raise HornbookError("completions are complete inputs; make the prover with values='complete'")
        self.prover = prover
        self.undecided = 0

    def __call__(self, batch: Batch) -> Bools:
        """Whether some completion of each interpretation is accepted."""
        return np.array([verdict.status != "proved" for verdict in self._verdicts(batch)], np.bool_)

    def margin(self, batch: Batch) -> Floats:
        """1 for accepted interpretations, and for others the bound, which is negative."""
        found = [1.0 if v.status != "proved" else max(v.bound, -1e6) for v in self._verdicts(batch)]
        return np.array(found, np.float32)

    def describe(self) -> str:
        """What an answer means."""
        return "accepted: some completion is, of all there are; rejected: proved that none is"

    def _verdicts(self, batch: Batch) -> list[Verdict]:
        verdicts = [self.prover.question(item.true, item.false) for item in batch]
        self.undecided += sum(verdict.status == "undecided" for verdict in verdicts)
        return verdicts
