"""Check that message servers are functions of the state: run them again and compare.

A model in Python could draw random numbers, read a clock, or use what something else changes.
A search would then remember what was true once, and its verdict would be worth nothing. So the
first message servers of a search and a sample of the others are run twice at once, and some of
them once more at the end, when whatever they depend on has had time to change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from rebecsim.actors import ModelCodeError
from rebecsim.actors.repeatable import NotRepeatableError
from rebecsim.exploration.states.outcome import Breach, Effect

if TYPE_CHECKING:
    from rebecsim.exploration.states.runner import Runner, Situation

Repeats = Literal["never", "sample", "all"]
"""Which message servers are run again: none, as those generated from Rebeca need, some, or all."""

_FIRST = 64
"""Message servers that are run again at the beginning, where mistakes show."""

_EVERY = 61
"""One of so many is run again later; a prime, so that no pattern of the search escapes."""

_KEPT = 512
"""How many of them are run once more at the end."""


_FEWEST = 128
"""How many runs there are at the end at least: what is drawn at random may be the same again."""


class Repetition:
    """Runs message servers again, `everything` or a sample, and compares what they do."""

    def __init__(self, runner: Runner, *, everything: bool) -> None:
        self._runner = runner
        self._everything = everything
        self._count = 0
        self._kept: list[tuple[Situation, Effect]] = []

    def compare_constructors(self, other: Runner) -> None:
        """Compare the first states with those of a runner made anew. Raises NotRepeatableError."""
        runner = self._runner
        for owner, rebec in enumerate(runner.rebecs):
            difference = _changed(
                runner.names[owner], runner.initial_variables[owner], other.initial_variables[owner]
            )
            if not difference and list(map(repr, runner.initial_bags[owner])) != list(
                map(repr, other.initial_bags[owner])
            ):
                difference = "other messages are sent"
            if difference:
                raise NotRepeatableError.of(rebec, "__init__", difference)

    def consider(self, start: Situation, effect: Effect) -> None:
        """Perhaps run again what has just had this effect.

        Raises NotRepeatableError if it has another one now.
        """
        self._count = count = self._count + 1
        if not self._everything and count > _FIRST and count % _EVERY:
            return
        self._compare(start, effect)
        if self._everything or len(self._kept) < _KEPT:
            self._kept.append((start, effect))
        else:
            self._kept[count // _EVERY % _KEPT] = start, effect

    def finish(self) -> None:
        """Run what was kept once more, at the end of a search; little, more often.

        Raises as `consider`.
        """
        for _ in range(max(1, _FEWEST // max(len(self._kept), 1))):
            for start, effect in self._kept:
                self._compare(start, effect)

    def _compare(self, start: Situation, effect: Effect) -> None:
        runner = self._runner
        try:
            again = runner.run(start, effect.choices)
            difference = _difference(runner.names[start.owner], effect, again)
        except ModelCodeError as error:
            difference = f"it raises {error.reason}"
        if difference:
            rebec, server = runner.rebecs[start.owner], runner.server_of(start.owner, start.message)
            raise NotRepeatableError.of(rebec, server.name, difference)


def _difference(names: tuple[str, ...], one: Effect, other: Effect) -> str:
    """Say how two effects differ; nothing if they are the same."""
    if one.choices != other.choices:
        return "other choices are drawn"
    if one.breach != other.breach:
        return f"{_wrong(one.breach)} and then {_wrong(other.breach)}"
    changed = _changed(names, one.variables, other.variables)
    if changed:
        return changed
    if _ending(one) != _ending(other):
        return "it takes another time"
    return "" if _sent(one) == _sent(other) else "other messages are sent"


def _wrong(breach: Breach | None) -> str:
    return "nothing wrong" if breach is None else f"{breach.verdict}: {breach.text}"


def _changed(names: tuple[str, ...], one: tuple[Any, ...], other: tuple[Any, ...]) -> str:
    for name, before, after in zip(names, one, other, strict=True):
        if before != after and repr(before) != repr(after):  # a NaN equals nothing
            return f"`{name}` becomes {_shown(before)} and then {_shown(after)}"
    return ""


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _ending(effect: Effect) -> object:
    suspension = effect.suspension
    return effect.clock, None if suspension is None else suspension.identity


def _sent(effect: Effect) -> object:
    return repr((effect.own, [(each.receiver, each.message) for each in effect.sendings]))
