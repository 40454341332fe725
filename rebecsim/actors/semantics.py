"""The semantics of time: when a rebec may act, and what happens when it does.

Simulation and exploration are two ways of walking `enabled` and `execute`: a scheduler picks one
step, a search takes all. Time floats: each rebec has its own clock, which is ahead of the others
while it is busy after a `delay`. In Core Rebeca all times are 0 and a bag is a queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from rebecsim.actors.rebec import Message, MessageServer, PlainMessage, Rebec
from rebecsim.actors.system import System, failure_of
from rebecsim.actors.violations import Verdict, Violation
from rebecsim.errors import UserError

MOST_AT_ONE_TIME = 1_000_000
"""The messages that a run serves at one time before it is taken for one that goes no further."""


Due = TypeVar("Due")


class DeadlineMissedError(Violation):
    """A message is about to be served after its deadline."""

    verdict: Verdict = "deadline missed"

    def __init__(self, message: Message, time: int) -> None:
        super().__init__(f"{message} with deadline {message.deadline} is served at time {time}")


class Step(NamedTuple):
    """Something that may happen next: a rebec serves one of its messages."""

    rebec: Rebec
    message: Message

    @property
    def start(self) -> int:
        """When serving the message begins, before it does."""
        return max(self.rebec._now, self.message.arrival)


def due_at(clock: int, messages: Sequence[tuple[Any, ...]]) -> int:
    """When a rebec can serve its first message: when it is free and the message is there.

    Here and below, messages are in the order of a bag, and begin with their arrival and priority.
    Raises IndexError without messages.
    """
    arrival: int = messages[0][0]
    return clock if clock > arrival else arrival


def next_time(rebec: Rebec) -> int:
    """Give when a rebec is due. Raises IndexError for one without messages."""
    return due_at(rebec._now, rebec._bag.messages)


def ready(system: System, priorities: bool = True) -> tuple[int, list[Rebec]]:
    """Give the current time and the rebecs that may act at it, in the order of main.

    The time is the smallest next time of all rebecs. Of the rebecs due at it, those with the
    smallest priority number may act, unless `priorities` is false. No rebec: a deadlock, time 0.
    """
    times = [(next_time(rebec), rebec) for rebec in system.rebecs if rebec._bag.messages]
    time = min((time for time, _ in times), default=0)
    rebecs = [rebec for at, rebec in times if at == time]
    if priorities and len(rebecs) > 1:
        rebecs = most_urgent(rebecs, [urgency(system, rebec) for rebec in rebecs])
    return time, rebecs


def most_urgent(due: list[Due], urgencies: list[int]) -> list[Due]:
    """Keep those of the smallest urgency of what is due at one time."""
    first = min(urgencies)
    if urgencies.count(first) == len(due):  # mostly
        return due
    return [each for each, urgency in zip(due, urgencies, strict=True) if urgency == first]


def urgency(system: System, rebec: Rebec) -> int:
    """Give the priority of a rebec that is due; any global priority replaces all others."""
    if system.uses_global_priority:
        return deciding_server(rebec).global_priority
    return rebec._priority


def deciding_server(rebec: Rebec) -> MessageServer:
    """Give the message server whose global priority a ready rebec has.

    It is that of the messages that it may serve; of several message servers, the one that its
    class declares first. Which message was sent first makes no difference, as states do not know.
    """
    messages = rebec._bag.messages
    count = count_alternatives(messages, rebec._system.model.core)
    if count == 1:
        return messages[0][3]
    return min((message[3] for message in messages[:count]), key=attrgetter("number"))


def alternatives(rebec: Rebec) -> list[Message]:
    """Give the messages that a ready rebec may serve, in the order of sending.

    Timed: all with the arrival and priority of the first one, so the oldest of a busy rebec go
    first and only messages of one arrival are a bag. Core: the head of the queue.
    """
    messages = rebec._bag.messages
    count = count_alternatives(messages, rebec._system.model.core)
    return [Message(*each) for each in messages[:count]]


def count_alternatives(messages: Sequence[tuple[Any, ...]], core: bool) -> int:
    """Count the messages that a ready rebec may serve, which are the first of its messages."""
    if core or len(messages) == 1:
        return 1
    head = messages[0]
    for count in range(1, len(messages)):
        message = messages[count]
        if message[0] != head[0] or message[1] != head[1]:
            return count
    return len(messages)


def enabled(system: System, priorities: bool = True) -> list[Step]:
    """Give every step that may happen next; an empty list is a deadlock."""
    return steps(ready(system, priorities)[1])


def steps(rebecs: list[Rebec]) -> list[Step]:
    """Give the steps of rebecs that are ready: each of them with each of its alternatives."""
    return [Step(rebec, message) for rebec in rebecs for message in alternatives(rebec)]


def execute(system: System, step: tuple[Rebec, PlainMessage], deadlines: bool = True) -> None:
    """Take a message out of its bag, and serve it."""
    rebec, message = step
    rebec._bag.messages.remove(message)
    serve(system, rebec, message, deadlines)


def serve(system: System, rebec: Rebec, message: PlainMessage, deadlines: bool = True) -> None:
    """Run the message server of a message that has been taken out of its bag to the end.

    Choices are resolved by `system.choose`. Raises a Violation when the deadline has passed (if
    `deadlines` count), an assertion fails or a queue overflows; the system is then as it was at
    that moment. Raises ModelCodeError for any other exception of the model's own code.
    """
    start, _, _, server, _, arguments, deadline = message
    if rebec._now > start:
        start = rebec._now
    if deadline is not None and deadlines and deadline < start:
        raise DeadlineMissedError(Message(*message), start)
    rebec._now = system.started = start
    system.actor, system.message, system.serving = rebec, message, True
    handler = server.handler
    try:
        if not arguments:
            handler(rebec)
        elif len(arguments) == 1:  # half the time of the general way
            handler(rebec, arguments[0])
        else:
            handler(rebec, *arguments)
    except (Violation, UserError, MemoryError):
        raise
    except Exception as error:  # whatever a model in Python raises
        raise failure_of(error, rebec, Message(*message), handler.__code__) from error
    finally:
        system.serving = False
