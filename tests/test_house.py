"""Rules of the house that no linter knows: short files and lists of parameters, whole writes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "rebecsim"
FILES = sorted(PACKAGE.rglob("*.py"))
BESIDE = sorted((ROOT / "reproductions").rglob("*.py"))
MOST_LINES, MOST_PARAMETERS = 500, 12


def test_files_are_short() -> None:
    lines = {file: file.read_text("utf-8").count("\n") for file in FILES + BESIDE}
    assert [file for file, count in lines.items() if count > MOST_LINES] == []


def test_lists_of_parameters_are_short() -> None:
    assert [place for file in FILES + BESIDE for place in long_lists_of(file)] == []


def long_lists_of(file: Path) -> Iterator[str]:
    """Name the functions with too many parameters, each with its place."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            taken = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            if len(taken) > MOST_PARAMETERS:
                yield f"{file}:{node.lineno}: {node.name}"


WRITERS = {
    "files.py": "this is how files are written",
    "processes.py": "files of a task, in a folder of the worker's own",
    "interface/running.py": "a model in a folder that nobody else knows",
    "native/cache.py": "a lock, which stays empty",
    "cli/endings.py": "the null device",
}
"""Modules outside the server that open files to write them in place."""


def test_files_are_written_whole_or_not_at_all() -> None:
    """Whatever writes a file does it by `rebecsim.files`, beside it first."""
    names = {file: file.relative_to(PACKAGE).as_posix() for file in FILES}
    found = {
        name
        for file, name in names.items()
        if not name.startswith("web/") and any(writes_in_place(file))
    }
    assert found == set(WRITERS)


def writes_in_place(file: Path) -> Iterator[int]:
    """Give the lines of a module that write to a file under its own name."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        name = called.rpartition(".")[2]
        given = [*node.args, *(each.value for each in node.keywords)]
        words = [each.value for each in given if isinstance(each, ast.Constant)]
        modes = [each for each in words if isinstance(each, str) and set(each) <= set("rwaxbt+")]
        opens = name == "open" and any(set(mode) & set("wax+") for mode in modes)
        writes = "." in called and name in ("write_text", "write_bytes")
        if opens or writes or called == "os.open":
            yield node.lineno
