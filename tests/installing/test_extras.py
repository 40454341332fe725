"""The core does its work alone, and says what to install where more is asked for."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest

from rebecsim.extras import (
    EXTRAS,
    MissingPackagesError,
    is_installed,
    missing_package,
    require,
)
from tests.installing.without_packages import without

ROOT = Path(__file__).resolve().parents[2]
TICKETS = ROOT / "models" / "ticket_service.rebeca"
FIFO = ROOT / "models" / "benchmarks" / "yarn_fifo4.rebeca"

BEYOND_THE_CORE = {module for each in EXTRAS.values() for module in each.modules} | {
    "llvmlite",
    "pandas",
    "starlette",
}

LOG = """\
; MaxProcs: 4
1  0 -1 10 2 -1 -1 2 12 100 1 1 1 -1 0 -1 -1 -1
2  1 -1  5 4 -1 -1 4  6 100 1 2 1 -1 0 -1 -1 -1
"""

WORKFLOW = """\
<adag><job id="a" name="project" runtime="2"/><job id="b" name="add" runtime="1.5"/>
<child ref="b"><parent ref="a"/></child></adag>
"""


def declared() -> dict[str, str]:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    return dict(setup["options.extras_require"])


def test_extras_are_those_that_pip_knows() -> None:
    for name, extra in EXTRAS.items():
        text = declared()[name].replace("rebecsim[reports]", declared()["reports"])
        assert set(re.findall(r"^([\w-]+)[<>=]", text, flags=re.MULTILINE)) == set(extra.modules)
    (everything,) = re.findall(r"rebecsim\[(.*)\]", declared()["all"])
    assert set(everything.split(",")) == set(EXTRAS)


@pytest.mark.parametrize(
    ("arguments", "code", "printed"),
    [
        (["--help"], 0, "Usage"),
        (["check", TICKETS], 0, "ok"),
        (["generate", "for_edf", "--out", "made"], 0, "24 models"),
        (["generate", "fresh_readings", "--out", "made"], 0, "models in made"),
        (["simulate", TICKETS, "--until", 12], 0, "15 messages served"),
        (["explore", TICKETS], 0, "8,028 states"),
        (["explore", FIFO, "--max-states", 60_000], 3, "60,000 states"),
        (["races", TICKETS], 0, "races"),
        (["exact", TICKETS, "--until", 12, "--reward", "office.left"], 0, "office.left"),
        (["draw", TICKETS, "--out", "drawn.svg"], 0, "drawn.svg"),
        (["live", TICKETS, "--speed", 0, "--until", 20, "--quiet"], 0, "checked"),
        (["scenarios"], 0, "for_edf"),
        (["format", TICKETS, "--check"], 1, "would be"),
        (["cache"], 0, "functions"),
        (["batch", "log.swf", "--policy", "EASY", "--out", "easy.swf"], 0, "EASY"),
        (["workflow", "two.dax", "--manager", "EDF", "--multiplier", 2], 0, "EDF"),
        (["mapreduce", "--jobs", "small:count=3,maps=2", "--scheduler", "FAIR"], 0, "FAIR"),
    ],
    ids=lambda each: str(each[0]) if isinstance(each, list) else "",
)
def test_the_core_does_its_work_alone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[object],
    code: int,
    printed: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.swf").write_text(LOG)
    Path("two.dax").write_text(WORKFLOW)
    done = without(BEYOND_THE_CORE, *arguments)
    assert (done.returncode, done.stderr) == (code, "")
    assert printed in done.stdout


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["explore", TICKETS, "--engine", "native"], "native"),
        (["explore", TICKETS, "--compact"], "native"),
        (["simulate", TICKETS, "--engine", "native"], "native"),
        (["compare", "for_edf", "--out", "made", "--engine", "native"], "native"),
        (["simulate", TICKETS, "--runs", 3, "--until", 9], "studies"),
        (["estimate", TICKETS, "--until", 9, "--reach", "bob.tickets == 2"], "studies"),
        (["compare", "for_edf", "--out", "made"], "studies"),
        (["reproduce", "for_edf"], "studies"),
        (["runs"], "studies"),
        (["query", "from cells"], "studies"),
        (["report", "."], "studies"),
        (["diff", ".", "."], "studies"),
        (["workload", "generate", "--out", "made.swf", "--jobs", 9], "studies"),
        (["workload", "slice", "log.swf", "--out", "made.csv"], "studies"),
        (["workflow", "two.dax", "--manager", "EDF", "--gantt", "made.png"], "studies"),
        (["web"], "web"),
        (["explore", TICKETS, "--web"], "web"),
        (["lsp"], "lsp"),
    ],
    ids=lambda each: " ".join(map(str, each)) if isinstance(each, list) else each,
)
def test_what_needs_more_says_what_to_install_and_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[object], extra: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.swf").write_text(LOG)
    Path("two.dax").write_text(WORKFLOW)
    done = without(BEYOND_THE_CORE, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"pip install 'rebecsim[{extra}]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.glob("made*"))


def test_compiled_loops_of_a_kind_run_in_python_too(tmp_path: Path) -> None:
    """The managers of workflows look at free slots by loops that are compiled where they can be."""
    file = tmp_path / "two.dax"
    file.write_text(WORKFLOW)
    arguments = ["workflow", file, "--manager", "WFBB_ED_TL_TSP2", "--multiplier", 2]
    plain, compiled = without({"numba"}, *arguments), without((), *arguments)
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout == compiled.stdout


IN_A_BROWSER = """
import json, sys
import rebecsim as rs

file = sys.argv[1]
run = rs.simulate(file, seed=2**70 + 5, steps=300)
steps = rs.step(file, seed=3)
steps.run(steps=20)
space = steps.ahead(30, lambda: False, "")[0].space
found = rs.explore(file, invariants="ann.tickets < 2")
print(run, steps.ordinals, len(space.edges), found.path.ordinals, "numpy" in sys.modules)
"""


def test_models_run_the_same_where_there_is_no_numpy() -> None:
    """As in a browser: a run draws the same numbers, and nothing else changes."""
    missing = BEYOND_THE_CORE | {"numpy"}
    alone, usual = (without(each, TICKETS, program=IN_A_BROWSER) for each in (missing, ()))
    assert (alone.returncode, alone.stderr) == (0, "")
    assert alone.stdout.removesuffix("False\n") == usual.stdout.removesuffix("True\n")


def test_python_says_what_to_install() -> None:
    program = "import rebecsim as rs\nrs.explore\nrs.compare"
    done = without(BEYOND_THE_CORE, program=program)
    assert done.stderr.splitlines()[-1].startswith(
        "rebecsim.extras.MissingPackagesError: rebecsim.compare needs "
    )


def test_several_extras_are_one_line_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rebecsim.extras.find_spec", lambda name: None)
    with pytest.raises(MissingPackagesError) as caught:
        require("a page", "fastapi", "pygls")
    assert str(caught.value) == (
        "a page needs fastapi, pygls for pages in the browser and answers for editors, which are "
        "not installed; try: pip install 'rebecsim[web,lsp]'"
    )
    assert not is_installed("fastapi")


def test_a_module_that_was_not_found_is_that_of_an_extra() -> None:
    found = missing_package("this", ModuleNotFoundError(name="numba.core"))
    assert str(found).endswith("try: pip install 'rebecsim[native]'")
    assert missing_package("this", ModuleNotFoundError(name="numbat")) is None
    assert missing_package("this", ModuleNotFoundError()) is None
