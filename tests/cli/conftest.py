"""What the tests of all commands share."""

import pytest

from hornbook.models import column_training


@pytest.fixture(autouse=True)
def one_candidate(monkeypatch):
    """Let `--train` choose among one network; `tests/models/test_column_training.py` has them all."""
    monkeypatch.setattr(column_training, "HIDDEN_SIZES", column_training.HIDDEN_SIZES[:1])
    monkeypatch.setattr(column_training, "WEIGHT_DECAYS", column_training.WEIGHT_DECAYS[:1])
