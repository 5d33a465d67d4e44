"""Patients who are ill if they are old and have a fever, and model files that know."""

import pickle

import numpy as np
import pandas as pd


def write_patients(path):
    """Write the table, models that predict it, and files that are none into a folder."""
    from skl2onnx import to_onnx
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.uniform(20, 90, 120).round(), "fever": rng.integers(0, 2, 120)})
    frame["ill"] = ((frame.age > 60) & (frame.fever == 1)).map({True: "yes", False: "no"})
    frame.to_csv(path / "patients.csv", index=False)
    (path / "empty.csv").write_text("")
    (path / "header.csv").write_text("age,fever,ill\n")
    values = frame[["age", "fever"]].to_numpy(np.float32)
    tree = DecisionTreeClassifier(random_state=0).fit(values, (frame.ill == "yes").astype(int))
    onnx = to_onnx(tree, values[:1], options={"zipmap": False})
    (path / "tree.onnx").write_bytes(onnx.SerializeToString())
    (path / "junk.onnx").write_bytes(b"not a model")
    wide = LogisticRegression(max_iter=1000).fit(np.hstack([values, values, values[:, :1]]), frame.ill)
    line = LinearRegression().fit(values, frame.ill == "yes")
    for name, model in (("tree", tree), ("wide", wide), ("line", line)):
        (path / f"{name}.pkl").write_bytes(pickle.dumps(model))
    return path
