"""Every adapter keeps the contract, with real libraries and real models."""

import numpy as np
import pytest
from adapter_models import BUILDERS, VOCABULARY

from hornbook.testing.predictors import PREDICTOR_CHECKS


@pytest.mark.parametrize("check", PREDICTOR_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("model", BUILDERS)
def test_contract(model, check):
    check(BUILDERS[model](), VOCABULARY, np.random.default_rng(0))
