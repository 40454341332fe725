"""A comparison of which some cells wait until they may end, to be killed or interrupted meanwhile.

However fast or slow a machine is: when one of the first cells is on disk, the others are not.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.dask_cluster import UNWATCHED
from tests.program import started

CELLS = 6
FREE = 4
"""So many cells end by themselves."""

GATE = "REBECSIM_TEST_GATE"
"""The environment variable that names a file; where it is given, the rest waits for the file."""

SCENARIO = f"""\
kind = "model"
name = "held"
model = "lamp.py"
until = 200
replications = 2

[sweep]
"lamp.period" = {list(range(1, CELLS + 1))}

[[observe]]
value = "lamp.flips"
"""

MODEL = f"""\
import os
import time
from pathlib import Path

from rebecsim.actors import Instance, Int, Model, Rebec, message_server, state_variable


class Lamp(Rebec, queue_size=3):
    flips: int = state_variable(Int)

    def __init__(self, period: int) -> None:
        self.flip(period)

    @message_server
    def flip(self, period: int) -> None:
        if not self.flips:
            time.sleep(0.01)
        if period > {FREE}:
            self.wait()
        self.flips += 1
        self.flip(period, after=self.choose(period, period + 1))

    def wait(self) -> None:
        # not for so long that the message server would be stopped
        end = time.monotonic() + 5
        while time.monotonic() < end and not Path(os.environ.get("{GATE}", os.curdir)).exists():
            time.sleep(0.01)


model = Model("lamp", (Instance("lamp", Lamp, (), (1,)),))
"""

COMMAND = ("compare", "held.toml", "--out", "held", "--no-orders", "--trust")


def fill(place: Path) -> None:
    """Write the scenario and its model."""
    (place / "held.toml").write_text(SCENARIO)
    (place / "lamp.py").write_text(MODEL)


def gate(place: Path) -> dict[str, str]:
    """Give the environment in which cells wait, until there is the file `open` in a directory."""
    return {GATE: os.fspath(place / "open")}


def release(place: Path) -> None:
    """Let the cells that wait go on."""
    (place / "open").touch()


def start(place: Path, *options: object) -> subprocess.Popen[str]:
    """Begin the comparison in a session of its own; most cells wait."""
    environment = gate(place) | UNWATCHED
    return started(*COMMAND, *options, cwd=place, environment=environment, start_new_session=True)


def parts(place: Path) -> list[Path]:
    """List the cells that are on disk."""
    return sorted((place / "held" / "parts").glob("[!.]*.parquet"))
