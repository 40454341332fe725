"""Try cures: explore each changed model as the model was explored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from rebecsim.exploration.races.cures.asking import Asked
from rebecsim.exploration.races.cures.atomic import at_once
from rebecsim.exploration.races.cures.cure import (
    OUTCOMES,
    Change,
    DoesNotApplyError,
    Guarded,
    Proposal,
    Tried,
)
from rebecsim.exploration.races.cures.guard import guards
from rebecsim.exploration.races.cures.judging import Judgement, judge, violations
from rebecsim.exploration.races.cures.pairs import at_one_rebec
from rebecsim.exploration.races.cures.priority import of_rebecs, of_servers, of_servers_everywhere
from rebecsim.exploration.races.cures.together import together
from rebecsim.exploration.races.cures.waiting import Endings
from rebecsim.exploration.races.result import RaceGroup, Races
from rebecsim.lang import CheckedModel, RebecaError, check_source, print_model


@dataclass(frozen=True)
class RaceCures:
    """The cures tried for a race, the best first."""

    race: RaceGroup
    tried: tuple[Tried, ...]

    @property
    def best(self) -> Tried | None:
        """The simplest cure that removes the race, if one does."""
        return next((each for each in self.tried if each.outcome == "removes"), None)


@dataclass(frozen=True)
class Cures:
    """The cures of the races of a model that matter. `source` is its text, printed as theirs are.

    `is_interrupted`: the user did not wait for all of them.
    """

    source: str
    of_races: tuple[RaceCures, ...]
    is_interrupted: bool = False


def try_cures(
    checked: CheckedModel, races: Races, asked: Asked | None = None, only: str | None = None
) -> Cures:
    """Try all simple cures for the races that matter, or for the `only` one of an id.

    `races` is what `find_races` has said of the model, and `asked` how it was asked. Of races that
    differ by an exchange of rebecs, the first is tried.
    """
    trial = _Trial(checked, races, asked or Asked())
    shown = [races.groups[places[0]] for places in races.alike]
    if only is not None:
        shown = [each for each in races.groups if each.id == only]
    return trial.cures([each for each in shown if each.matters])


class _Trial:
    """Tries cures, each changed text once."""

    def __init__(self, checked: CheckedModel, before: Races, asked: Asked) -> None:
        self._checked, self._before, self._asked = checked, before, asked
        self._checked_texts: dict[str, CheckedModel] = {}
        self._explored: dict[str, Races] = {}
        self._ended: dict[str, Endings] = {}

    def cures(self, groups: list[RaceGroup]) -> Cures:
        """Try all cures of some races."""
        found = []
        for group in groups:
            tried = [self._tried(group, each) for each in _proposals(self._checked, group)]
            tried.sort(key=lambda each: OUTCOMES.index(each.outcome))
            found.append(RaceCures(group, tuple(tried)))
        return Cures(self._source, tuple(found), self._asked.limits.is_interrupted())

    def _tried(self, race: RaceGroup, proposal: Proposal) -> Tried:
        made = Tried(proposal.kind, proposal.id, proposal.title, "n/a", ())
        try:
            change = proposal.make()
            source = self._text(change)
            after = self._races(source)
        except DoesNotApplyError as reason:
            return replace(made, found=(str(reason),))
        judgement = judge(self._before, race, after, change.merged)
        if judgement.outcome in ("removes", "lessens"):
            judgement = self._without_waiting(judgement, source, change)
        return replace(
            made,
            outcome=judgement.outcome,
            found=judgement.found,
            source=source,
            states=after.states,
            violations=violations(after),
        )

    # --- texts -----------------------------------------------------------------------------------

    @cached_property
    def _source(self) -> str:
        return self._printed(Change(self._checked.tree))

    def _printed(self, change: Change) -> str:
        mark = "// rebeca: core\n" if self._checked.dialect == "core" else ""
        return mark + print_model(change.tree)

    def _text(self, change: Change) -> str:
        """Print a change. Raises DoesNotApplyError if the language does not allow it."""
        source = self._printed(change)
        try:
            self._read(source)
        except RebecaError as error:
            raise DoesNotApplyError(error.message) from error
        return source

    def _read(self, source: str) -> CheckedModel:
        if source not in self._checked_texts:
            model, dialect = self._before.model, self._checked.dialect
            self._checked_texts[source] = check_source(source, model, dialect)
        return self._checked_texts[source]

    # --- exploring -------------------------------------------------------------------------------

    def _races(self, source: str) -> Races:
        if source not in self._explored:
            self._explored[source] = self._asked.races(self._read(source), self._before.model)
        return self._explored[source]

    def _endings(self, source: str) -> Endings:
        if source not in self._ended:
            self._ended[source] = Endings(*self._asked.graph(self._read(source), "cured"))
        return self._ended[source]

    def _without_waiting(self, judgement: Judgement, source: str, change: Change) -> Judgement:
        """Take a cure back that keeps messages waiting for ever."""
        after = self._endings(source)
        before = frozenset() if self._before.bounds else self._endings(self._source).waiting()
        reasons = [
            f"{rebec}.{server} may wait for ever"
            for rebec, server in sorted(after.waiting() - before)
        ]
        if change.guarded is not None:
            reasons += _refused(after, change.guarded)
        return Judgement("worse", tuple(reasons)) if reasons else judgement


def _refused(after: Endings, guarded: Guarded) -> Iterator[str]:
    name = f"{guarded.rebec}.{guarded.server}"
    if not after.is_ever_done(guarded):
        yield f"{name} is never done any more"
    elif after.is_refused_for_ever(guarded):
        yield f"{name} may come too early for ever"


def _proposals(checked: CheckedModel, race: RaceGroup) -> Iterable[Proposal]:
    """Give the cures of a race, the simplest first, each once."""
    one, two = race.contenders
    found: list[Proposal] = []
    pairs = at_one_rebec(checked, race)
    if one.rebec != two.rebec:
        for first, second in ((one, two), (two, one)):
            found.append(of_rebecs(checked, first, second))
            found.append(of_servers_everywhere(checked, first, second))
    for first, second in pairs:
        found.append(of_servers(checked, first, second))
        found.append(of_servers(checked, second, first))
    found += [at_once(checked, one), at_once(checked, two)]
    found += [together(checked, first, second) for first, second in pairs]
    for first, second in pairs:
        found += guards(checked, first, second) + guards(checked, second, first)
    return {each.id: each for each in found}.values()
