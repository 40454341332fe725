"""Judge a cure by comparing the races of the model before and after."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from rebecsim.counted import counted
from rebecsim.exploration.races.cures.cure import Outcome
from rebecsim.exploration.races.cures.pairs import swapped
from rebecsim.exploration.races.result import RACE_KINDS, Contender, RaceGroup, Races
from rebecsim.exploration.states.breach_key import BreachKey

_JOINED = "+"  # stands for message servers that a cure has merged; no name has it
_Pair = frozenset[Contender]


@dataclass(frozen=True)
class Judgement:
    """What is said of a cure, and the reasons."""

    outcome: Outcome
    found: tuple[str, ...]


def violations(races: Races) -> tuple[BreachKey, ...]:
    """Give all that can go wrong in a model, as far as it was looked at."""
    found = {key for group in races.groups for keys in group.breaches for key in keys}
    found |= {each.key for each in races.unexplained}
    if races.in_constructor is not None:
        found.add(BreachKey(races.in_constructor.verdict, text=races.in_constructor.text))
    return tuple(sorted(found))


def judge(before: Races, race: RaceGroup, after: Races, merged: Collection[str]) -> Judgement:
    """Compare the model with the one in which a race was to be cured.

    Services of the message servers `merged` are not told apart.
    """
    return _Judge(before, race, after, frozenset(merged)).judgement()


class _Judge:
    def __init__(
        self, before: Races, race: RaceGroup, after: Races, merged: frozenset[str]
    ) -> None:
        self._before, self._race, self._after, self._merged = before, race, after, merged
        self._matter = {self._pair(each): each for each in after.groups if each.matters}
        self._matter_before = {self._pair(each): each for each in before.groups if each.matters}
        self._reachable = set(map(self._key, violations(after)))
        self._reachable_before = set(map(self._key, violations(before)))

    def judgement(self) -> Judgement:
        added = self._reachable - self._reachable_before
        if self._after.in_constructor is not None or (added and not self._before.bounds):
            return _say("worse", *map(str, sorted(added)))
        mine = {self._key(key) for keys in self._race.breaches for key in keys}
        left = sorted(map(str, mine & self._reachable))
        here = self._matter.get(self._pair(self._race))
        if left and here is not None:
            return _say("no help", *left)
        if left:
            return _say("hides", *(f"still reachable: {each}" for each in left))
        if added:
            return _say("undecided", "the model itself was not explored completely")
        if not self._after.is_decided:
            return _say("undecided", "a limit was reached; nothing wrong so far")
        return self._without_its_violations(here)

    def _without_its_violations(self, here: RaceGroup | None) -> Judgement:
        gone = "its violation cannot be reached any more"
        if here is not None:
            if self._race.is_harmful:
                return _say("lessens", f"{gone}, but {here.id}: results differ")
            return _say("no help", "results still differ")
        moved = [each.id for each in self._moved()]
        if moved:
            what = f"the order matters now: {', '.join(moved)}"
            if self._race.is_harmful:
                return _say("lessens", gone, what)
            return _say("hides", what)
        swapping = [each.id for each in self._swapping()]
        if swapping and not self._race.is_harmful:
            return _say("hides", f"its order is still decided by {', '.join(swapping)}")
        return _say("removes", *self._rest())

    def _moved(self) -> Iterator[RaceGroup]:
        """Give the races that have come to matter, or that do worse."""
        for pair, group in self._matter.items():
            known = self._matter_before.get(pair)
            if known is None or RACE_KINDS.index(group.kind) < RACE_KINDS.index(known.kind):
                yield group

    def _swapping(self) -> Iterator[RaceGroup]:
        """Give the races that matter and let the two services change places."""
        for group in self._matter.values():
            if any(self._same(pair) == self._pair(self._race) for pair in swapped(group)):
                yield group

    def _rest(self) -> Iterator[str]:
        yield "; ".join(map(str, sorted(self._reachable))) if self._reachable else "satisfied"
        if self._matter:
            kinds = counted(len(self._matter), "kind")
            yield f"the order still matters in {kinds} of races, no more than before"

    # --- names -----------------------------------------------------------------------------------

    def _key(self, key: BreachKey) -> BreachKey:
        return key._replace(server=_JOINED) if key.server in self._merged else key

    def _pair(self, group: RaceGroup) -> _Pair:
        return self._same(group.contenders)

    def _same(self, contenders: tuple[Contender, Contender]) -> _Pair:
        return frozenset(
            each._replace(server=_JOINED) if each.server in self._merged else each
            for each in contenders
        )


def _say(outcome: Outcome, *found: str) -> Judgement:
    return Judgement(outcome, found)
