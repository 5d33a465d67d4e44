"""What asking a model costs beyond the model itself.

The paper's network (204-32-16-8-16-32-1, float32) scores as many interpretations as one of its
equivalence queries draws. Beside each predictor stands the same library fed with dense blocks that
lay ready in memory, in the order it likes best and in blocks of the same size; the difference is
what unpacking and handing over cost.

    python benchmarks/adapters.py [interpretations]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from time import perf_counter
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "torch")

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from hornbook.logic import Batch, Vocabulary
from hornbook.models import Predictor, as_predictor
from hornbook.models.predictor import PREDICTOR_BLOCK

WIDTHS = (204, 32, 16, 8, 16, 32, 1)
ROUNDS = 5


def batch_of(size: int) -> Batch:
    vocabulary = Vocabulary(f"v{i}" for i in range(WIDTHS[0]))
    rng = np.random.default_rng(0)
    words = -(-size // 64)
    one, two = rng.integers(0, 2**64, (2, len(vocabulary), words), dtype=np.uint64)
    return Batch(vocabulary, one & two, one & ~two, words * 64)[:size]


def torch_network() -> torch.nn.Sequential:
    torch.manual_seed(0)
    parts = [part for sizes in pairwise(WIDTHS) for part in (torch.nn.Linear(*sizes), torch.nn.ReLU())]
    return torch.nn.Sequential(*parts[:-1], torch.nn.Sigmoid())


def onnx_session(network: torch.nn.Sequential) -> Any:
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    nodes, constants, last = [], [], "inputs"
    for i, layer in enumerate(network):
        if isinstance(layer, torch.nn.Linear):
            for name, value in (("w", layer.weight), ("b", layer.bias)):
                constants.append(numpy_helper.from_array(value.detach().numpy(), f"{name}{i}"))
            nodes.append(helper.make_node("Gemm", [last, f"w{i}", f"b{i}"], [f"h{i}"], transB=1))
        else:
            kind = "Relu" if isinstance(layer, torch.nn.ReLU) else "Sigmoid"
            nodes.append(helper.make_node(kind, [last], [f"h{i}"]))
        last = f"h{i}"
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["k", width])]
        for name, width in (("inputs", WIDTHS[0]), (last, 1))
    ]
    graph = helper.make_graph(nodes, "network", *ends, constants)
    opsets = [helper.make_opsetid("", 17)]
    return onnxruntime.InferenceSession(
        helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    )


def keras_network() -> Any:
    import keras

    hidden = [keras.layers.Dense(width, "relu") for width in WIDTHS[1:-1]]
    return keras.Sequential([keras.Input(WIDTHS[:1]), *hidden, keras.layers.Dense(1, "sigmoid")])


def sklearn_network() -> Any:
    from sklearn.neural_network import MLPClassifier

    rng = np.random.default_rng(0)
    inputs = rng.integers(0, 2, (200, WIDTHS[0])).astype(np.float64)
    return MLPClassifier(WIDTHS[1:-1], max_iter=1).partial_fit(inputs, inputs[:, 0], classes=[0, 1])


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def bare(predictor: Predictor, dense: NDArray[Any]) -> None:
    for start in range(0, len(dense), PREDICTOR_BLOCK):
        predictor.outputs(dense[start : start + PREDICTOR_BLOCK])


def main(size: int) -> None:
    batch = batch_of(size)
    network = torch_network()
    predictors = {
        "torch": as_predictor(network, encoding="half"),
        "onnxruntime": as_predictor(onnx_session(network), encoding="half"),
        "keras": as_predictor(keras_network(), encoding="half"),
        "scikit-learn": as_predictor(sklearn_network(), encoding="half"),
    }
    table = Table(title=f"{size:,} interpretations, {WIDTHS[0]} variables, blocks of {PREDICTOR_BLOCK:,}")
    for heading in ("library", "order", "model alone", "predictor", "encoding alone", "overhead"):
        table.add_column(heading, justify="left" if heading == "library" else "right")
    for library, original in predictors.items():
        dense = original.encoding.encode(batch, original.dtype)
        for order in ("F", "C"):
            predictor = replace(original, order=order)

            def encode(chosen: Predictor = predictor) -> None:
                for block in batch.blocks(PREDICTOR_BLOCK):
                    chosen.encoding.encode(block, chosen.dtype, chosen.order)

            works = (lambda p=predictor, d=dense: bare(p, d), lambda p=predictor: p(batch), encode)
            rounds = [[seconds(work) for work in works] for _ in range(ROUNDS)]
            alone, asked, encoded = np.min(rounds, axis=0)
            chosen = f"{order} (chosen)" if order == original.order else order
            cells = (f"{alone:.3f} s", f"{asked:.3f} s", f"{encoded:.3f} s", f"{asked / alone - 1:.0%}")
            table.add_row(library, chosen, *cells)
    Console().print(table)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 708_344)
