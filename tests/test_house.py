"""Rules of the house that no linter knows: long files and folders, long lists of parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "rebecsim"
FILES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES, MOST_PARAMETERS = 500, 12


def test_files_are_short() -> None:
    lines = {file: file.read_text("utf-8").count("\n") for file in FILES}
    assert [file for file, count in lines.items() if count > MOST_LINES] == []


def test_lists_of_parameters_are_short() -> None:
    assert [place for file in FILES for place in long_lists_of(file)] == []


def long_lists_of(file: Path) -> Iterator[str]:
    """Name the functions with too many parameters, each with its place."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            taken = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            if len(taken) > MOST_PARAMETERS:
                yield f"{file}:{node.lineno}: {node.name}"
