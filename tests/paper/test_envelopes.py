"""The study of language models, on a stand-in for one that completes texts."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from model_servers import Reply, serve

from hornbook.errors import HornbookError
from hornbook.paper import envelopes, study_lines, study_model


def complete(path: str, body: Any, number: int) -> Reply:
    """Nurses are she, boxers he, and dancers she since 1950, whatever the wording."""
    choices = []
    for place, prompt in enumerate([body["prompt"]] if isinstance(body["prompt"], str) else body["prompt"]):
        she = 0.8 if "nurse" in prompt else 0.1 if "boxer" in prompt else 0.46 + 0.08 * ("after" in prompt)
        tokens = {" She": math.log(she), " He": math.log(1 - she)}
        choices.append({"index": place, "logprobs": {"top_logprobs": [tokens]}})
    return Reply({"choices": choices})


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HORNBOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(envelopes, "OCCUPATIONS", ("nurse", "boxer", "dancer"))
    monkeypatch.setattr(envelopes, "TEMPLATES", envelopes.TEMPLATES[:2])


def test_a_study_is_exact_and_goes_on_from_its_answers(tmp_path: Path) -> None:
    with serve(complete) as server:
        source = f"{server.url}/v1/completions"
        result = study_model(source, tmp_path / "run", lambda text: None)
        requests = len(server.bodies)
        again = study_model(source, tmp_path / "run", lambda text: None)
        assert len(server.bodies) == requests  # every answer is in the folder
    without_time = [
        json.dumps({**each["wordings"][0], "learner_seconds": 0} | {"pairs": each["pairs"]})
        for each in (result, again)
    ]
    assert without_time[0] == without_time[1]
    first = result["wordings"][0]
    assert "if occupation = nurse and pronoun = he: impossible" in first["rules"]
    assert first["guarantee"].startswith("exact: ")
    assert result["pairs"] == [
        {
            "wordings": [1, 2],
            "agreement": 1.0,
            "rules": [len(first["rules"])] * 2,
            "shared": [len(first["rules"])] * 2,
        }
    ]
    assert result["wordings"][0]["answers"] == 4 * 4 * 6 and result["cases"] == 3 * 4 * 4 * 6
    shares = {row["occupation"]: row["shares"] for row in result["pictures"][0]}
    assert shares["nurse"] == pytest.approx([0.8] * 4) and shares["dancer"][2] == pytest.approx(0.54)
    assert [*first["margins"]] == ["0.1", "0.2"]
    assert first["margins"]["0.1"]["rules"] < len(first["rules"]), "dancers are preferred by less than 0.1"
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "nothing about people" in page and "roberta-base, published" in page
    assert "nothing about people" in study_lines(result)[-1]


def test_a_folder_of_another_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "answers-1.json").write_text('{"model": "http://127.0.0.1:9"}', "utf-8")
    (tmp_path / "answers-1.csv").write_text("occupation,period,continent,she,he\n", "utf-8")
    with pytest.raises(HornbookError, match="holds the answers of http://"):
        study_model("other.gguf", tmp_path, lambda text: None)
