"""A run, or a counterexample, as a test that a programmer can keep."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rebecsim.actors import Run
from rebecsim.exploration import Recorded

_HEAD = '''\
"""{verdict}: a run of {model} found by `rebecsim`, {length} steps long."""

import json
from pathlib import Path

from rebecsim.exploration import Recorded, {function}
from rebecsim.generate.module import load_checked

MODEL = Path(__file__).resolve().parent / {path}
RUN = Recorded.from_json(
    json.loads(
        r"""
{run}
"""
    )
)

'''

_STILL = '''
def test_{name}():
    """The model still does what was recorded, step by step, and ends as it did."""
    model, checked = load_checked(MODEL, {dialect})
    path = replay(RUN, model, checked)
    assert path.breach == ({verdict_text}, {message})
'''

_NO_LONGER = '''
def test_{name}_no_longer():
    """The same messages, with the same choices, do not end as they did."""
    model, checked = load_checked(MODEL, {dialect})
    assert recurring(RUN, model, checked) is None
'''

_RUN = '''\
"""A run of {model} that was kept by `rebecsim`, {length} messages long."""

import json
from pathlib import Path

from rebecsim.actors import Run
from rebecsim.generate.module import load_checked
from rebecsim.simulation.simulator import state_after

MODEL = Path(__file__).resolve().parent / {path}
RUN = Run.from_json(
    json.loads(
        r"""
{run}
"""
    )
)
STATE = json.loads(
    r"""
{state}
"""
)


def test_a_run_of_{name}():
    """The same messages, with the same choices, lead to the same variables."""
    model, _ = load_checked(MODEL, {dialect})
    assert state_after(RUN, model) == STATE
'''


def run_source(
    run: Run, state: Mapping[str, Mapping[str, Any]], model: Path, test: Path, *, core: bool = False
) -> str:
    """Give the text of a test that does a run again, and compares the variables at its end.

    `state` are these: rebec -> name -> value. The test finds the model relative to itself.
    """
    name = re.sub(r"\W+", "_", model.stem, flags=re.ASCII)
    return _RUN.format(
        model=re.sub(r"\W+", " ", model.stem, flags=re.ASCII),
        length=sum(choice.kind == "step" for choice in run.choices),
        path=ascii(_way(model, test)),
        run=json.dumps(run.to_json(), indent=1),
        state=json.dumps(state, indent=1),
        name=name,
        dialect=ascii("core" if core else "timed"),
    )


def _way(model: Path, test: Path) -> str:
    """Give the way from the test to the model."""
    return Path(os.path.relpath(model.resolve(), test.resolve().parent)).as_posix()


def pytest_source(recorded: Recorded, model: Path, test: Path) -> str:
    """Give the text of the test file `test`, which replays a counterexample on the file `model`.

    The test finds the model relative to itself. All text of the model is inside JSON, in ASCII.
    """
    return _source(_HEAD + _STILL, "replay", recorded, model, test)


def regression_source(recorded: Recorded, model: Path, test: Path) -> str:
    """Give the text of a test that fails as long as the run ends in what it violates.

    The model may have been changed in the meantime: the messages of the run are followed.
    """
    return _source(_HEAD + _NO_LONGER, "recurring", recorded, model, test)


def _source(template: str, function: str, recorded: Recorded, model: Path, test: Path) -> str:
    run = json.dumps(recorded.to_json(), indent=1)
    name = re.sub(r"\W+", "_", f"{recorded.model}_{recorded.breach.verdict}", flags=re.ASCII)
    return template.format(
        function=function,
        verdict=recorded.breach.verdict,
        model=re.sub(r"\W+", " ", recorded.model, flags=re.ASCII),
        length=len(recorded.ordinals),
        path=ascii(_way(model, test)),
        run=run,  # three quotes in a row never stand in JSON
        name=name,
        dialect=ascii("core" if recorded.question.mode == "core" else "timed"),
        verdict_text=ascii(recorded.breach.verdict),
        message=ascii(recorded.breach.text),
    )
