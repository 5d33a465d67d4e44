"""Every adapter keeps the contract, with real libraries and real models."""

import subprocess
import sys

import numpy as np
import pytest
from adapter_models import BUILDERS, VOCABULARY

from hornbook.testing import PREDICTOR_CHECKS


@pytest.mark.parametrize("check", PREDICTOR_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("model", BUILDERS)
def test_predictor_checks_contract(model, check):
    check(BUILDERS[model](), VOCABULARY, np.random.default_rng(0))


def test_predictor_heavy_libraries_are_imported_only_for_their_models():
    heavy = {"joblib", "keras", "lightgbm", "onnx", "onnxruntime", "pandas", "sklearn", "torch", "xgboost"}
    code = f"import hornbook.models, sys; print(*({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
