"""Settings of a simulation are made from the tables of its scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field

from rebecsim.studies.scenario import settings_of, within


class StopTable(BaseModel):
    place: Annotated[int, within(0, 9)] = 0
    start: Annotated[float, within(0, 1e9, "seconds")]
    end: Annotated[float | None, within(0, 1e9, "seconds")] = None


class LineTable(BaseModel):
    name: str = "one"
    period: Annotated[int, within(1, 100, "ms")] = 3
    rate: Annotated[float, within(0, 100, "MiB/s")] = 1.5
    is_open: bool = True
    factors: tuple[float, float] = (1.0, 2.0)
    stops: Annotated[tuple[StopTable, ...], Field(strict=False)] = ()
    unread: int = 5


@dataclass(frozen=True)
class Stop:
    place: int
    start: int
    end: int | None = None


@dataclass(frozen=True)
class Line:
    name: str
    period: int
    rate: float
    is_open: bool
    factors: tuple[float, float]
    stops: tuple[Stop, ...]
    own: str


def test_values_are_in_the_units_of_the_simulation() -> None:
    stops = (StopTable(place=2, start=1.2345678), StopTable(start=2, end=3.5))
    table = LineTable(stops=stops)
    scales = {"seconds": 10**6, "ms": 1000, "MiB/s": 2**20}
    assert settings_of(Line, table, scales, own="more") == Line(
        name="one",
        period=3000,
        rate=1.5 * 2**20,
        is_open=True,
        factors=(1.0, 2.0),
        stops=(Stop(2, 1_234_568), Stop(0, 2_000_000, 3_500_000)),
        own="more",
    )


def test_what_is_given_takes_the_place_of_what_the_table_says() -> None:
    found = settings_of(Line, LineTable(), {}, own="", name="two", stops=())
    assert (found.name, found.period) == ("two", 3)
