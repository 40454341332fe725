"""Record quickly what a message server did; another thread makes it readable later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebecsim.actors import Message, Rebec, durations
from rebecsim.actors.written import plain
from rebecsim.live.log import Sent, Served
from rebecsim.live.view import Drawn, Outgoing
from rebecsim.simulation import Event
from rebecsim.simulation.trace import changes

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
    event = Event(
        step=number,
        time=start,
        finished=finished,
        rebec=str(rebec),
        server=message.server.name,
        sender=message.sent_by,
        arrival=message.arrival,
        deadline=message.deadline,
        arguments=tuple(map(plain, message.arguments)),
        choices=tuple(index for index, _ in choices),
        changed=changes(
            {name: plain(durations(old, start)) for name, old in zip(names, before, strict=True)},
            {name: plain(durations(new, finished)) for name, new in zip(names, after, strict=True)},
        ),
        drawn=tuple(plain(value) for _, value in choices),
        parameters=message.server.parameters,
    )
    return Served(event, tuple(Sent.of(bag.owner, Message(*each)) for bag, each, *_ in sent), late)
