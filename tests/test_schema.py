"""The JSON form of values: what is written is read back, and anything else is refused with its place."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.errors import HornbookError
from hornbook.schema import also_writes, leaves_out_defaults, read_json, read_object, write_json, write_object

Inner = TypeVar("Inner")


@dataclass(frozen=True)
class Dot:
    kind: ClassVar[str] = "dot"
    x: float


@dataclass(frozen=True)
class Word:
    text: str
    count: int = 1
    kind: Literal["word", "phrase"] = "word"


@dataclass(frozen=True)
class Fork(Generic[Inner]):
    here: Inner
    left: Fork[Inner] | int
    right: Fork[Inner] | int


class Thing(ABC):
    @abstractmethod
    def weigh(self) -> int: ...


@leaves_out_defaults
@dataclass(frozen=True)
class Short:
    name: str = ""
    unit: str = ""


@also_writes("size", text=str)
@dataclass(frozen=True)
class Tree(Thing):
    form: ClassVar[str] = "tree"
    root: Fork[Dot | Word] | int
    names: tuple[str, ...] = ()
    note: str = field(default="not written", repr=False)

    @property
    def size(self) -> int:
        return len(self.names)

    def weigh(self) -> int:
        return 1


@dataclass(frozen=True)
class Stone(Thing):
    form: ClassVar[str] = "stone"
    weights: Mapping[str, float]
    value: str | int | float | bool = 0
    maybe: Dot | None = None
    pairs: tuple[tuple[int, str], ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    short: Short = Short()

    def weigh(self) -> int:
        return 2


@dataclass(frozen=True)
class Box:
    things: tuple[Thing, ...]

    def __post_init__(self) -> None:
        if len(self.things) > 3:
            raise HornbookError("a box has three things at the most")


numbers = st.floats(allow_nan=False)
parts = st.builds(Dot, numbers) | st.builds(
    Word, st.text(), st.integers(), st.sampled_from(["word", "phrase"])
)
forks = st.recursive(st.integers(0, 9), lambda below: st.builds(Fork, parts, below, below), max_leaves=8)
things = st.builds(Tree, forks, st.lists(st.text()).map(tuple)) | st.builds(
    Stone,
    st.dictionaries(st.text(), numbers),
    st.text() | st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False),
    st.none() | st.builds(Dot, numbers),
    st.lists(st.tuples(st.integers(), st.text())).map(tuple),
    st.just({}),
    st.builds(Short, st.text(), st.text()),
)
boxes = st.lists(things, max_size=3).map(lambda chosen: Box(tuple(chosen)))


@given(boxes)
def test_what_is_written_is_read_back_and_written_alike(box):
    text = write_json(box)
    again = read_json(Box, text, "box.json")
    assert again == box and write_json(again) == text
    json.loads(text, parse_constant=pytest.fail)  # no NaN and no Infinity, which are no JSON


JSON_VALUES = (None, True, -1, 0.5, "x", [], {}, [[]], {"x": {}})


@given(boxes, st.data())
def test_what_is_exchanged_is_read_or_refused_in_one_line_with_its_place(box, data):
    content = write_object(box)
    holder, key = {"": content}, ""
    while isinstance(holder[key], dict | list) and holder[key] and data.draw(st.booleans()):
        holder = holder[key]
        key = data.draw(st.sampled_from(list(holder) if isinstance(holder, dict) else range(len(holder))))
    if key == "":
        return
    holder[key] = data.draw(st.sampled_from(JSON_VALUES))
    message = ""
    try:
        read_object(Box, content, "box.json")
    except HornbookError as error:
        message = str(error)
    assert not message or (message.startswith("box.json: ") and len(message.splitlines()) == 1)


SAMPLE = Box((Tree(Fork(Dot(1.5), Fork(Word("a"), 1, 0), 0), ("n",)), Stone({"a": 1.0}, maybe=Dot(2.0))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda c: c["things"][0]["root"]["here"].update(x="y"),
            "expected float @ $.things[0].root.here.x",
        ),
        (
            lambda c: c["things"][0]["root"]["here"].update(kind="z"),
            "kind is 'z', expected dot, word, phrase @ $.things[0].root.here",
        ),
        (lambda c: c["things"][0].update(names=7), "@ $.things[0].names"),
        (
            lambda c: c["things"][1]["weights"].update(a=True),
            "expected float @ $.things[1].weights['a']",
        ),
        (lambda c: c["things"][1].pop("weights"), "required field missing @ $.things[1].weights"),
        (lambda c: c["things"][1].update(more=1), "extra fields found (more) @ $.things[1]"),
        (lambda c: c["things"][1].update(pairs=[["1", "a"]]), "expected int @ $.things[1].pairs[0][0]"),
        (lambda c: c["things"].extend(2 * c["things"]), "a box has three things at the most"),
        (lambda c: c.clear(), "required field missing @ $.things"),
    ],
)
def test_refusals_name_the_place_and_what_belongs_there(change, message):
    content = json.loads(write_json(SAMPLE))
    change(content)
    with pytest.raises(HornbookError) as refused:
        read_object(Box, content, "box.json")
    assert str(refused.value).startswith("box.json: ") and message in str(refused.value)


def test_a_text_that_is_no_json_or_too_deep_is_refused():
    deep = 1
    for _ in range(400):
        deep = {"here": {"kind": "dot", "x": 1.0}, "left": deep, "right": 0}
    tree = {"things": [{"form": "tree", "root": deep, "names": []}]}
    for text in ("{", "[" * 100_000, json.dumps(tree)):
        with pytest.raises(HornbookError, match=r"^box\.json: "):
            read_json(Box, text, "box.json")


def test_what_follows_is_written_and_not_read_and_what_is_usual_is_left_out():
    content = write_object(SAMPLE)
    assert content["things"][0]["size"] == 1 and "note" not in content["things"][0]
    content["things"][0] |= {"size": 7, "text": "another"}
    assert read_object(Box, content) == SAMPLE
    assert content["things"][1]["short"] == {}


def test_numbers_of_numpy_infinite_ones_and_frames_are_written():
    rows = pd.DataFrame({"a": [1.0, None], "b": ["x", None]})
    values = {"f": np.float32(0.5), "i": np.int64(3), "array": np.arange(2), "set": {2, 1}, "rows": rows}
    assert write_object({**values, "inf": -math.inf, "nan": math.nan}) == {
        "f": 0.5,
        "i": 3,
        "array": [0, 1],
        "set": [1, 2],
        "rows": [{"a": 1.0, "b": "x"}, {"a": None, "b": None}],
        "inf": "-Infinity",
        "nan": None,
    }
    assert math.isnan(read_object(Dot, {"kind": "dot", "x": None}).x)
    assert read_object(Dot, {"kind": "dot", "x": "-Infinity"}).x == -math.inf
