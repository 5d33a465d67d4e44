"""`hornbook learn --learner envelope`: every case of a classifier of levels."""

import joblib
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier


def test_an_envelope_is_learned_kept_and_verified(hornbook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame({"job": ["nurse", "boxer", "clerk"] * 8, "place": ["here", "there"] * 12})
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["job", "place"]))
    model = make_pipeline(encoder, DecisionTreeClassifier(random_state=0))
    joblib.dump(model.fit(rows, np.where(rows.job == "nurse", "she", "he")), tmp_path / "model.joblib")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    asked = ["learn", "rows.csv", "--target", "pronoun", "--model", "model.joblib", "--trust-pickle"]
    done = hornbook(*asked, "--learner", "envelope", "-o", "run")
    assert done.returncode == 0, done.stderr
    assert "# guarantee: exact" in done.stdout and "if pronoun = she: job = nurse" in done.stdout
    verified = hornbook("verify", "run", "--trust-pickle")
    assert verified.returncode == 0 and "FAILS" not in verified.stdout
    refused = hornbook(*asked, "--learner", "envelope", "--proof")
    assert refused.returncode == 2 and "exact without --proof" in refused.stderr
