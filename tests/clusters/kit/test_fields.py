"""Settings of a simulation are made from the tables of its scenario."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from rebecsim.studies.scenario import settings_of


class LineTable(BaseModel):
    name: str = "one"
    period: int = 3
    unread: int = 5


@dataclass(frozen=True)
class Line:
    name: str
    period: int
    own: str


def test_what_is_given_takes_the_place_of_what_the_table_says() -> None:
    assert settings_of(Line, LineTable(period=4), own="more") == Line("one", 4, "more")
    assert settings_of(Line, LineTable(), own="", name="two") == Line("two", 3, "")
