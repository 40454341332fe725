"""States of the independent explorer, and how they are seen later. All times are relative."""

from __future__ import annotations

from typing import Any, NamedTuple

NEVER = 10**9
STOPPED = None


class TooLarge(Exception):  # noqa: N818 - no error: the model is left out
    """A state space has more states than are looked at."""


class Broken(Exception):  # noqa: N818 - what went wrong in a step of a model
    """A step does what it must not."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


class Message(NamedTuple):
    """A message in a bag; `sender` is the number of a rebec, None for nobody."""

    arrival: int
    priority: int
    server: str
    sender: int | None
    deadline: int
    arguments: tuple


class Waiting(NamedTuple):
    """A message server in a delay; the times of its message count as long as it is `timed`."""

    resume: int
    message: Message
    place: tuple[tuple[int, int], ...]
    live: tuple[tuple[str, Any], ...]
    timed: bool


class Rebec(NamedTuple):
    """The state of one rebec. `clock` is 0 in the transition system with one time."""

    variables: tuple
    clock: int
    bag: tuple[Message, ...]
    waiting: Waiting | None = None


def order(message: Message) -> tuple:
    sender = -1 if message.sender is None else message.sender
    server, arguments = message.server, message.arguments
    return (message.arrival, message.priority, server, sender, message.deadline, arguments)


def moved_to(rebec: Rebec, time: int) -> Rebec:
    """A rebec that is behind the time is moved to it."""
    return rebec._replace(clock=max(rebec.clock, time))


def shift(rebec: Rebec, units: int) -> Rebec:
    """Give a rebec as it is seen `units` later."""
    waiting = rebec.waiting
    if waiting is not None:
        message = later(waiting.message, units) if waiting.timed else waiting.message
        waiting = waiting._replace(resume=waiting.resume - units, message=message)
    return Rebec(
        tuple(
            Started(each - units) if isinstance(each, Started) else each for each in rebec.variables
        ),
        max(rebec.clock - units, 0),
        tuple(later(each, units) for each in rebec.bag),
        waiting,
    )


def later(message: Message, units: int) -> Message:
    deadline = message.deadline if message.deadline == NEVER else message.deadline - units
    return message._replace(arrival=message.arrival - units, deadline=deadline)


class Started(int):
    """When a timer was started, a time and no number."""
