"""Suspend message servers in a `delay`, in the timed transition system.

Python cannot copy a running function, so a suspended message server is resumed by running it again
from its start, with the same variables and choices, up to the delay where it stopped. Suspensions
are compared by where they stopped and by what can still matter of the local variables there. A
local that is never read again does not tell suspensions apart. Both are in a `Suspension`; only the
second is part of the identity of a state. Of equal suspensions the recipe of the first one met is
used for all, which is sound because equal identity means an equal future.

Both are read off the source of its functions, see `rebecsim.steps.waiting`.
"""

from __future__ import annotations

from types import CodeType, FrameType
from typing import Any, NamedTuple

from rebecsim.exploration.states.rebec_states import (
    NO_DEADLINE,
    UnsuitableValueError,
    Values,
    Waiting,
)
from rebecsim.steps import wait_of


class Suspended(BaseException):
    """Raised by `delay` to end the part of a message server before it.

    Not an Exception, so that a model's own `except Exception` does not catch it.
    """


class Recipe(NamedTuple):
    """How to get a message server back to where it stopped.

    `variables` at its start, `choices` (index, count) drawn so far, the `times` at which it was
    run from its start and from every delay but the one it waits in, and how long the delays take
    together, this one included. The times are absolute where that matters: a message server that
    reads `now` does the same again only at the same time.
    """

    variables: tuple[Any, ...]
    choices: tuple[tuple[int, int], ...]
    times: tuple[int, ...]
    elapsed: int

    @property
    def delays(self) -> int:
        """How many delays there are, with the one that the message server waits in."""
        return len(self.times)


class Suspension:
    """A rebec waiting in a delay: until when (relative), with which message, where.

    The message keeps its arrival and deadline, as in a bag, if it is `timed`. Otherwise the arrival
    is 0 and there is no deadline, whenever it is looked at: a message server that goes round a loop
    for ever, and cannot read these times, would else never be in the same state again.
    """

    __slots__ = ("identity", "message", "place", "recipe", "resume", "timed")

    def __init__(
        self, resume: int, message: Waiting, place: object, recipe: Recipe, *, timed: bool
    ) -> None:
        self.resume = resume
        self.message = message if timed else message._replace(arrival=0, deadline=NO_DEADLINE)
        self.place = place
        self.recipe = recipe
        self.timed = timed
        self.identity = (resume, self.message, place)

    @property
    def began(self) -> int:
        """The time from which the times of the message count when it is run again."""
        start = self.recipe.times[0]
        return start + self.recipe.elapsed if self.timed else start

    def earlier(self, units: int) -> Suspension:
        """Give the suspension as it is seen `units` later."""
        message = self.message.earlier(units) if self.timed else self.message
        return Suspension(self.resume - units, message, self.place, self.recipe, timed=self.timed)


def place_of(
    innermost: FrameType, outermost_caller: CodeType, variables: list[Any], values: Values
) -> tuple[object | None, bool]:
    """Describe where a message server waits, and say whether it may come back to the same delay.

    It is described by the places and live locals of its calls: those from `innermost` (the one that
    called `delay`) out to the message server itself, which `outermost_caller` called. None if that
    would leave something out that the rest of the server depends on: a temporary value in the
    middle of an expression, an iterator, a local that cannot be part of a state, or a list that
    several names share.
    """
    calls: list[object] = []
    lists: set[int] = set()
    repeats = False
    is_known = _separate(variables, lists)
    frame: FrameType | None = innermost
    while is_known and frame is not None and frame.f_code is not outermost_caller:
        wait = wait_of(frame)
        if wait is None:
            return None, True
        repeats |= wait.repeats
        held = frame.f_locals
        names = [name for name in sorted(held) if wait.matters(name)]
        try:
            seen = tuple([(name, values.encode(held[name])) for name in names])
        except UnsuitableValueError:
            return None, True
        is_known = _separate([held[name] for name in names], lists)
        calls.append((frame.f_code, wait.place, seen))
        frame = frame.f_back
    return (tuple(calls), repeats) if is_known else (None, True)


def _separate(found: Any, lists: set[int]) -> bool:
    """Whether no list occurs twice, here or among those already noted in `lists`."""
    for value in found:
        if isinstance(value, list):
            if id(value) in lists:
                return False
            lists.add(id(value))
        if isinstance(value, list | tuple) and not _separate(value, lists):
            return False
    return True
