"""The races of a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebecsim.errors import UserError
from rebecsim.exploration import (
    Checks,
    Limits,
    Progress,
    Question,
    RaceGroup,
    Races,
    Recorded,
    find_races,
)
from rebecsim.exploration.races import MOST_FOLLOWED
from rebecsim.interface.exploring import MINUTE, ask, warn_of_minute
from rebecsim.interface.loading import AnyModel, LoadedModel, Texts, as_loaded, texts
from rebecsim.interface.shown import Drawing, Shown, Tabular

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.text import Text

    from rebecsim.exploration.races.cures import Cures, RaceQuery


@dataclass(frozen=True)
class FoundRaces(Shown, Tabular):
    """The races of a model.

    Attributes:
        model: what was explored.
        question: what was asked of it.
        asked: how races were looked for.
        races: all that was found, and how far was looked.

    >>> print(rs.races("ticket_service.rebeca"))
    ticket_service: no race is harmful; in 3 of 3 kinds the order matters
    ...
    """

    model: LoadedModel
    question: Question
    asked: RaceQuery
    races: Races

    @property
    def groups(self) -> tuple[RaceGroup, ...]:
        """The kinds of races, the worst first."""
        return self.races.groups

    @property
    def is_harmful(self) -> bool:
        """Whether something is violated, after one order of a race or without any."""
        return self.races.is_harmful

    @property
    def is_decided(self) -> bool:
        """Whether everything was looked at that could be harmful."""
        return self.races.is_decided

    def race(self, id: str | None = None) -> RaceGroup:
        """Give a race, the first one unless another is named. Raises UserError without it."""
        for group in self.groups:
            if id in (None, group.id):
                return group
        name = "" if id is None else f" {id!r}"
        among = f"; the races are: {', '.join(group.id for group in self.groups)}"
        raise UserError(f"{self.races.model}: there is no race{name}{among if self.groups else ''}")

    def draw(self, id: str | None = None) -> Drawing:
        """Draw both orders of a race, the first one unless another is named.

        Raises UserError if there is no such race.
        """
        from rebecsim.report.races import orders_as_svg

        return Drawing(orders_as_svg(self.race(id).witness))

    def recorded(self, id: str | None = None) -> Recorded | None:
        """Give the order of a race that breaks something, with what was asked; None if none does.

        Raises UserError if there is no such race.
        """
        paths = (each.path for each in self.race(id).witness.orders if each.breach is not None)
        path = next(paths, None)
        return None if path is None else Recorded.of(path, self.question)

    def cures(
        self,
        id: str | None = None,
        *,
        limits: Limits | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Cures:
        """Try simple changes of the model against each race that matters, or against one.

        `limits` are those of the search unless given. Raises UserError for Python that has no
        meaning in Rebeca, and if there is no such race.
        """
        from rebecsim.exploration.races.cures import try_cures

        if id is not None:
            self.race(id)
        reason = self.model.no_text
        if reason:
            raise UserError(f"{self.model.name}: fixes change Rebeca text, which {reason}")
        assert self.model.checked is not None
        asked = replace(self.asked, limits=limits or self.asked.limits, progress=progress)
        return try_cures(self.model.checked, self.races, asked, id)

    def to_json(self) -> dict[str, Any]:
        """Give all that was found as plain values."""
        from rebecsim.report.races import races_to_json

        return races_to_json(self.races)

    def to_arrow(self) -> pa.Table:
        """Give a row for each kind of races."""
        import pyarrow as pa

        rows = [
            {
                "id": group.id,
                "first": str(group.contenders[0]),
                "second": str(group.contenders[1]),
                "kind": group.kind,
                "harmful": group.is_harmful,
                "matters": group.matters,
                "races": group.races,
            }
            for group in self.groups
        ]
        columns = ("id", "first", "second", "kind", "harmful", "matters", "races")
        return pa.table({name: [row[name] for row in rows] for name in columns})

    def pictures(self) -> list[str]:
        """Give both orders of the worst race, if its order matters."""
        return [self.draw().svg] if self.groups and self.groups[0].matters else []

    def __rich__(self) -> Text:
        """Give the report of `rebecsim races`."""
        from rich.text import Text

        from rebecsim.report.races import race_lines

        return Text("\n".join(race_lines(self.races)))

    def __repr__(self) -> str:
        harmful = sum(group.is_harmful for group in self.groups)
        return f"<FoundRaces {self.races.model}: {harmful} of {len(self.groups)} harmful>"


def races(
    model: AnyModel,
    *,
    tts: bool = False,
    invariants: Texts = (),
    property: str | Path | None = None,
    ignore: Texts = (),
    observe: Texts = (),
    checks: Checks | None = None,
    limits: Limits | None = None,
    most_followed: int = MOST_FOLLOWED,
    strict: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> FoundRaces:
    """Find the steps whose order matters, and what comes of it.

    Args:
        model: a loaded model, one in Python, or the path of one.
        tts: whether states are those of the timed transition system, not of floating time.
        invariants: what must hold in every state.
        property: the path of a property file; its `Assertion` sections are checked.
        ignore: variables, `rebec.variable`, that are left out of the state.
        observe: what can be seen from outside, `rebec.variable`, or `rebec` for its messages.
        checks: the violations to look for; all kinds unless given.
        limits: where to stop; after a minute, with a warning, unless given.
        most_followed: pairs of states that are followed to see what comes of two orders.
        strict: run all message servers of a model in Python again to see that they do the same.
        progress: is told how far the search is.

    Raises UserError or RebecaError for what does not fit the model.

    >>> rs.races("ticket_service.rebeca")
    <FoundRaces ticket_service: 0 of 3 harmful>
    """
    from rebecsim.exploration.races.cures import RaceQuery

    loaded = as_loaded(model)
    question = ask(loaded, tts, invariants, property, ignore, checks, limits)
    asked = RaceQuery(
        mode=question.mode,
        checks=question.checks(),
        limits=limits or MINUTE,
        abstract=question.abstract,
        observe=texts(observe),
        most_followed=most_followed,
        progress=progress,
    )
    found = find_races(loaded.model, checked=loaded.checked, strict=strict, **vars(asked))
    if limits is None:
        warn_of_minute(loaded, found.bounds)
    return FoundRaces(loaded, question, asked, found)
