"""The JSON form of values is declared by their dataclasses: written as it stands there, and read strictly.

A dataclass is an object of its fields, in order, but those that its `repr` leaves out. A class with a
`kind` or `form` says so first, by which the members of a union, or the subclasses of an abstract class,
are told apart. `also_writes` adds what follows from the fields, which is not read back. A class with
`to_parts` and `from_parts` is written and read by these. A `TypedDict` may hold more than it declares.
NaN is null, and an infinite number is text.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Mapping, Set
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, lru_cache
from operator import attrgetter
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from hornbook.errors import HornbookError
from hornbook.storage import parse_json

if TYPE_CHECKING:
    from cattrs import Converter

ValueT = TypeVar("ValueT")
ClassT = TypeVar("ClassT", bound=type)

TAGS = ("kind", "form")
"""The attributes by which a class says which one it is."""

INFINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}
"""How infinite numbers are written."""


@dataclass(frozen=True, eq=False)
class Forms:
    """For classes whose form depends on something else, as on a vocabulary: how each is written and read."""

    by_class: Mapping[type, tuple[Callable[[Any], Any], Callable[[Any], Any]]]


_ALSO_WRITTEN: dict[type, dict[str, Callable[[Any], Any]]] = {}
_WITHOUT_DEFAULTS: set[type] = set()


def also_writes(*names: str, **parts: Callable[[Any], Any]) -> Callable[[ClassT], ClassT]:
    """Declare which properties, and other parts, are written beside a class's fields; none is read back.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @also_writes("share")
    ... @dataclass(frozen=True)
    ... class Count:
    ...     hits: int
    ...     size: int
    ...
    ...     @property
    ...     def share(self):
    ...         return self.hits / self.size
    >>> write_object(Count(1, 4))
    {'hits': 1, 'size': 4, 'share': 0.25}
    >>> read_object(Count, {"hits": 1, "size": "x", "share": 0.25}, "counts.json")
    Traceback (most recent call last):
    hornbook.errors.HornbookError: counts.json: invalid value for type, expected int @ $.size

    """

    def declare(cls: ClassT) -> ClassT:
        _ALSO_WRITTEN[cls] = {name: attrgetter(name) for name in names} | parts
        return cls

    return declare


def leaves_out_defaults(cls: ClassT) -> ClassT:
    """Declare that a field of a class is left out where it has its default."""
    _WITHOUT_DEFAULTS.add(cls)
    return cls


def write_object(value: Any, forms: Forms | None = None) -> Any:
    """A value as objects, lists, texts and numbers, ready for JSON."""
    return _converter(forms).unstructure(value)


def write_json(value: Any) -> str:
    """A value as a JSON text of many lines."""
    return json.dumps(write_object(value), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def read_object(kind: type[ValueT], content: Any, source: str = "", forms: Forms | None = None) -> ValueT:
    """The value that `write_object` wrote; refuse anything else with its place in the source."""
    from cattrs import transform_error

    try:
        return _converter(forms).structure(content, kind)
    except RecursionError:
        message = "it is nested too deeply"
    except Exception as error:
        message = " ".join(transform_error(error, "$", _describe)[0].split())
    raise HornbookError(f"{source}: {message}" if source else message)


def read_json(kind: type[ValueT], text: str, source: str) -> ValueT:
    """The value that `write_json` wrote."""
    try:
        content = parse_json(text)
    except HornbookError as error:
        raise HornbookError(f"{source}: {error}") from None
    return read_object(kind, content, source)


def _describe(error: BaseException, kind: Any) -> str:
    """What is wrong at one place of an object."""
    from cattrs.errors import CattrsError
    from cattrs.v import format_exception

    is_said = isinstance(error, HornbookError) or type(error) is CattrsError  # as of literals
    return str(error) if is_said else format_exception(error, kind)


@lru_cache(maxsize=8)
def _converter(forms: Forms | None) -> Converter:
    """Cattrs, told what this module's first lines say, and further forms."""
    from cattrs import Converter

    converter = Converter()
    write = converter.unstructure
    converter.register_unstructure_hook(float, _write_number)
    converter.register_unstructure_hook(np.generic, lambda value: write(value.item()))
    converter.register_unstructure_hook(np.ndarray, lambda value: write(value.tolist()))
    converter.register_unstructure_hook(Mapping, lambda value: {k: write(v) for k, v in value.items()})
    converter.register_unstructure_hook(Set, lambda value: sorted(map(write, value)))
    for sequence in (list, tuple):
        converter.register_unstructure_hook(sequence, lambda value: list(map(write, value)))
    converter.register_unstructure_hook_func(
        lambda kind: hasattr(kind, "iterrows"), lambda frame: write(_list_rows(frame))
    )
    converter.register_unstructure_hook_factory(is_dataclass, _write_fields)
    converter.register_unstructure_hook_func(
        lambda kind: hasattr(kind, "to_parts"), lambda value: value.to_parts()
    )
    for kind in (bool, int, str, NoneType):
        converter.register_structure_hook(kind, _read_exactly)
    converter.register_structure_hook(float, _read_number)
    converter.register_structure_hook_factory(_has_fields, _read_fields)
    converter.register_structure_hook_factory(_has_members, _read_member)
    converter.register_structure_hook_func(
        lambda kind: hasattr(kind, "from_parts"), lambda value, kind: kind.from_parts(value)
    )
    for kind, (write_form, read_form) in {} if forms is None else forms.by_class.items():
        converter.register_unstructure_hook(kind, write_form)
        converter.register_structure_hook(kind, _ignore_type(read_form))
    return converter


def _ignore_type(read: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda value, kind: read(value)


def _has_fields(kind: Any) -> bool:
    return is_dataclass(get_origin(kind) or kind)


def _list_rows(frame: Any) -> Any:
    """The rows of a frame as objects, None where a value is missing."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def _write_number(value: float) -> float | str | None:
    return value if math.isfinite(value) else INFINITE.get(value)


def _write_fields(cls: Any, converter: Converter) -> Callable[[Any], dict[str, Any]]:
    own = _written_fields(cls)
    parts = {name: attrgetter(name) for name in own} | _ALSO_WRITTEN.get(cls, {})
    tag = {} if (name := _tag(cls)) is None or name in own else {name: getattr(cls, name)}
    defaults = _defaults(cls)

    def write(value: Any) -> dict[str, Any]:
        present = ((name, part(value)) for name, part in parts.items())
        return tag | {
            name: converter.unstructure(part)
            for name, part in present
            if name not in defaults or part != defaults[name]
        }

    return write


def _defaults(cls: Any) -> dict[str, Any]:
    """The defaults of the fields that are left out where they have them."""
    own = fields(cls) if cls in _WITHOUT_DEFAULTS else ()
    return {field.name: field.default for field in own if field.repr and field.default is not MISSING}


def _written_fields(cls: Any) -> list[str]:
    return [field.name for field in fields(cls) if field.repr]


def _tag(cls: Any) -> str | None:
    """The attribute by which a class says which one it is; None if by none."""
    return next((name for name in TAGS if isinstance(getattr(cls, name, None), str)), None)


@cache
def _list_tags(cls: Any) -> tuple[str, ...]:
    """What a class says it is: the value of its tag, or those that a field of this name may have."""
    tag = str(_tag(cls))
    is_field = tag in (field.name for field in fields(cls))
    return get_args(get_type_hints(cls)[tag]) if is_field else (getattr(cls, tag),)


def _read_exactly(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError("another type")
    return value


def _read_number(value: Any, kind: type) -> float:
    """A number, NaN for null, or an infinite number from its name."""
    if value is None:
        return math.nan
    named = {name: number for number, name in INFINITE.items()}
    if type(value) not in (int, float) and value not in named:
        raise TypeError("another type")
    return float(named.get(value, value))


def _read_fields(kind: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    """Reads an object that has the fields of a dataclass, and nothing that it does not write."""
    from cattrs.gen import make_dict_structure_fn, override

    cls = get_origin(kind) or kind
    left_out: Any = {field.name: override(omit=True) for field in fields(cls) if not field.repr}
    read = make_dict_structure_fn(kind, converter, _cattrs_forbid_extra_keys=True, **left_out)
    lists = [name for name, hint in get_type_hints(cls).items() if get_origin(hint) in (list, tuple)]
    follows = {*_ALSO_WRITTEN.get(cls, ()), _tag(cls)}.difference(_written_fields(cls))

    def read_own(value: Any, declared: Any) -> Any:
        if strange := [name for name in lists if isinstance(value.get(name), dict | str)]:
            raise HornbookError(f"{strange[0]} is no list")
        return read({name: part for name, part in value.items() if name not in follows}, declared)

    return read_own


def _has_members(kind: Any) -> bool:
    """Whether a type is an abstract class, or a union of more than a type and None."""
    is_union = get_origin(kind) in (Union, UnionType)
    return inspect.isabstract(kind) or (is_union and len({*get_args(kind), NoneType}) > 2)


def _read_member(kind: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    """Reads an object as the dataclass that it says it is; other values are of one of the other types."""

    def read(value: Any, declared: Any) -> Any:
        members = get_args(kind) or _list_subclasses(kind)
        classes: list[Any] = [member for member in members if _has_fields(member)]
        if not isinstance(value, dict) or not classes:
            if type(value) not in members:
                raise TypeError("another type")
            return value
        if len(classes) == 1:
            return converter.structure(value, classes[0])
        named = {name: member for member in classes for name in _list_tags(member)}
        tag = str(_tag(classes[0]))
        if not isinstance(value.get(tag), str) or value[tag] not in named:
            raise HornbookError(f"{tag} is {value.get(tag)!r}, expected {', '.join(named)}")
        return converter.structure(value, named[value[tag]])

    return read


def _list_subclasses(cls: type[Any]) -> list[type[Any]]:
    """All classes below an abstract one that are not abstract."""
    children = cls.__subclasses__()
    own = [child for child in children if not inspect.isabstract(child)]
    return [*own, *(below for child in children for below in _list_subclasses(child))]
