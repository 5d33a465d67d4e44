"""Language models in this process as classifiers of rows, and the one door to language models anywhere.

Each row is a sentence, and the answer a word in it. Models are loaded by the library transformers, GGUF
files too.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stderr
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hornbook.errors import HornbookError, library
from hornbook.models import is_url
from hornbook.remote.endpoint import Endpoint
from hornbook.remote.protocols import CellRows
from hornbook.remote.settings import EndpointSettings, Sentence
from hornbook.schema import read_object
from hornbook.storage import read_toml

if TYPE_CHECKING:
    import pandas as pd

SENTENCES_AT_A_TIME = 16
"""Sentences of one length that a model in this process reads at a time."""


def open_model(
    source: str | Path, answers: Path | None = None, sentence: Sentence | None = None
) -> Endpoint | LocalLanguageModel:
    """The model behind a URL, or the one that a TOML file describes: `url` is elsewhere, `path` is a file.

    Parameters
    ----------
    source
        The URL, or the path of the TOML file; a path in it is relative to its folder. With a sentence also
        a GGUF file, or the folder of a model.
    answers
        The folder in which the answers of an endpoint are kept; by default the user's cache folder.
    sentence
        How a row is said in words, in the place of the file's sentence.

    """
    if is_url(source):
        return Endpoint(EndpointSettings(str(source), sentence=sentence), answers)
    path = Path(source)
    content = {"path": path.name} if sentence and path.suffix != ".toml" else read_toml(path)
    if sentence:
        content.pop("sentence", None)
    if "path" not in content:
        settings = EndpointSettings.read(content, str(source))
        return Endpoint(replace(settings, sentence=sentence) if sentence else settings, answers)
    if content.keys() - {"path", "sentence"} or not isinstance(content["path"], str):
        raise HornbookError(f"{source}: a language model in this process has a path and a table [sentence]")
    words = sentence or read_object(Sentence, content.get("sentence"), f"{source}: [sentence]")
    return LocalLanguageModel(Path(source).parent / content["path"], words)


class LocalLanguageModel:
    """A language model in this process, as a classifier of rows: a causal model, or a masked one.

    A masked model fills in the word anywhere in the sentence. A causal one, GGUF files among them, gives each
    word, with what follows it, the probability after what stands before.

    Parameters
    ----------
    path
        A GGUF file, or a folder with a model and its tokenizer.
    sentence
        How a row is said in words.

    Attributes
    ----------
    classes_
        The levels of the column that is asked for.
    feature_names_in_
        The columns that the sentence speaks of.
    weights
        The files of the model.

    """

    def __init__(self, path: str | Path, sentence: Sentence) -> None:
        transformers = library("transformers", "language")
        self._torch = library("torch", "language")
        path = Path(path)
        if not path.exists():
            raise HornbookError(f"there is no language model {path}")
        self.path = path
        self._say(sentence)
        self.weights = (
            [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
        )
        source, files = (path.parent, {"gguf_file": path.name}) if path.is_file() else (path, {})
        try:
            with redirect_stderr(io.StringIO()):  # progress bars of loading
                self._load(transformers, source, files)
        except (ImportError, OSError, ValueError) as error:
            line = " ".join(str(error).split())[:300]
            raise HornbookError(f"{path} is not a language model that transformers reads: {line}") from None

    def _say(self, sentence: Sentence) -> None:
        """Take a sentence to ask with."""
        if sentence.read == "votes":
            raise HornbookError('a model in this process gives probabilities: read = "probabilities"')
        self.sentence = sentence
        self.classes_ = np.array(sentence.classes)
        self.feature_names_in_ = np.array(sentence.columns, object)
        self._known: dict[tuple[str, str], NDArray[np.float64]] = {}

    def reword(self, sentence: Sentence) -> LocalLanguageModel:
        """The same model with another sentence."""
        other = copy(self)
        other._say(sentence)
        return other

    def _load(self, transformers: Any, source: Path, files: dict[str, str]) -> None:
        """Load the model and its tokenizer."""
        config = transformers.AutoConfig.from_pretrained(source, **files, local_files_only=True)
        self.is_masked = any("MaskedLM" in name for name in config.architectures or ())
        kind = transformers.AutoModelForMaskedLM if self.is_masked else transformers.AutoModelForCausalLM
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(source, **files, local_files_only=True)
        self._model = kind.from_pretrained(source, **files, local_files_only=True).eval()

    def predict(self, frame: pd.DataFrame) -> NDArray[Any]:
        """The level that the model prefers for each row."""
        preferred: NDArray[Any] = self.classes_[self.predict_proba(frame).argmax(axis=1)]
        return preferred

    def predict_proba(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """How likely the model finds the words for each level, as shares of their sum, (rows, levels)."""
        rows = CellRows.of(frame[list(self.feature_names_in_)]).to_objects() if len(frame) else []
        sentences = [self.sentence.split(row) for row in rows]
        new = [each for each in dict.fromkeys(sentences) if each not in self._known]
        self._known.update(zip(new, self._score(new), strict=True))
        scores = np.array([self._known[each] for each in sentences]).reshape(-1, len(self.classes_))
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def _score(self, sentences: Sequence[tuple[str, str]]) -> list[NDArray[np.float64]]:
        """The logarithm of the probability of each word in each sentence."""
        if self.is_masked:
            return self._score_masks(sentences)
        words = self.sentence.choices
        texts = [
            (before.rstrip(), _continue(before, word, after)) for before, after in sentences for word in words
        ]
        scores = np.array(self._score_continuations(texts)).reshape(len(sentences), len(words))
        return list(scores)

    def _score_continuations(self, texts: Sequence[tuple[str, str]]) -> list[float]:
        """The logarithm of the probability of each continuation of a text."""
        items = []
        for context, continuation in texts:
            known = self._tokenizer(context)["input_ids"]
            items.append(
                (known + self._tokenizer(continuation, add_special_tokens=False)["input_ids"], len(known))
            )
        scores = [0.0] * len(items)
        inputs: dict[tuple[int, ...], list[int]] = {}  # words of one token share what stands before them
        for number, (whole, _) in enumerate(items):
            inputs.setdefault(tuple(whole[:-1]), []).append(number)
        different = list(inputs)
        for numbers in _same_lengths(list(map(len, different))):
            log_probabilities = self._ask(self._torch.tensor([different[number] for number in numbers]))
            for row, number in enumerate(numbers):
                for item in inputs[different[number]]:
                    whole, start = items[item]
                    places = range(start - 1, len(whole) - 1)
                    scores[item] = sum(float(log_probabilities[row, at, whole[at + 1]]) for at in places)
        return scores

    def _score_masks(self, sentences: Sequence[tuple[str, str]]) -> list[NDArray[np.float64]]:
        """The logarithm of the probability of each word where the mask stands."""
        words = [self._read_token(word) for word in self.sentence.choices]
        texts = [f"{before}{self._tokenizer.mask_token}{after}" for before, after in sentences]
        items = [self._tokenizer(text)["input_ids"] for text in texts]
        scores: list[NDArray[np.float64]] = [np.zeros(0)] * len(items)
        for numbers in _same_lengths(list(map(len, items))):
            log_probabilities = self._ask(self._torch.tensor([items[number] for number in numbers]))
            for row, number in enumerate(numbers):
                place = items[number].index(self._tokenizer.mask_token_id)
                scores[number] = log_probabilities[row, place, words].double().numpy()
        return scores

    def _read_token(self, word: str) -> int:
        """The token of a word; refuse a word of several."""
        tokens = self._tokenizer(word, add_special_tokens=False)["input_ids"]
        if len(tokens) != 1:
            raise HornbookError(
                f"{word!r} is {len(tokens)} tokens of {self.path.name}, and a mask is for one"
            )
        return int(tokens[0])

    def _ask(self, tokens: Any) -> Any:
        """The logarithms of the probabilities of all tokens at each place."""
        with self._torch.inference_mode():
            return self._torch.log_softmax(self._model(input_ids=tokens).logits.float(), -1)


def _continue(before: str, word: str, after: str) -> str:
    """A word with the space before it, and what follows it."""
    return f"{before[len(before.rstrip()) :]}{word}{after.rstrip()}"


def _same_lengths(lengths: Sequence[int]) -> list[list[int]]:
    """The places of items of one length, some at a time, so that none has to be padded."""
    order = sorted(range(len(lengths)), key=lambda place: (lengths[place], place))
    groups: list[list[int]] = []
    for place in order:
        if groups and len(groups[-1]) < SENTENCES_AT_A_TIME and lengths[groups[-1][0]] == lengths[place]:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups
