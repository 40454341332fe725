"""What the explorer's pages are made of: models that are open, runs, and verdicts."""

from __future__ import annotations

from typing import Any

from rebecsim.exploration import Recorded
from rebecsim.live import Stepper
from rebecsim.printable import clipped
from rebecsim.web.addresses import LONGEST_RUN, Place
from rebecsim.web.answers import LONGEST_ERROR, rendered
from rebecsim.web.editor_pages import editor_address
from rebecsim.web.lessons.pages import tour_panel
from rebecsim.web.library import Library, ListedModel
from rebecsim.web.verdicts import Inquiry, Verdicts
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
            timed=not walks.model.core,
            longest=LONGEST_RUN,
            why=_STOPS.get(why, ""),
            error=clipped(error, LONGEST_ERROR),
            never=never,
            inquiry=inquiry,
            reaching=reaching,
            testable=bool(view.breach) or place.behind in _runs_of(inquiry, reaching),
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

    def opened(self, place: Place) -> tuple[ListedModel, Walks]:
        """Give the model of a place. Raises UserError."""
        return self.open.get(place.model)


def _runs_of(*inquiries: Inquiry | None) -> list[tuple[int, ...] | None]:
    """Give the runs that are known to show something."""
    return [each.run for each in inquiries if each is not None and each.recorded is not None]


def _sent(stepper: Stepper, ordinal: int) -> frozenset[tuple[str, str, int]]:
    for turn in stepper.turns():
        for each in turn.alternatives:
            if each.ordinal == ordinal:
                return sent_by(each)
    return frozenset()
