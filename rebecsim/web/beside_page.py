"""Show two runs of a model side by side: where they part, and how their ends differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rebecsim.actors.written import value_text
from rebecsim.exploration import RebecState
from rebecsim.live import Stepper
from rebecsim.report.diagrams.sequence import sequence_diagram
from rebecsim.report.models.stepping import bag_texts, busy_text
from rebecsim.web.addresses import Place
from rebecsim.web.steppers import ModelSteppers, shared_steps

_DRAWN_STEPS = 60


def beside(steppers: ModelSteppers, one: Place, other: Place) -> dict[str, Any]:
    """Give what the page shows of two runs. Raises UserError, Violation."""
    shared = shared_steps(one.run, other.run)
    runs, states = [], []
    for place in (one, other):
        with steppers.aside(place.run) as stepper:
            runs.append(_drawn(stepper, place, shared))
            states.append(_End(stepper))
    differences = list(_differences(*states))
    return {"shared": shared, "runs": runs, "differences": differences}


def _drawn(stepper: Stepper, place: Place, shared: int) -> dict[str, Any]:
    """Draw a run from where it parts; each message links to the state after it was served."""
    steps = len(place.run)
    drawing = ""
    if steps > shared:
        last = min(steps - shared, _DRAWN_STEPS)
        drawing = sequence_diagram(
            stepper.path(), last=last, link=lambda step: place.moved(step + 1).address()
        )
    breach = stepper.breach
    return {
        "place": place.moved(steps),
        "steps": steps,
        "drawing": drawing,
        "breach": "" if breach is None else f"{breach.verdict}: {breach.text}",
    }


class _End:
    """The state at the end of a run: name -> text."""

    def __init__(self, stepper: Stepper) -> None:
        timed = not stepper.model.core
        self.said: dict[str, str] = {"time": str(stepper.time)} if timed else {}
        for rebec in stepper.rebecs():
            self.said |= dict(_said(rebec, stepper.time, timed))


def _said(rebec: RebecState, time: int, timed: bool) -> Iterator[tuple[str, str]]:
    for name, value in rebec.variables.items():
        yield f"{rebec.rebec}.{name}", value_text(value)
    yield f"bag of {rebec.rebec}", "\n".join(sorted(bag_texts(rebec, time, timed=timed))) or "empty"
    yield f"{rebec.rebec} is", busy_text(rebec, time).strip(" ()") or "free"


def _differences(first: _End, second: _End) -> Iterator[tuple[str, str, str]]:
    """Give the name and both texts of each difference."""
    for what, one in first.said.items():
        if one != (other := second.said[what]):
            yield what, one, other
