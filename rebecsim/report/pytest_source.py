"""A counterexample as a test that a programmer can keep."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from rebecsim.explore import Recorded

__all__ = ["pytest_source"]

_TEMPLATE = '''\
"""{verdict}: a run of {model} found by `rebecsim explore`, {length} steps long."""

import json
from pathlib import Path

from rebecsim.explore import Recorded, replay
from rebecsim.generate.load import load_checked

MODEL = Path(__file__).resolve().parent / {path}
RUN = Recorded.from_json(
    json.loads(
        r"""
{run}
"""
    )
)


def test_{name}():
    """The model still does what was recorded, step by step, and ends as it did."""
    model, checked = load_checked(MODEL, {dialect})
    path = replay(RUN, model, checked)
    assert path.breach == ({verdict_text}, {message})
'''


def pytest_source(recorded: Recorded, model: Path, test: Path) -> str:
    """Give the text of the test file `test`, which replays a counterexample on the file `model`.

    The test finds the model relative to itself. All text of the model is inside JSON, in ASCII.
    """
    run = json.dumps(recorded.to_json(), indent=1)
    relative = Path(os.path.relpath(model.resolve(), test.resolve().parent)).as_posix()
    name = re.sub(r"\W+", "_", f"{recorded.model}_{recorded.breach.verdict}", flags=re.ASCII)
    return _TEMPLATE.format(
        verdict=recorded.breach.verdict,
        model=re.sub(r"\W+", " ", recorded.model, flags=re.ASCII),
        length=len(recorded.ordinals),
        path=ascii(relative),
        run=run,  # three quotes in a row never stand in JSON
        name=name,
        dialect=ascii("core" if recorded.question.mode == "core" else "timed"),
        verdict_text=ascii(recorded.breach.verdict),
        message=ascii(recorded.breach.text),
    )
