"""Every export of explanations, run by its own engine on random rows with holes, beside `decide`.

    python benchmarks/exports.py

Trees, cards and rules of two and three classes are learned from a made-up model, and as many drawn at
random, with every kind of condition. An engine that is not installed is named and left out: DuckDB,
SWI-Prolog (`swipl`), and the PMML evaluators of the packages `jpmml_evaluator` and `pypmml` (both need
Java). PMML is also held against the schema of the standard, if `xmlschema` is installed. Columns are of
double and of single precision, of 0 and 1, of words, an empty one too, and of truth values; names are
hostile.
"""

import argparse
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd

from hornbook import Explainer
from hornbook.conditions import Category, Condition, Missing, Threshold
from hornbook.explanations import (
    CardLine,
    ConditionRule,
    DecisionTree,
    Explanation,
    RuleSet,
    ScoreCard,
    Split,
)
from hornbook.exports import write_pmml, write_source
from hornbook.exports.dialects import DIALECTS

NUMBERS = [f"value {k}" for k in range(6)]
PRICE, FLAG = 'price < 1 & "rare"', "it's set"
WORDS = ["red", "green", "it's blue", "", "a < b & c"]
PRICES = [0.1, 0.2, 0.3, 0.7, 0.720887]


def draw_rows(size: int, rng: np.random.Generator) -> pd.DataFrame:
    """Numbers of both precisions, words and truth values, a tenth of them missing."""
    frame = pd.DataFrame(rng.normal(size=(size, len(NUMBERS))).round(2), columns=NUMBERS)
    frame["kind"] = rng.choice(WORDS, size)
    frame["ill"] = pd.Series(rng.random(size) < 0.5, dtype=object)
    frame[PRICE] = rng.choice(PRICES, size).astype(np.float32)
    frame[FLAG] = rng.integers(0, 2, size).astype(float)
    return frame.mask(rng.random(frame.shape) < 0.1)


def learn_explanation(form: str, classes: int, frame: pd.DataFrame) -> Explanation:
    class Model:
        classes_ = np.arange(classes)
        feature_names_in_ = np.array(frame.columns, dtype=object)

        def predict(self, rows: pd.DataFrame) -> np.ndarray:
            known = rows[NUMBERS].fillna(0.3).to_numpy(float)
            score = known @ [2, -1, 1, 0.5, -2, 1] + (rows["kind"] == "red") * 2
            score += rows[FLAG].fillna(0) - 3 * (rows[PRICE] > 0.3)
            return np.digitize(score, [0, 2][: classes - 1])

    explainer = Explainer(Model(), frame[:300], target="score")
    return explainer.extract(form=form, n_samples=2000).explanation


def draw_condition(rng: np.random.Generator) -> Condition:
    positive = bool(rng.integers(2))
    match rng.integers(8):
        case 0 | 1:
            return Threshold(str(rng.choice(NUMBERS)), round(float(rng.normal()), 2), positive)
        case 2:
            return Category("kind", str(rng.choice(WORDS)), positive)
        case 3:
            return Category("kind", tuple(map(str, rng.choice(WORDS, 2))), positive)
        case 4:
            return Category("ill", True, positive)
        case 5:
            return Category(FLAG, int(rng.integers(2)), positive)
        case 6:
            price = float(rng.choice(PRICES))
            cut = price if rng.integers(2) else float(np.float32(price))
            return Threshold(PRICE, cut, positive) if rng.integers(2) else Category(PRICE, cut, positive)
    return Missing(str(rng.choice([*NUMBERS, "kind", "ill", PRICE, FLAG])), positive)


def draw_explanation(form: str, classes: int, rng: np.random.Generator) -> Explanation:
    names = ("low < 1 & 2", "it's high", "")[:classes]

    def draw_node(depth: int) -> Split[Condition] | int:
        if depth == 4 or rng.random() < 0.15:
            return int(rng.integers(classes))
        return Split(draw_condition(rng), draw_node(depth + 1), draw_node(depth + 1))

    def draw_points() -> tuple[int, ...]:
        return tuple(rng.integers(-3, 4, 1 if classes == 2 else classes).tolist())

    def draw_bodies(count: int) -> list[tuple[Condition, ...]]:
        bodies = [tuple(draw_condition(rng) for _ in range(rng.integers(1, 3))) for _ in range(count)]
        return list(
            {(body[:-1], min(body[-1], body[-1].negate(), key=str)): body for body in bodies}.values()
        )

    if form == "tree":
        return DecisionTree(names, draw_node(0))
    bodies = draw_bodies(8)
    if form == "rules":
        return RuleSet(names, tuple(ConditionRule(body, int(rng.integers(classes))) for body in bodies), 0)
    lines = tuple(CardLine(body, draw_points(), draw_points()) for body in bodies)
    return ScoreCard(names, lines, draw_points())


def run_sqlite(explanation: Explanation, frame: pd.DataFrame) -> list[str]:
    database = sqlite3.connect(":memory:")
    frame.to_sql("cases", database, index=False)
    return [name for (name,) in database.execute(f"SELECT {write_source(explanation, 'sql')} FROM cases")]


def run_duckdb(explanation: Explanation, frame: pd.DataFrame) -> list[str]:
    import duckdb

    with duckdb.connect() as database:
        database.register("cases", frame.convert_dtypes())
        found = database.execute(f"SELECT {write_source(explanation, 'sql')} FROM cases").fetchall()
    return [name for (name,) in found]


def count_misread_numbers(size: int, rng: np.random.Generator) -> tuple[int, int]:
    """How many of random doubles SQLite reads as others, as SQL is written and as plain literals."""
    bits = rng.integers(0, 2**64, size // 2, np.uint64).view(np.float64)
    doubles = [float(x) for x in (*bits[np.isfinite(bits)], *rng.normal(size=size - size // 2))]
    database = sqlite3.connect(":memory:")

    def count(write: Callable[[float], str]) -> int:
        found = (database.execute(f"SELECT {write(number)}").fetchone()[0] for number in doubles)
        return sum(float(read) != number for read, number in zip(found, doubles, strict=True))

    return count(DIALECTS["sql"].write_value), count(repr)


def run_python(explanation: Explanation, frame: pd.DataFrame) -> list[str]:
    module: dict[str, Callable[..., str]] = {}
    exec(write_source(explanation, "python"), module)
    return [module["decide"](row) for row in frame.to_dict("records")]


def run_prolog(explanation: Explanation, frame: pd.DataFrame) -> list[str]:
    def write(value: object) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        quoted = str(value).replace("'", "\\'")
        return f"'{quoted}'" if isinstance(value, str) else f"({value!r})"

    facts = [
        "["
        + ", ".join(f"{write(name)}-{write(value)}" for name, value in row.items() if not pd.isna(value))
        + "]"
        for row in frame.to_dict("records")
    ]
    goals = "\n".join(f"case({row})." for row in facts)
    loop = ":- forall(case(R), (decide(R, C), write(C), nl)), halt."
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.pl"
        program.write_text(f"{write_source(explanation, 'prolog')}\n{goals}\n{loop}\n")
        done = subprocess.run(["swipl", "-q", "-f", program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def run_jpmml(explanation: Explanation, frame: pd.DataFrame) -> list[str]:
    from jpmml_evaluator import make_evaluator

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pmml"
        path.write_text(write_pmml(explanation, "score"), "utf-8")
        return make_evaluator(str(path)).verify().evaluateAll(frame)["decision"].tolist()


def run_pmml4s(explanation: Explanation, frame: pd.DataFrame) -> list[str]:
    from pypmml import Model

    model = Model.fromString(write_pmml(explanation, "score"))
    rows = frame[list(explanation.columns)]
    records = rows.astype(object).where(rows.notna(), None).to_dict("records")
    return [model.predict(record)["decision"] for record in records]  # a frame loses missing truth values


def validate_pmml(explanation: Explanation) -> bool:
    """Whether the schema that comes with `jpmml_evaluator` accepts the document."""
    import jpmml_evaluator
    import xmlschema

    jar = next((Path(jpmml_evaluator.__file__).parent / "dependencies").glob("pmml-model-[0-9]*.jar"))
    with ZipFile(jar) as archive:
        schema = xmlschema.XMLSchema(archive.read("pmml.xsd").decode())
    return schema.is_valid(write_pmml(explanation, "score"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    frame = draw_rows(options.rows, rng)
    explanations = [
        make
        for form in ("tree", "card", "rules")
        for classes in (2, 3)
        for make in (learn_explanation(form, classes, frame), draw_explanation(form, classes, rng))
    ]
    java = shutil.which("java") is not None
    engines = {
        "SQL in SQLite": (run_sqlite, True, len(frame)),
        "SQL in DuckDB": (run_duckdb, find_spec("duckdb") is not None, len(frame)),
        "Python": (run_python, True, len(frame)),
        "Prolog in SWI-Prolog": (run_prolog, shutil.which("swipl") is not None, len(frame)),
        "PMML in JPMML": (run_jpmml, java and find_spec("jpmml_evaluator") is not None, len(frame)),
        "PMML in pmml4s": (run_pmml4s, java and find_spec("pypmml") is not None, len(frame)),
    }
    for name, (run, installed, size) in engines.items():
        if not installed:
            print(f"{name}: not installed")
            continue
        differences = 0
        for explanation in explanations:
            rows = frame[:size]
            expected = [explanation.classes[number] for number in explanation.decide(rows)]
            differences += sum(a != b for a, b in zip(run(explanation, rows), expected, strict=True))
        print(f"{name}: {differences} differences in {len(explanations)} explanations x {size:,} rows")
    written, plain = count_misread_numbers(10 * options.rows, rng)
    print(f"SQLite misreads {written} of {10 * options.rows:,} doubles; of plain literals {plain}")
    if find_spec("xmlschema") is not None and find_spec("jpmml_evaluator") is not None:
        valid = sum(map(validate_pmml, explanations))
        print(f"PMML 4.4 schema: {valid} of {len(explanations)} documents are valid")


if __name__ == "__main__":
    main()
