"""Give each rebec's thread its own view of the system, and record what a message server did.

Message servers of several rebecs run at the same time. Each has a `System` of its own to run in,
so that `rebecsim.actors.serve` is used as it is. What it sends is kept back until it has ended; the
conductor then puts it into the bags.
What it did is recorded quickly; another thread makes it readable later.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from rebecsim.actors import (
    Array,
    Message,
    MessageServer,
    ModelError,
    PlainMessage,
    QueueOverflowError,
    Rebec,
    Step,
    durations,
)
from rebecsim.actors.system import Attributes, Choose, System
from rebecsim.actors.values import plain
from rebecsim.live.log import Sent, Served
from rebecsim.simulation.trace import Drawn, changes, event_of

Values = tuple[Any, ...]

Outgoing = tuple[Rebec, PlainMessage, int, int, Values]
"""A message kept back: its receiver, the message, and how far its sender was then.

That is the sender's time, how many choices it had drawn, and its variables. If the message finds no
place, this is where the message server has ended. A plain tuple: one is made for each message.
"""


class _Serving(threading.local):
    """The view in which the current thread runs a message server."""

    view: View | None = None


_serving = _Serving()


class View(System):
    """The system during the message servers of one rebec, which run in one thread.

    `choices` and `kept` are what the current one has drawn and sent. `free` is the rebec's time
    and `before` its variables when it began; no other rebec can have changed them since.
    `read` reads the variables, arrays as copies.
    """

    __slots__ = ("_draw", "attributes", "before", "choices", "free", "kept", "owner", "read")

    def __init__(self, system: System, rebec: Rebec, draw: Choose) -> None:
        # A copy, and no System.__init__: the rebecs are there already, and are shared.
        for name in System.__slots__:
            if hasattr(system, name):
                setattr(self, name, getattr(system, name))
        self.owner = self.actor = rebec
        self.choose = self._noted
        self.put = self._keep
        self.choices: list[Drawn] = []
        self.kept: list[Outgoing] = []
        self._draw = draw
        self.attributes = Attributes(rebec)
        self.read = variables_reader(type(rebec))
        self.free = 0
        self.before = self.read(rebec)

    def use_in_this_thread(self) -> None:
        """Let what is sent in the current thread be sent by the rebec of this view."""
        _serving.view = self

    def prepare(self) -> None:
        """Forget what the message server before has drawn and sent, before another one runs."""
        self.choices = []
        self.kept = []
        self.free = self.owner._now

    def send(
        self,
        receiver: Rebec,
        server: MessageServer,
        arguments: tuple[Any, ...],
        after: int,
        deadline: int | None,
    ) -> None:
        """Send a message from the rebec of the current thread; this is the receiver's view.

        Raises what `System.send` does, and ModelError in a thread that is none of a rebec's.
        """
        sending = _serving.view
        if sending is None:
            raise ModelError(
                f"{receiver}.{server.name}: a message can only be sent by the message server of "
                "a rebec, in the thread that runs it"
            )
        System.send(sending, receiver, server, arguments, after, deadline)

    def _keep(self, receiver: Rebec, message: PlainMessage, at_work: bool) -> None:
        """Keep a message back until its message server has ended.

        Raises QueueOverflowError when this message server alone has sent more than fits, which
        ends one that would go on sending for ever.
        """
        sender, kept, capacity = self.owner, self.kept, receiver._bag.capacity
        kept.append((receiver, message, sender._now, len(self.choices), self.read(sender)))
        if len(kept) > capacity and sum(each[0] is receiver for each in kept) > capacity:
            raise QueueOverflowError(Message(*message), capacity)

    def _noted(self, rebec: Rebec, alternatives: Sequence[Any], site: int) -> int:
        index = self._draw(rebec, alternatives, site)
        self.choices.append((index, alternatives[index]))
        return index


def variables_reader(reactive_class: type[Rebec]) -> Callable[[Rebec], Values]:
    """Give the function that reads the state variables of a rebec, in the order declared."""
    variables = reactive_class.__state_variables__
    names = [variable.name for variable in variables]
    if not names:
        return lambda rebec: ()
    get = attrgetter(*names)
    if any(isinstance(variable.kind, Array) for variable in variables):
        both = get if len(names) > 1 else lambda rebec: (get(rebec),)
        return lambda rebec: tuple([_copied(value) for value in both(rebec)])
    if len(names) == 1:
        return lambda rebec: (get(rebec),)
    return get


def _copied(value: Any) -> Any:
    return [_copied(each) for each in value] if type(value) is list else value


Record = tuple[
    Rebec,
    Message,
    int,
    int,
    Sequence[Drawn],
    tuple[Any, ...],
    tuple[Any, ...],
    Sequence[Outgoing],
    float,
]
"""A message served, with the values as they are in Python.

The rebec, the message, the times of its beginning and its end, the choices, the state variables
before and after, what was sent, and the lateness in seconds of real time.
"""


def served(record: Record, number: int) -> Served:
    """Give a record as it stands in a log; `number` is its place there, from 0."""
    rebec, message, start, finished, choices, before, after, sent, late = record
    names = [variable.rebeca_name for variable in type(rebec).__state_variables__]
    changed = changes(
        {name: plain(durations(old, start)) for name, old in zip(names, before, strict=True)},
        {name: plain(durations(new, finished)) for name, new in zip(names, after, strict=True)},
    )
    times = start, finished
    event = event_of(number, Step(rebec, message), times, choices, changed, plain)
    return Served(
        event, tuple(Sent.of(receiver, Message(*each)) for receiver, each, *_ in sent), late
    )
