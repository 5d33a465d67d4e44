"""PyTorch, or a word on how to get it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hornbook.logic.errors import HornbookError

try:
    import torch as torch
except ImportError as error:
    raise HornbookError('networks need PyTorch: pip install "hornbook[torch]"') from error


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep PyTorch to one thread: small products are many times slower on several."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def repeat(job: Callable[[], None], times: int, device: torch.device) -> None:
    """Do a job, which works on tensors alone, so many times.

    On a GPU the job is recorded once and replayed: small kernels are then not kept waiting by
    the calls that launch them. The first runs are ordinary, so that libraries are set up.
    """
    ordinary = times if device.type != "cuda" else min(times, 3)
    for _ in range(ordinary):
        job()
    if times > ordinary:
        recorded = torch.cuda.CUDAGraph()
        torch.cuda.synchronize(device)
        with torch.cuda.graph(recorded):
            job()
        for _ in range(times - ordinary):
            recorded.replay()
        torch.cuda.synchronize(device)
