"""Rules of the house that no linter knows: long files and folders, long lists of parameters."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "rebecsim"
FILES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = sorted({file.parent for file in (*FILES, *ROOT.glob("tests/**/*.py"))})
MOST_LINES, MOST_PARAMETERS, MOST_FILES = 500, 12, 20


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_files_and_lists_of_parameters_are_short(file: Path) -> None:
    text = file.read_text("utf-8")
    assert text.count("\n") <= MOST_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            taken = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            assert len(taken) <= MOST_PARAMETERS, f"{node.name}, line {node.lineno}"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda each: str(each.relative_to(ROOT)))
def test_folders_are_short(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= MOST_FILES
