"""PyTorch, or a word on how to get it."""

from collections.abc import Iterator
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
