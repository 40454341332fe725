"""No command imports what only others need: importing takes longer than exploring a small model."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rebecsim.clusters.kinds import kind_names
from tests.conftest import Run

TICKETS = Path(__file__).resolve().parents[2] / "models" / "ticket_service.rebeca"
IN_PYTHON = TICKETS.with_suffix(".py")

DRAWING = {"matplotlib", "plotly"}
DATA = {"duckdb", "numpy", "pyarrow", "scipy"}
COMPILING = {"llvmlite", "numba"}
PRETTY = {"rich.console"}
PARAMETERS = {"pydantic"}
LANGUAGE = {"lark"}
VERSIONS = {"importlib.metadata"}
TEMPLATES = {"jinja2"}
KINDS = {f"rebecsim.clusters.{kind}" for kind in kind_names()}

LOG = """\
; MaxProcs: 4
1  0 -1 10 2 -1 -1 2 12 100 1 1 1 -1 0 -1 -1 -1
2  1 -1  5 4 -1 -1 4  6 100 1 2 1 -1 0 -1 -1 -1
"""

PROGRAM = """
import sys
from rebecsim.cli import main
try:
    main()
except SystemExit as ended:
    code = ended.code
print(code or 0, *sorted(sys.modules), file=sys.stderr)
"""


def loaded(*arguments: object) -> tuple[int, set[str]]:
    """Run the program: its exit code, and the modules that it has imported."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    code, *modules = run.stderr.splitlines()[-1].split()
    return int(code), set(modules)


BARE = DRAWING | DATA | COMPILING | PARAMETERS | VERSIONS | KINDS | TEMPLATES
MANY = DRAWING | COMPILING | KINDS - {"rebecsim.clusters.model"} | TEMPLATES
MANY |= {"duckdb", "numpy.ma", "pyarrow.compute", "rebecsim.cli.compare", "rich.progress", "scipy"}


@pytest.mark.parametrize(
    ("arguments", "code", "unwanted"),
    [
        (["--help"], 0, BARE | LANGUAGE | {"rebecsim.lang"}),
        (["explore", "--help"], 0, BARE | LANGUAGE | {"rebecsim.lang"}),
        (["check", TICKETS], 0, BARE | PRETTY | {"rebecsim.actors", "rebecsim.lang.printer"}),
        (["explore", TICKETS], 0, BARE | PRETTY | {"rebecsim.exploration.races"}),
        (["explore", TICKETS, "--max-states", "5", "--json"], 3, BARE | PRETTY),
        (["explore", TICKETS, "--invariant", "ann.tickets < 1"], 1, BARE),
        (["races", TICKETS], 0, BARE - {"numpy"} | PRETTY),
        (["simulate", TICKETS], 0, DRAWING | COMPILING | PARAMETERS | KINDS | {"duckdb", "scipy"}),
        (["simulate", TICKETS, "--runs", "3", "--until", "9"], 0, MANY | {"rebecsim.exploration"}),
        (
            ["simulate", IN_PYTHON, "--runs", "3", "--until", "9"],
            0,
            MANY | LANGUAGE | {"rebecsim.exploration"},
        ),
        (
            ["simulate", IN_PYTHON, "--runs", "3", "--until", "9", "--observe", "office.left"],
            0,
            MANY,
        ),
        (["scenarios"], 0, BARE - VERSIONS | PRETTY | LANGUAGE),
        (["cache"], 0, BARE - VERSIONS | PRETTY | LANGUAGE | {"rebecsim.lang"}),
        (["live", TICKETS, "--speed", "0"], 0, DRAWING | COMPILING | PARAMETERS | {"duckdb"}),
    ],
    ids=lambda each: " ".join(map(str, each)) if isinstance(each, list) else "",
)
def test_what_a_command_does_not_import(
    arguments: list[object], code: int, unwanted: set[str]
) -> None:
    ended, modules = loaded(*arguments)
    assert ended == code
    assert not unwanted & modules


def test_a_command_about_one_kind_imports_no_other(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text(LOG)
    code, modules = loaded("batch", log, "--policy", "EASY")
    assert code == 0
    assert KINDS & modules == {"rebecsim.clusters.batch"}


def test_stored_runs_are_read_without_pandas(run: Run, tmp_path: Path) -> None:
    """pyarrow imports it where it is installed."""
    pytest.importorskip("pandas")
    done = run(
        "simulate",
        TICKETS,
        "--runs",
        3,
        "--until",
        9,
        "--observe",
        "office.left",
        "--out",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    for command in (["runs", tmp_path], ["query", "from cells", tmp_path], ["report", tmp_path]):
        code, modules = loaded(*command)
        assert (code, "pyarrow" in modules, "pandas" in modules) == (0, True, False)


def test_a_drawing_needs_no_drawing_package(tmp_path: Path) -> None:
    code, modules = loaded("draw", TICKETS, "--out", tmp_path / "topology.svg")
    assert code == 0
    assert not BARE & modules
