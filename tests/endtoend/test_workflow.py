"""The command `workflow`: what it says, draws and runs, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import Run

DAX = """\
<adag>
<job id="a" name="split" runtime="2"/>
<job id="b" name="work" runtime="4"/>
<job id="c" name="work" runtime="3"/>
<job id="d" name="join" runtime="1"/>
<child ref="b"><parent ref="a"/></child>
<child ref="c"><parent ref="a"/></child>
<child ref="d"><parent ref="b"/><parent ref="c"/></child>
</adag>
"""


def test_a_workflow_is_described_drawn_and_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "four.dax").write_text(DAX)
    words = "--draw four.svg --manager edf --manager WFBB_PD_SL_TSP2 --resources 1 --deadline 9"
    ended = run("workflow", "four.dax", *words.split(), "--gantt", "g.svg", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    for words in ("Critical path +│ +7.0 s", "Work +│ +10.0 s", "Depth +│ 3 levels", "Edges +│ +4"):
        assert re.search(words, ended.stdout), words
    assert re.search(r"EDF +│ +7\.0 │ +2\.0 .* in time", ended.stdout)
    assert re.search(r"WFBB_PD_SL_TSP2 +│ +9\.0 │ +0\.0 .* in time", ended.stdout)
    assert max(map(len, ended.stdout.splitlines())) <= 80
    drawn = ElementTree.parse(tmp_path / "four.svg").getroot()
    texts = ["".join(each.itertext()) for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert [each for each in texts if each.startswith("split")]
    assert (tmp_path / "g.svg").read_text().startswith("<?xml")


def test_a_workflow_that_cannot_be_in_time_is_late(run: Run, tmp_path: Path) -> None:
    (tmp_path / "four.dax").write_text(DAX)
    ended = run("workflow", "four.dax", "--manager", "EDF", "--deadline", "6.5", cwd=tmp_path)
    assert re.search(r"EDF +│ +7\.0 │ +-0\.5 .* late", ended.stdout)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (DAX.replace('ref="c"/></child>\n</adag>', 'ref="z"/></child>\n</adag>'), ":8: task d wai"),
        (DAX.replace('runtime="4"', 'runtime="-4"'), ":3: task b runs for -4 s"),
        (DAX[:-20], "is not XML"),
        (
            DAX.replace("</adag>", '<child ref="a"><parent ref="d"/></child></adag>'),
            "wait for each other: ",
        ),
        (re.sub(r'runtime="\d"', 'runtime="0"', DAX), "all tasks have a run time of 0 s"),
    ],
    ids=["missing parent", "negative time", "truncated", "cycle", "no time"],
)
def test_broken_files_are_refused_with_their_place(
    run: Run, tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "four.dax").write_text(text)
    ended = run("workflow", "four.dax", "--draw", "four.svg", cwd=tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.startswith("four.dax")
    assert says in ended.stderr
    assert ended.stdout == ""
    assert not (tmp_path / "four.svg").exists()


def test_a_workflow_is_drawn_as_png_too(run: Run, tmp_path: Path) -> None:
    (tmp_path / "four.dax").write_text(DAX)
    ended = run("workflow", "four.dax", "--draw", "four.png", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "four.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--deadline 3", "needs --manager, to run"),
        ("--dry-run", "needs --manager, to run"),
        ("--manager EDF --deadline 3 --multiplier 2", "cannot be given with --deadline"),
        ("--manager EDF --deadline nan", "--deadline: should be at most 1,000,000,000, not nan"),
        ("--manager EDF --deadline 1e30", "--deadline: should be at most 1,000,000,000, not 1e+30"),
        (
            "--manager EDF --multiplier inf",
            "--multiplier: should be at most 1,000,000,000, not inf",
        ),
        ("--manager NOBODY", "no resource manager is called 'NOBODY'"),
        ("--manager EDF --gantt chart.pdf", "should be named .png or .svg"),
        ("--draw graph.pdf", "should be named .png or .svg"),
    ],
)
def test_options_without_sense_are_refused(run: Run, tmp_path: Path, words: str, says: str) -> None:
    (tmp_path / "four.dax").write_text(DAX)
    ended = run("workflow", "four.dax", *words.split(), cwd=tmp_path)
    assert ended.returncode == 2
    assert says in " ".join(ended.stderr.split())
    assert ended.stdout == ""
