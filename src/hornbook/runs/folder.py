"""The run folder: writing and reading everything about a run.

`config.json` holds the settings and is written first; `trace.jsonl` grows during the run;
`extraction.json`, `rules.horn`, `report.html`, `seal.json` and `metrics.json` are written at the end,
each atomically. A folder with a config and no metrics is an unfinished run. Times are in `seconds.json`
alone: all other files but the seal are the same bytes whenever the run is made again.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any, TypedDict

import hornbook
from hornbook.code_book import CodeBook
from hornbook.diff import ModelDiff
from hornbook.errors import HornbookError
from hornbook.extraction import Extraction
from hornbook.models import Subject, load_model
from hornbook.queries import INTERRUPTED, MODEL_FAILED, QuerySubject
from hornbook.report import to_diff_html, to_html
from hornbook.runs.inputs import TargetTable, encode_judge, load_target_table
from hornbook.schema import read_object, write_json
from hornbook.storage import checksum, file_checksum, lock_folder, read_json, read_text, write_file
from hornbook.tables import DATASETS, is_query, is_source

CONFIG_FILE, EXTRACTION_FILE, THEORY_FILE, METRICS_FILE = (
    "config.json",
    "extraction.json",
    "rules.horn",
    "metrics.json",
)
TRACE_FILE, REPORT_FILE, TIMES_FILE = "trace.jsonl", "report.html", "seconds.json"
ANSWERS_FILE, DIFF_FILE, SEAL_FILE = "trace.answers", "diff.json", "seal.json"

RESULT_FILES = (EXTRACTION_FILE, DIFF_FILE, THEORY_FILE, METRICS_FILE, REPORT_FILE, TIMES_FILE)
"""The files that the end of a run writes."""

LASTING_FILES = (TRACE_FILE, ANSWERS_FILE)
"""The files that grow during a run, and from which a killed run resumes."""

DECISIVE_PARTS = ("data", "model", "target", "settings")
"""The parts of a configuration that determine the result."""


class _TestFile(TypedDict):
    path: str
    sha256: str
    unknown_levels: str


class _DataConfig(TypedDict):
    source: str
    sha256: str
    target: str
    positive: str | None
    above: float | None
    csv: str | None


class _TestedData(_DataConfig, total=False):
    test: _TestFile | None


class _RunSettings(TypedDict, total=False):
    seed: int


class _RunConfig(TypedDict, total=False):
    """The configuration of a run; what was saved from Python may have no data and no settings."""

    command: str
    versions: dict[str, Any]
    target: str
    model: dict[str, Any]
    proof: dict[str, Any] | None
    data: _TestedData
    settings: _RunSettings


RECORDED_LIBRARIES = (
    "numpy",
    "pandas",
    "scikit-learn",
    "torch",
    "onnxruntime",
    "xgboost",
    "lightgbm",
    "keras",
)
"""The libraries whose versions a run records."""


@dataclass(frozen=True)
class Run:
    """A saved run: its settings, its result, and what it cost."""

    folder: Path
    config: dict[str, Any]
    extraction: Extraction
    metrics: dict[str, Any]

    @classmethod
    def load(cls, folder: Path, literals: int | None = None) -> Run:
        """Load the run in a folder; refuse a folder that is missing, damaged or unfinished.

        With `literals` it has the best explanation of at most that size, in place of the chosen one.
        """
        if not folder.is_dir():
            raise HornbookError(
                f"there is no run folder {folder}; make one with hornbook extract … -o {folder}"
            )
        config = _read(folder, CONFIG_FILE)
        if not (folder / METRICS_FILE).is_file():
            raise HornbookError(
                f"{folder} holds a run that did not end; resume it with the same command: "
                f"{config.get('command', 'hornbook extract …')}"
            )
        _check_config(folder / CONFIG_FILE, config)
        content, metrics = _read(folder, EXTRACTION_FILE), _read(folder, METRICS_FILE)
        extraction = Extraction.from_object(content, str(folder / EXTRACTION_FILE))
        chosen = extraction if literals is None else extraction.choose(literals)
        return cls(folder, config, chosen, metrics)

    def find_file(self, about: Mapping[str, Any], what: str = "file") -> Path:
        """A file that the configuration names, known by its checksum where several may be meant."""
        if not (found := list_places(self.folder, about["path"])):
            raise HornbookError(
                f"{self.folder} was made with {about['path']}, seen from there, and no such {what} is there "
                f"or here; {'say where it is by --model FILE' if what == 'model' else 'bring it back'}"
            )
        same = (place for place in found if file_checksum(place) == about.get("sha256"))
        return next(same, found[0])

    def find_model(self, given: Path | None = None) -> Path:
        """The path of the run's model: the given one, or the one that the run recorded."""
        if given is not None:
            return given
        about = self.config.get("model")
        if isinstance(about, dict) and "url" in about:
            raise HornbookError(
                f"the model of {self.folder} is behind {about['url']}: there is no file to prove things about"
            )
        if not isinstance(about, dict) or not isinstance(about.get("path"), str):
            raise HornbookError(
                f"{self.folder / CONFIG_FILE} does not say where the model is; name it by --model FILE"
            )
        return self.find_file(about, "model")

    @property
    def is_by_queries(self) -> bool:
        """Whether it learned a theory by queries, and not an explanation of another form."""
        settings = self.config.get("settings", {})
        return "learner" in settings and "margin" not in settings

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the run; what Python leaves to the model is as commands leave it."""
        own: dict[str, Any] = self.config.get("settings", {})
        usual = {"judge": own.get("target") is None, "encoding": None, "seed": 0}
        return own if "data" in self.config else {**usual, **own}

    def restore(
        self, model: Path | None = None, trust_pickle: bool = False, data: str | None = None
    ) -> Subject:
        """The run's model, bound again to the run's table with its words; refuse what has changed.

        `model` and `data` say where these are now, if they have moved.
        """
        table = self.load_table(data)
        if self.is_by_queries:
            raise HornbookError(f"{self.folder} is a run by queries; this needs one of hornbook extract")
        return self.bind(table, self.load_model(model, trust_pickle))

    def restore_queries(
        self, model: Path | None = None, trust_pickle: bool = False, data: str | None = None
    ) -> QuerySubject:
        """As `restore`, of a run by queries: the model, bound again to the variables of the table."""
        return self.bind_queries(self.load_table(data), self.load_model(model, trust_pickle))

    def bind(self, table: TargetTable, model: Any, words: CodeBook | None = None) -> Subject:
        """Bind a loaded model to a loaded table as the run did, by default with the run's words."""
        if (test := self.config.get("data", {}).get("test")) is not None:
            table = table.with_test_rows(test)
        return table.bind(model, self.settings, words or self.extraction.code_book)

    def bind_queries(self, table: TargetTable, model: Any, words: CodeBook | None = None) -> QuerySubject:
        """As `bind`, of a run by queries."""
        settings, about = self.settings, self.config["model"]
        source, rows = about.get("url") or about.get("path", about["name"]), table.frame_of(settings)
        judge = encode_judge(model, settings["encoding"], source, rows)
        return table.bind_queries(judge, settings, words or self.extraction.code_book)

    def load_table(self, given: str | None = None, changed: bool = False) -> TargetTable:
        """Load the run's table; refuse one that is another now, unless it may have `changed`.

        It is read where it is `given` to be, or where the run found it.
        """
        if "data" not in self.config:
            return self._load_given_table(given)
        data = self.config["data"]
        source = self._find_source(data["source"]) if given is None else given
        table = load_target_table(
            source,
            data["target"],
            data["positive"],
            data["above"],
            data["csv"],
            data.get("groups"),
            data.get("weight"),
        )
        if (columns := data.get("columns")) is not None:
            table = table.choose_columns(columns)
        if given is not None:  # it is called as it was
            table = replace(table, table=replace(table.table, name=data.get("name", table.table.name)))
        if not changed and table.table.checksum() != data["sha256"]:
            raise HornbookError(
                f"{given or data['source']} has changed since the run was made: the checksums differ"
            )
        return table

    def _find_source(self, source: str) -> str:
        """Where the run's table is read from: a dataset or a query as it was, files where they are now."""
        if is_query(source) or source in DATASETS:
            return source
        if not (found := list_places(self.folder, source)):
            raise HornbookError(
                f"{self.folder} was made with {source}, seen from there, and no such table is there "
                "or here; say where it is by --data FILE"
            )
        return str(found[0])

    def _load_given_table(self, given: str | None) -> TargetTable:
        """A table in the columns of what was saved from Python, which keeps no path of its own."""
        if given is None:
            raise HornbookError(
                f"{self.folder} was saved from Python, which keeps neither table nor model; say where "
                "they are: --data FILE --model FILE"
            )
        target, columns = self.extraction.target, [each.name for each in self.extraction.columns]
        table = load_target_table(given, target).choose_columns([name for name in columns if name != target])
        return table.with_test_rows({}) if self.extraction.fidelity.population == "test rows" else table

    def find_test_file(self) -> Path | None:
        """The file of the run's test rows, if it has one; refuse one that has changed."""
        given = self.config.get("data", {}).get("test")
        if given is None:
            return None
        path = self.find_file(given)
        if file_checksum(path) != given["sha256"]:
            raise HornbookError(f"{path} is not what it was when the run was made; give rows by --test FILE")
        return path

    def load_model(self, path: Path | None = None, trust_pickle: bool = False) -> Any:
        """Load the run's model from a file, by default its own, or from its URL; refuse one that has changed.

        The answers of a model behind an endpoint are those in the run folder, as far as they go.
        """
        about = self.config.get("model")
        about = about if isinstance(about, dict) else {}
        source = about.get("url") if path is None else None
        if source is None:
            source = self.find_model(path)
            if "sha256" in about and file_checksum(source) != about["sha256"]:  # before a pickle could run
                raise HornbookError(f"{source} has changed since the run was made: the checksums differ")
        model = load_model(source, trust_pickle, self.folder)
        if "endpoint" in about and about["endpoint"] != json.loads(json.dumps(model.describe())):
            raise HornbookError(
                f"{model.settings.url} has changed since the run was made: server or user describe the model "
                "otherwise"
            )
        return model


def list_places(folder: Path, path: str) -> list[Path]:
    """Where a file is that was at `path`, seen from a run folder: there, in the folder, or here."""
    name = Path(path).name
    places = (Path(os.path.normpath(place)) for place in (folder / path, folder / name, Path(name)))
    return [place for place in places if is_source(str(place))]


def relate(content: Any, folder: Path) -> Any:
    """A part of a configuration with all paths as they are seen from the run folder, which may move."""
    if not isinstance(content, Mapping):
        return content
    return {
        name: os.path.relpath(value, folder.resolve())
        if name in ("path", "source") and isinstance(value, str) and Path(value).is_absolute()
        else relate(value, folder)
        for name, value in content.items()
    }


def save_extraction(folder: Path, extraction: Extraction) -> None:
    """Save an extraction that was made without a run: its result and its report."""
    with lock_folder(folder):
        start_run(folder, {"versions": library_versions(), **extraction.provenance}, force=True)
        save_run(folder, extraction)


def load(folder: str | Path) -> Extraction:
    """The extraction in a run folder."""
    return Run.load(Path(folder)).extraction


def save_run(folder: Path, extraction: Extraction, seconds: float | None = None) -> None:
    """Save the result of a run; the metrics come last and mark the run as complete."""
    _end_run(folder, result_files(extraction), seconds)


def result_files(extraction: Extraction) -> dict[str, str]:
    """The files that show a result, by their names: what they hold follows from it."""
    return {
        EXTRACTION_FILE: extraction.to_json(),
        THEORY_FILE: write_rules(extraction),
        REPORT_FILE: to_html(extraction),
        METRICS_FILE: _json(metrics_object(extraction)),
    }


def write_rules(extraction: Extraction) -> str:
    """The rules, one a line: as claims, which `check` reads, or, where they are none, as a theory."""
    from hornbook.checks import RuleClaim  # which imports provers, and they scikit-learn

    explanation = extraction.explanation
    book = explanation.code_book.without_words()
    claims = [RuleClaim(body, outcome).write(book) for body, outcome in explanation.list_claims()]
    marked = zip(claims, extraction.lines, strict=False)
    return "".join(f"{claim}{line.mark}\n" for claim, line in marked) or extraction.theory.to_text()


def _end_run(folder: Path, files: dict[str, str], seconds: float | None = None) -> None:
    """Write the files at the end of a run, seal all files of the run, and write the metrics."""
    if seconds is not None:
        files = {**files, TIMES_FILE: _json({"seconds": round(seconds, 3)})}
    for name, text in files.items():
        if name != METRICS_FILE:
            write_file(folder / name, text)
    write_seal(
        folder,
        {
            **{name: file_checksum(folder / name) for name in list_run_files(folder)},
            METRICS_FILE: checksum(files[METRICS_FILE]),
        },
    )
    write_file(folder / METRICS_FILE, files[METRICS_FILE])


def write_seal(folder: Path, checksums: Mapping[str, str]) -> None:
    """Seal a folder by the checksums of its files: an edit is noticed, unless it is sealed again."""
    write_file(folder / SEAL_FILE, _seal_text(checksums))


def read_seal(folder: Path) -> dict[str, str]:
    """The checksums of the files of a folder; empty if the seal is damaged. Refuse a folder without one."""
    path = folder / SEAL_FILE
    if not folder.is_dir():
        raise HornbookError(f"there is no run folder {folder}; make one with hornbook extract … -o {folder}")
    if not path.is_file():
        raise HornbookError(
            f"{folder} has no {SEAL_FILE}: the run did not end, or an earlier hornbook made it; make the run "
            "again with --force"
        )
    try:
        files = read_json(path)["files"]
        return files if read_text(path) == _seal_text(files) else {}
    except (HornbookError, LookupError, TypeError, AttributeError):
        return {}


def _seal_text(checksums: Mapping[str, str]) -> str:
    """The seal, which has a checksum of its own."""
    files = dict(sorted(checksums.items()))
    return _json({"files": files, "sha256": checksum(json.dumps(files))})


def list_run_files(folder: Path) -> list[str]:
    """The names of the files that a run has written in its folder; others are the user's."""
    names = (CONFIG_FILE, *RESULT_FILES, *LASTING_FILES, *list_model_files(_read(folder, CONFIG_FILE)))
    return [name for name in names if (folder / name).is_file()]


def list_model_files(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The files of a model that a run trained, which are in its folder; none of another model."""
    model = config.get("model")
    path = model.get("path") if isinstance(model, dict) else None
    if not isinstance(path, str) or Path(path).name != path:
        return ()
    return path, Path(path).with_suffix(".json").name


def is_unfinished(extraction: Extraction) -> bool:
    """Whether a run was interrupted, or its model failed: it goes on when it is made again."""
    return extraction.stop_reason.startswith((INTERRUPTED, MODEL_FAILED))


def save_diff(folder: Path, diff: ModelDiff) -> None:
    """Save a comparison: its result and its page; the metrics come last and mark it as complete."""
    share = {"rows": diff.share.size, "interval": [diff.share.low, diff.share.high]}
    metrics = {"disagreement": diff.share.estimate, **share, "stop_reason": "all samples were asked about"}
    files = {
        DIFF_FILE: diff.to_json(),
        REPORT_FILE: to_diff_html(diff),
        METRICS_FILE: _json(metrics),
    }
    _end_run(folder, files)


def metrics_object(extraction: Extraction) -> dict[str, Any]:
    """The figures of a run, ready for JSON."""
    return {
        "form": extraction.explanation.form,
        "literals": extraction.explanation.literals,
        "fidelity": extraction.fidelity,
        "answers": extraction.answers,
        "stop_reason": extraction.stop_reason,
    }


def start_run(folder: Path, config: Mapping[str, Any], force: bool = False) -> None:
    """Start a run in a folder, or resume an unfinished one with the same configuration.

    One of another configuration is begun anew where the earlier one failed, or has nothing to lose.
    """
    force = not refuse_other_run(folder, config, force)
    for name in (METRICS_FILE, SEAL_FILE, *RESULT_FILES, *(LASTING_FILES if force else ())):
        (folder / name).unlink(missing_ok=True)
    write_file(folder / CONFIG_FILE, _json(config))


def refuse_other_run(folder: Path, config: Mapping[str, Any], force: bool = False) -> bool:
    """Refuse a folder with a run that would be lost; whether it holds this run, to be resumed."""
    if force or not (folder / CONFIG_FILE).exists():
        return False
    earlier, wanted = _read(folder, CONFIG_FILE), json.loads(_json(config))
    is_ended = (folder / METRICS_FILE).is_file()
    reason = str(_read(folder, METRICS_FILE).get("stop_reason")) if is_ended else ""
    for part in DECISIVE_PARTS:
        if earlier.get(part) != wanted.get(part):
            if reason.startswith(MODEL_FAILED) or not (is_ended or _holds_work(folder)):
                return False
            raise HornbookError(
                f"{folder} holds a run with another {part}; choose another folder with -o, "
                "or overwrite it with --force"
            )
    if is_ended and not reason.startswith((INTERRUPTED, MODEL_FAILED)):
        raise HornbookError(
            f"{folder} holds this run already, and it is finished; see hornbook show {folder}, or use --force"
        )
    return True


def abandon_run(folder: Path) -> None:
    """Remove what a run that failed has begun with, unless it has left work to go on from."""
    if not (folder / METRICS_FILE).is_file() and not _holds_work(folder):
        for name in [*list_run_files(folder), CONFIG_FILE]:
            (folder / name).unlink(missing_ok=True)


def _holds_work(folder: Path) -> bool:
    """Whether a run that did not end has left what a resumed one goes on from."""
    files = (folder / name for name in LASTING_FILES)
    return any(file.is_file() and file.stat().st_size for file in files)


def library_versions() -> dict[str, str]:
    """The versions of hornbook, Python and the installed model libraries."""
    versions = {"hornbook": hornbook.__version__, "python": platform.python_version()}
    for name in RECORDED_LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _read(folder: Path, name: str) -> dict[str, Any]:
    if not (folder / name).exists():
        raise HornbookError(f"{folder} is not a run folder: it has no {name}; make one with hornbook extract")
    content = read_json(folder / name)
    if not isinstance(content, dict):
        raise HornbookError(f"{folder / name} is damaged; repeat the run with hornbook extract --force")
    return content


def _check_config(path: Path, config: Mapping[str, Any]) -> None:
    """Refuse a configuration whose parts are not what a run writes there."""
    try:
        read_object(_RunConfig, config)
        if "data" in config and config.get("settings", {}).get("seed", -1) < 0:
            raise HornbookError("settings.seed is missing or below 0")
    except HornbookError as error:
        raise HornbookError(f"{path} is damaged: {error}; repeat the run with --force") from None


def _json(content: Mapping[str, Any]) -> str:
    return write_json(content)
