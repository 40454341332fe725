"""A small comparison, runs of it, and its check in a form, for the tests of pages about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rebecsim.clusters.scenarios import load, open_run
from rebecsim.studies import Results
from rebecsim.studies.stored_runs import StoredRun
from tests.on_asgi import send_form
from tests.plans import run_plan

SCENARIO = """\
kind = "dispatch"
name = "small"
title = {title}
policies = ["EDF", "MDF"]
app_masters = [1, 2]
queue_size = 4
epsilon = 1.5
ticks = 12
replications = 6
seed = {seed}

[[arrivals]]
pattern = "uniform"
count = 1

[[lengths]]
pattern = "nondet"
minimum = 1
maximum = 4
"""

SMALL = SCENARIO.format(title='"Small"', seed=7)


def check(app: Any, text: str, **sent: str) -> dict[str, Any]:
    """Give what a form hears of a scenario, as one types."""
    answer = send_form(app, "/studies/check", toml=text, **sent)
    assert answer.status == 200
    found: dict[str, Any] = json.loads(answer.text)
    return found


def make_run(
    directory: Path, *, name: str = "small", title: str = "Small", seed: int = 7, cells: int = 4
) -> StoredRun:
    """Make a run of which so many cells are finished."""
    file = directory.parent / f"{directory.name}.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    quoted = '"' + title.replace("\\", "\\\\").replace('"', '\\"') + '"'
    text = SCENARIO.format(title=quoted, seed=seed)
    file.write_text(text.replace('"small"', f'"{name}"'))
    plan = load(file).plan()
    results = Results.create(directory, plan)
    run_plan(plan, results)
    for cell in plan.cells[cells:]:
        results.part(cell).unlink()
    return open_run(directory, directory.name)
