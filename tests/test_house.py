"""The rules of the house that no linter keeps: the length of functions, their parameters, and names."""

import ast
from collections import defaultdict
from pathlib import Path

import hornbook

HOUSE = Path(hornbook.__file__).parent
TREES = {path.relative_to(HOUSE): ast.parse(path.read_text("utf-8")) for path in sorted(HOUSE.rglob("*.py"))}

MAX_LINES = 60
MAX_PARAMETERS = 10

LONG_LISTS = {
    "tables/table.py: read_table": "says of a table all that a user may have to say, each once",
    "cli/inputs.py: open_table": "takes the options of a command that are about its table",
}
"""Documented functions with more parameters, and why. Commands have one for each option."""


def list_functions():
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def count_lines(function):
    """Lines of a function without its docstring and decorators."""
    first = function.body[0]
    has_docstring = ast.get_docstring(function, clean=False) is not None
    docstring = first.end_lineno - first.lineno + 1 if has_docstring else 0
    return function.end_lineno - function.lineno + 1 - docstring


def count_parameters(function):
    own = function.args
    names = [each.arg for each in (*own.posonlyargs, *own.args, *own.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def is_command(path, function):
    return path.parent == Path("cli") and any(
        "command" in ast.unparse(each) for each in function.decorator_list
    )


def test_no_function_is_longer_than_a_screen():
    assert not [
        f"{path}: {function.name}, {count_lines(function)} lines"
        for path, function in list_functions()
        if count_lines(function) > MAX_LINES and not is_command(path, function)
    ]


def test_no_function_has_more_than_ten_parameters():
    long_lists = {
        f"{path.as_posix()}: {function.name}"
        for path, function in list_functions()
        if count_parameters(function) > MAX_PARAMETERS and not is_command(path, function)
    }
    assert long_lists <= set(LONG_LISTS)


def test_a_class_name_exists_once():
    homes = defaultdict(list)
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(path.as_posix())
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_no_module_has_the_name_of_a_package_beside_it():
    others = (path for path in TREES if path.name != "__init__.py")
    assert not [path for path in others if any((HOUSE / path).with_suffix("").glob("*.py"))]
