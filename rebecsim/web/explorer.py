"""The explorer's page: what may happen next, the rebecs, the run and the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rebecsim.errors import UserError
from rebecsim.exploration import Recorded
from rebecsim.simulation.simulator import state_after
from rebecsim.web.addresses import LONGEST_RUN, Place
from rebecsim.web.lessons.pages import tour_panel
from rebecsim.web.library import Library, ListedModel
from rebecsim.web.rendering import rendered, shown_error
from rebecsim.web.steppers import ModelSteppers, OpenModels
from rebecsim.web.tiles import editor_address
from rebecsim.web.verdicts import Verdicts
from rebecsim.web.views import shown_lines, viewed

_STOPS = {
    "breakpoint": "Stopped: the condition came true, or the message was served.",
    "time": "Stopped: the run reached this time.",
    "steps": "",
    "end": "This is the end of the run.",
    "interrupted": "Stopped after 2 seconds. You can go on from here.",
}


class Explorer:
    """Holds open models and verdicts, and renders pages from them."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.open = OpenModels(library.find)
        self.verdicts = Verdicts()

    def page(self, place: Place, *, why: str = "", error: str = "", never: str = "") -> str:
        """Give the explorer's page. Raises UserError, Violation."""
        listed, steppers = self.open.get(place.model)
        view = viewed(steppers, place)
        inquiry = self.verdicts.ask(listed)
        reaching = self.verdicts.ask(listed, never) if never else None
        return rendered(
            "explorer.html.j2",
            listed=listed,
            editor=editor_address(listed),
            tour=tour_panel(place.tour),
            place=place,
            view=view,
            about=steppers.about,
            source=() if listed.cut else shown_lines(listed.text, listed.is_python, *view.ran),
            timed=not steppers.model.core,
            longest=LONGEST_RUN,
            why=_STOPS.get(why, ""),
            error=shown_error(error),
            never=never,
            inquiry=inquiry,
            reaching=reaching,
        )

    def recorded(self, place: Place, never: str) -> tuple[Recorded | None, dict[str, Any]]:
        """Give the run to a place: as a violation, if it ends in one, and as JSON for a file.

        The violation may be of the property file, which only the search reads, or that the
        condition `never` comes true. Raises UserError.
        """
        listed, steppers = self.open.get(place.model)
        for inquiry in (self.verdicts.ask(listed, each) for each in dict.fromkeys((never, ""))):
            if inquiry.recorded is not None and inquiry.run == place.behind:
                return Recorded.from_json(inquiry.recorded), inquiry.recorded
        with steppers.at(place.behind) as stepper:
            return stepper.recorded(), stepper.to_json()[0]

    def as_test(self, place: Place, never: str, model: Path, test: Path) -> str:
        """Write a test that repeats the run to a place and expects its violation, or its end.

        `model` and `test` are where the two files will lie. Raises UserError.
        """
        from rebecsim.report.messages import pytest_source, run_source

        if self.opened(place)[0].cut is not None:
            raise UserError("A test repeats runs of a model; a scenario is none. Keep the run.")
        recorded, _ = self.recorded(place, never)
        if recorded is not None:
            return pytest_source(recorded, model, test)
        steppers = self.opened(place)[1]
        with steppers.at(place.behind) as stepper:
            run = stepper.choices()
        if run is None:
            raise UserError("A test cannot repeat a run of a timed transition system.")
        return run_source(
            run, state_after(run, steppers.model), model, test, core=steppers.model.core
        )

    def opened(self, place: Place) -> tuple[ListedModel, ModelSteppers]:
        """Give the model of a place. Raises UserError."""
        return self.open.get(place.model)
