"""A counterexample as a test that a programmer can keep."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from rebecsim.exploration import Recorded

_HEAD = '''\
"""{verdict}: a run of {model} found by `rebecsim`, {length} steps long."""

import json
from pathlib import Path

from rebecsim.exploration import Recorded, {function}
from rebecsim.generate.load import load_checked

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
    relative = Path(os.path.relpath(model.resolve(), test.resolve().parent)).as_posix()
    name = re.sub(r"\W+", "_", f"{recorded.model}_{recorded.breach.verdict}", flags=re.ASCII)
    return template.format(
        function=function,
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
