"""What the explorer's pages are made of: models that are open, runs, and verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rebecsim.errors import UserError
from rebecsim.exploration import Recorded
from rebecsim.live import Stepper
from rebecsim.printable import clipped
from rebecsim.simulation.saved import state_after
from rebecsim.web.addresses import LONGEST_RUN, Place
from rebecsim.web.answers import LONGEST_ERROR, rendered
from rebecsim.web.editor_pages import editor_address
from rebecsim.web.lessons.pages import tour_panel
from rebecsim.web.library import Library, ListedModel
from rebecsim.web.model_text import shown_lines
from rebecsim.web.verdicts import Verdicts
from rebecsim.web.views import sent_by, view_of
from rebecsim.web.walks import OpenModels, Walks

_STOPS = {
    "breakpoint": "Stopped: what was to stop it is there.",
    "time": "Stopped: the time is reached.",
    "steps": "",
    "end": "This is the end of the run.",
    "interrupted": "Stopped: this was taking long. It can go on from here.",
}


class Explorer:
    """What the pages are made of: models, runs and verdicts."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.open = OpenModels(library.find)
        self.verdicts = Verdicts()

    def page(self, place: Place, *, why: str = "", error: str = "", never: str = "") -> str:
        """Give the explorer's page. Raises UserError, Violation."""
        listed, walks = self.open.get(place.model)
        sent: frozenset[tuple[str, str, int]] = frozenset()
        if place.at:
            with walks.at(place.run[: place.at - 1]) as stepper:
                sent = _sent(stepper, place.run[place.at - 1])
        with walks.at(place.behind) as stepper:
            view = view_of(stepper, place, sent)
        inquiry = self.verdicts.ask(listed)
        reaching = self.verdicts.ask(listed, never) if never else None
        return rendered(
            "explorer.html.j2",
            listed=listed,
            editor=editor_address(listed),
            tour=tour_panel(place.tour),
            place=place,
            view=view,
            source=shown_lines(listed.text, listed.is_python, *view.ran),
            timed=not walks.model.core,
            longest=LONGEST_RUN,
            why=_STOPS.get(why, ""),
            error=clipped(error, LONGEST_ERROR),
            never=never,
            inquiry=inquiry,
            reaching=reaching,
        )

    def recorded(self, place: Place, never: str) -> tuple[Recorded | None, dict[str, Any]]:
        """Give the run to a place as it shows something wrong, if it does, and as a file has it.

        That may be something that only the search knows, as it looks at a property file; with
        `never`, also that this condition comes true. Raises UserError.
        """
        listed, walks = self.open.get(place.model)
        for inquiry in (self.verdicts.ask(listed, each) for each in dict.fromkeys((never, ""))):
            if inquiry.recorded is not None and inquiry.run == place.behind:
                return Recorded.from_json(inquiry.recorded), inquiry.recorded
        with walks.at(place.behind) as stepper:
            return stepper.recorded(), stepper.to_json()[0]

    def as_test(self, place: Place, never: str, model: Path, test: Path) -> str:
        """Give the run to a place as a test: that it ends wrong as it does, or as it does at all.

        `model` and `test` are where the two files will lie. Raises UserError.
        """
        from rebecsim.report.models.pytest_source import pytest_source, run_source

        recorded, _ = self.recorded(place, never)
        if recorded is not None:
            return pytest_source(recorded, model, test)
        walks = self.opened(place)[1]
        with walks.at(place.behind) as stepper:
            run = stepper.choices()
        if run is None:
            raise UserError("a run of a timed transition system cannot be done again by a test")
        return run_source(run, state_after(run, walks.model), model, test, core=walks.model.core)

    def opened(self, place: Place) -> tuple[ListedModel, Walks]:
        """Give the model of a place. Raises UserError."""
        return self.open.get(place.model)


def _sent(stepper: Stepper, ordinal: int) -> frozenset[tuple[str, str, int]]:
    for turn in stepper.turns():
        for each in turn.alternatives:
            if each.ordinal == ordinal:
                return sent_by(each)
    return frozenset()
