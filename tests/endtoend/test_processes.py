"""Every command does as a process what it does in the process of the tests."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from rebecsim.cli.app import all_commands
from tests.clusters.yarn.scenarios import TRACE
from tests.conftest import Run
from tests.endtoend.test_cli import SCENARIO
from tests.program import Ended, in_a_process, undrawn, without_progress

TICKETS = Path(__file__).resolve().parents[2] / "models" / "ticket_service.rebeca"

LOG = """\
; MaxProcs: 4
1  0 -1 10 2 -1 -1 2 12 100 1 1 1 -1 0 -1 -1 -1
2  1 -1  5 4 -1 -1 4  6 100 1 2 1 -1 0 -1 -1 -1
3  2 -1  8 1 -1 -1 1  9 100 1 1 1 -1 1 -1 -1 -1
"""

MANIFEST = """\
{"models": [{"file": "tickets.rebeca", "language": "timed", "results": [
    {"mode": "FTTS", "verdict": "satisfied", "states": 8028, "transitions": 15715}]}]}
"""

STUDY = """\
kind = "model"
name = "waiting"
model = "tickets.rebeca"
until = 20
replications = 4

[sweep]
"ann.start" = [0, 3]

[[observe]]
value = "office.left"
"""

PAIR = """\
kind = "dispatch"
name = "pair"
policies = ["EDF", "FIFO"]
app_masters = [2]
queue_size = 6
epsilon = 2.0
ticks = 30
replications = 6
arrivals = [{ pattern = "uniform", count = 1 }]
lengths = [{ pattern = "nondet", minimum = 1, maximum = 6 }]

[sweep]
queue_size = [3, 6]
"""

DAX = """\
<adag><job id="a" name="project" runtime="2"/><job id="b" name="add" runtime="1.5"/>
<child ref="b"><parent ref="a"/></child></adag>
"""

RACKS = '{"rack": "default-rack", "nodes": [{"node": "node1"}, {"node": "node2"}]}'

USES = {
    "check": (2, "check tickets.rebeca missing.rebeca"),
    "new": (0, "new kiosk"),
    "format": (1, "format tickets.rebeca --check"),
    "generate": (0, "generate tiny.toml --out generated"),
    "simulate": (0, "simulate tickets.rebeca --until 20 --seed 3"),
    "step": (2, "step tickets.rebeca"),
    "web": (2, "web tickets.rebeca --host 256.0.0.1 --no-browser"),
    "live": (0, "live tickets.rebeca --until 20 --speed 0 --seed 1 --quiet"),
    "explore": (1, "explore tickets.rebeca --max-states 500 --save found.json --invariant NEVER"),
    "replay": (1, "replay ready/found.json tickets.rebeca"),
    "races": (0, "races tickets.rebeca"),
    "exact": (0, "exact tickets.rebeca --until 8 --reward ann.tickets --save-max most.json"),
    "estimate": (0, "estimate tickets.rebeca --until 8 --goes-wrong --error 0.2 --workers 1"),
    "draw": (0, "draw tickets.rebeca --out drawn.svg"),
    "conformance": (0, "conformance ."),
    "scenarios": (0, "scenarios"),
    "compare": (0, "compare study.toml --out compared --no-orders --engine python --workers 1"),
    "tune": (0, "tune pair.toml --budget 48 --out tuned --engine python --workers 1"),
    "sensitivity": (0, "sensitivity pair.toml --out shares --engine python --workers 1"),
    "reproduce": (0, "reproduce against_mdf --replications 2 --engine python --workers 1"),
    "runs": (0, "runs ready"),
    "query": (0, "query QUESTION ready"),
    "report": (0, "report ready/compared --out drawn"),
    "diff": (0, "diff ready/compared ready/compared"),
    "batch": (0, "batch log.swf --policy EASY --out schedule.swf"),
    "validate": (0, "validate ready/schedule.swf --easy"),
    "yarn": (0, "yarn jobs.json --nodes 2:memory=4000,cores=4 --master-memory 500 --out ."),
    "mapreduce": (
        0,
        "mapreduce --jobs small:count=3,maps=2 --scheduler FIFO --scheduler FAIR --nodes 3 --out .",
    ),
    "workflow": (0, "workflow montage.dax --manager edf --resources 2 --draw graph.svg"),
    "slurm": (0, "slurm sacct.txt --conf slurm.conf --conf slurm.conf"),
    "dss": (0, "dss jobs.json racks.json 4000 4 1000 1000 500 1"),
    "workload": (0, "workload info log.swf"),
    "lsp": (0, "lsp --help"),
    "cache": (0, "cache"),
}
"""A use of every command and the exit code; what it needs from others lies in `ready`."""

WORDS = {
    "NEVER": "ann.tickets == 0",
    "QUESTION": "select policy, sum(office_left) as s from replications group by all order by all",
}


@pytest.fixture(scope="module")
def filled(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with something for every command."""
    place = tmp_path_factory.mktemp("filled")
    shutil.copy(TICKETS, place / "tickets.rebeca")
    texts = (("tiny.toml", SCENARIO), ("study.toml", STUDY), ("pair.toml", PAIR), ("log.swf", LOG))
    others = (("manifest.json", MANIFEST), ("jobs.json", TRACE), ("racks.json", RACKS))
    (place / "montage.dax").write_text(DAX)
    for name in ("slurm.conf", "sacct.txt"):
        shutil.copy(Path(__file__).resolve().parents[1] / "data/readers" / name, place)
    for name, text in (*texts, *others):
        (place / name).write_text(text)
    (place / "ready").mkdir()
    for name in ("batch", "explore", "compare"):
        code, words = used(name)
        with undrawn():
            assert run(*words, cwd=place).returncode == code
    for made in ("schedule.swf", "found.json", "compared"):
        (place / made).rename(place / "ready" / made)
    return place


def used(name: str) -> tuple[int, list[str]]:
    """Give the exit code and the arguments of the use of a command."""
    code, line = USES[name]
    return code, [WORDS.get(word, word) for word in line.split()]


def test_every_command_is_used() -> None:
    assert set(USES) == set(all_commands())


@pytest.mark.parametrize("name", USES)
def test_a_process_prints_and_writes_the_same(
    run: Run, filled: Path, name: str, tmp_path: Path
) -> None:
    code, words = used(name)
    ways: list[tuple[Callable[..., Ended], AbstractContextManager[None]]] = [
        (run, undrawn()),
        (in_a_process, nullcontext()),
    ]
    ended, left = [], []
    for number, (way, drawing) in enumerate(ways):
        place = shutil.copytree(filled, tmp_path / f"{number}")
        with drawing:
            ended.append(way(*words, cwd=place, typed="1\nnonsense\n"))
        left.append({path.relative_to(place) for path in place.rglob("*")})
    here, there = ended
    assert (here.returncode, there.returncode) == (code, code), there.stderr
    assert without_measures(here.stdout) == without_measures(there.stdout)
    said = [without_measures("\n".join(without_progress(each.stderr))) for each in ended]
    assert said[0] == said[1]
    assert left[0] == left[1]


def without_measures(text: str) -> str:
    """Leave out what is measured, or comes of threads: seconds, memory, messages of a live run."""
    return re.sub(r"\d[\d,.]*( ms| s\b| messages| MB| MiB| bytes|/s| states/s)", r"…\1", text)
