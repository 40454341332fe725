"""Write and read runs in addresses: `0.2.1` numbers the transitions taken, `-` means none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from rebecsim.errors import UserError

LONGEST_RUN = 1000
"""Steps of a run in an address."""

_BEGINNING = "-"


class Place(NamedTuple):
    """A run of a model, the number of its steps that the page shows, and the stop of a tour."""

    model: str
    run: tuple[int, ...]
    at: int
    tour: str = ""

    @property
    def behind(self) -> tuple[int, ...]:
        """The steps up to here."""
        return self.run[: self.at]

    def moved(self, at: int) -> Place:
        """Give another place of the same run."""
        return self._replace(at=max(0, min(at, len(self.run))))

    def taking(self, ordinal: int) -> Place:
        """Take a transition; the rest of the run stays if it begins with this transition."""
        if self.run[self.at : self.at + 1] == (ordinal,):
            return self.moved(self.at + 1)
        return self._replace(run=(*self.behind, ordinal), at=self.at + 1)

    def address(self, suffix: str = "", **query: str) -> str:
        """Give the address of the place; the end of a run needs no `at`."""
        asked = {"at": str(self.at)} if self.at != len(self.run) else {}
        asked |= {"tour": self.tour} if self.tour else {}
        text = urlencode({**asked, **query})
        return f"/x/{self.model}/{run_text(self.run)}{suffix}{'?' if text else ''}{text}"


def run_text(ordinals: Sequence[int]) -> str:
    """Write a run as it stands in an address."""
    return ".".join(map(str, ordinals)) or _BEGINNING


def read_place(model: str, run: str, at: str | None, tour: str = "") -> Place:
    """Read a place from the parts of an address. Raises UserError if they are malformed."""
    if run != _BEGINNING and not re.fullmatch(r"\d{1,6}(\.\d{1,6})*", run, re.ASCII):
        raise UserError(
            "The address names no run. Its steps are numbers with points between, as in 0.2.1."
        )
    ordinals = () if run == _BEGINNING else tuple(map(int, run.split(".")))
    if len(ordinals) > LONGEST_RUN:
        raise UserError(f"The run in the address has more than {LONGEST_RUN:,} steps.")
    if at is not None and not re.fullmatch(r"\d{1,6}", at, re.ASCII):
        raise UserError("`at` in the address must be a number of steps.")
    place = Place(model, ordinals, len(ordinals), tour if tour.isalnum() else "")
    return place.moved(len(ordinals) if at is None else int(at))
