"""What the documentation says to type works as it says."""

import doctest
import io
import os
import pkgutil
import re
import runpy
import shlex
import shutil
import subprocess
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from select import select
from unittest.mock import patch

import pytest
from commands import get_command

import hornbook.__main__
from hornbook.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("how-to/*.md")])
RECORDS = sorted(DOCS.glob("decisions/*.md"))
LONGEST_RECORD = 150
LONG = ("reproduce",)
SHOWS_CODE = "; echo $?"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line it begins at."""

    language: str
    text: str
    line: int


def blocks(page):
    text = page.read_text("utf-8")
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(match[1], match[2], text[: match.start()].count("\n") + 1)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch):
    """Python blocks are doctests in one session, console blocks are commands in one folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HORNBOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("typer.main.get_command", get_command)
    for table in page.parent.glob("*.csv"):
        shutil.copy(table, tmp_path)
    session = {}
    for block in blocks(page):
        where = f"{page.name}, line {block.line}"
        if block.language == "console":
            run_commands(block, where)
        elif block.language == "sh":
            assert run_script(block.text, tmp_path) == 0, where
        elif block.language == "python":
            run_python(block, session, where)


@pytest.mark.slow
def test_every_command_of_the_readme_runs(tmp_path, monkeypatch):
    """In a folder with the files that an example makes; long ones are asked for their options only."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("typer.main.get_command", get_command)
    with redirect_stdout(io.StringIO()):
        runpy.run_path(str(ROOT / "examples" / "make_patients.py"), run_name="__main__")
    for block in blocks(ROOT / "README.md"):
        if block.language == "console":
            run_commands(block, f"README.md, line {block.line}")
    for command in commands(ROOT / "README.md"):
        name, *arguments = command.split()
        if name == "make":
            assert f"\n{arguments[0]}:" in (ROOT / "Makefile").read_text(), command
        elif arguments[0] in LONG:
            printed = run(f"hornbook {arguments[0]} --help")
            assert all(option in printed for option in arguments if option.startswith("-")), command
        else:
            run(command)


def test_every_command_is_documented():
    from hornbook.cli import app

    written = (DOCS / "reference" / "commands.md").read_text("utf-8")
    assert set(re.findall(r"^\| `hornbook (\w+)`", written, re.MULTILINE)) == set(get_command(app).commands)


def test_command_that_is_installed_is_ours():
    (script,) = entry_points(group="console_scripts", name="hornbook")
    assert script.load() is hornbook.__main__.main


@pytest.mark.slow
@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_every_example_runs(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with redirect_stdout(printed), patch("sys.argv", [str(example)]):
        runpy.run_path(str(example), run_name="__main__")
    assert printed.getvalue()


def test_menu_lists_every_page_once():
    """Records of decisions are not in the menu: the page on the architecture leads to them."""
    listed = list(list_pages(tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"]))
    pages = {*DOCS.rglob("*.md")} - {*RECORDS}
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in pages)


def test_architecture_leads_to_every_record():
    linked = set(re.findall(r"\(decisions/([^)]+)\)", (DOCS / "architecture.md").read_text("utf-8")))
    assert linked == {record.name for record in RECORDS}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_records_are_short(record):
    assert len(record.read_text("utf-8").split()) <= LONGEST_RECORD


def list_pages(entry):
    """The pages of a menu entry: a page, a section with a title, or a list of entries."""
    if isinstance(entry, str):
        yield entry
        return
    for part in entry.values() if isinstance(entry, dict) else entry:
        yield from list_pages(part)


@pytest.mark.parametrize(
    "page", [*ROOT.glob("*.md"), DOCS / "llms.txt", *DOCS.rglob("*.md")], ids=lambda page: page.name
)
def test_links_of_a_page_lead_to_files(page):
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8"))
    paths = [link for link in links if not link.startswith("http")]
    assert [path for path in paths if not (page.parent / path).exists()] == []


def test_reference_describes_each_name_once():
    pages = (DOCS / "reference").glob("*.md")
    names = [
        name for page in pages for name in re.findall(r"^::: (\S+)$", page.read_text("utf-8"), re.MULTILINE)
    ]
    assert len(names) == len(set(names))
    for name in names:
        assert pkgutil.resolve_name(name) is not None


@pytest.mark.parametrize(
    "page",
    [DOCS / "algorithms.md", DOCS / "architecture.md", ROOT / "CONTRIBUTING.md", *RECORDS],
    ids=lambda page: page.name,
)
def test_paths_that_a_page_names_are_there(page):
    """They begin in the package, or in the project's folder."""
    paths = re.findall(r"`([\w/.-]+(?:\.py|\.js|/))`", page.read_text("utf-8"))
    assert paths or page in RECORDS
    roots = (ROOT / "src" / "hornbook", ROOT / "src" / "hornbook" / "report" / "templates", ROOT)
    assert [path for path in paths if not any((root / path).exists() for root in roots)] == []


def commands(page):
    """The lines of blocks without a language that begin with a command, comments left out."""
    for block in blocks(page):
        for line in block.text.splitlines() if not block.language else ():
            if line.startswith(("hornbook ", "make ")):
                yield line.partition(" #")[0].strip()


def run_python(block, session, where):
    assert ">>>" in block.text, f"{where}: a Python block is an example that can be run"
    test = doctest.DocTestParser().get_doctest(block.text, session, where, where, block.line)
    complaints = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=complaints.append, clear_globs=False)
    session.update(test.globs)
    assert result.failed == 0, "".join(complaints)


def run_commands(block, where):
    """Each line that begins with $ is run; what follows it is what it prints."""
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE):
        printed = run(command)
        if expected.strip():
            matches = doctest.OutputChecker().check_output(expected, printed, FLAGS)
            assert matches, f"{where}: {command}\nexpected\n{expected}\ngot\n{printed}"


def run_script(text, folder):
    """The exit code of a shell script; its commands are run in this process, which saves the imports."""
    pipes = [folder / "asked", folder / "answered"]
    for pipe in pipes:
        os.mkfifo(pipe)
    asked, answered = (
        os.fdopen(os.open(pipe, os.O_RDWR), mode) for pipe, mode in zip(pipes, "rw", strict=True)
    )
    command = folder / "bin" / "hornbook"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\necho "$@" > {pipes[0]}\nread code < {pipes[1]}\nexit $code\n')
    command.chmod(0o755)
    path = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}"}
    with asked, answered, subprocess.Popen(["sh", "-c", text], env=path) as shell:
        while shell.poll() is None:
            if select([asked], [], [], 0.01)[0]:
                printed = run(f"hornbook {asked.readline().strip()}{SHOWS_CODE}")
                print(printed.splitlines()[-1], file=answered, flush=True)
    return shell.returncode


def run(command):
    """What a command prints, unless it goes to a file; it is run in this process, which saves the imports.

    `; echo $?` shows an exit code that is meant to be seen.
    """
    shows_code, command = command.endswith(SHOWS_CODE), command.removesuffix(SHOWS_CODE)
    command, _, file = command.partition(" > ")
    name, *arguments = shlex.split(command)
    assert name == "hornbook" and not set("|;<>&") & set("".join(arguments)), f"{command} needs a shell"
    printed, complaints, code = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(printed), redirect_stderr(complaints), patch("sys.argv", [name, *arguments]):
        try:
            main()
        except SystemExit as end:
            code = end.code
    assert code in (None, 0, 1), f"{command}\n{complaints.getvalue()}"
    if file:
        Path(file).write_text(printed.getvalue(), "utf-8")
        return ""
    return printed.getvalue() + f"{code or 0}\n" * shows_code
