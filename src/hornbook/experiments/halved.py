"""Networks over pairs, asked about one variable of each: its dual has nothing to add."""

from __future__ import annotations

from hornbook.distributions.literals import Literals
from hornbook.experiments.backend import torch
from hornbook.logic.batch import Batch
from hornbook.logic.vocabulary import Vocabulary
from hornbook.oracles.adapters.encoding import Encoding


class Halved:
    """A network whose first layer has one input a pair: on consistent pairs it gives the same, in less time.

    With one number a value, a dual's is what its partner's lacks of that for true and that for
    false together. With two, "is it true?" and "is it false?", they are its partner's, exchanged.
    The other layers are the network's own, and the first is made anew when its weights have changed.
    """

    def __init__(self, module: torch.nn.Sequential, vocabulary: Vocabulary, encoding: Encoding) -> None:
        self.whole, self.encoding = module, encoding
        self.literals = Literals.of(vocabulary)
        self.vocabulary = Vocabulary(vocabulary.named(self.literals.drawn.tolist()))
        self.seen: list[torch.Tensor] = []

    def takes(self, batch: Batch) -> bool:
        """Whether there are pairs, and none of them contradicts itself."""
        return self.literals.count < self.literals.width and not self.literals.contradictions(batch).any()

    def half(self, batch: Batch) -> Batch:
        """What the smaller network is given for a batch."""
        return self.literals.of_drawn(batch, self.vocabulary)

    @property
    def module(self) -> torch.nn.Sequential:
        """The smaller network."""
        first, *others = self.whole
        weights = [parameter.detach() for parameter in first.parameters()]
        if not (self.seen and all(map(torch.equal, weights, self.seen))):
            self.seen = [parameter.clone() for parameter in weights]
            self.smaller = torch.nn.Sequential(self._folded(*self.seen), *others)
        return self.smaller

    def _folded(self, weights: torch.Tensor, bias: torch.Tensor) -> torch.nn.Linear:
        """The first layer over the drawn variables."""
        literals, encoding = self.literals, self.encoding
        drawn, paired, duals = map(torch.as_tensor, (literals.drawn, literals.paired, literals.duals))
        channels = weights.double().chunk(encoding.channels, dim=1)
        kept, shift = [channel[:, drawn] for channel in channels], torch.zeros_like(bias, dtype=torch.float64)
        for own, other in zip(kept, reversed(channels), strict=True):
            own[:, paired] += other[:, duals] * (1 if encoding.channels == 2 else -1)
        if encoding.channels == 1:
            shift += (encoding.true + encoding.false) * channels[0][:, duals].sum(dim=1)
        linear = torch.nn.Linear(encoding.inputs(literals.count), len(bias), device="meta")
        for name, values in (("weight", torch.cat(kept, dim=1)), ("bias", bias + shift)):
            setattr(linear, name, torch.nn.Parameter(values.to(weights.dtype), requires_grad=False))
        return linear
