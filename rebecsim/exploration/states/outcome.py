"""Results of serving one message: effects of message servers, and outcomes for a state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from rebecsim.exploration.states.local import Local, Waiting
    from rebecsim.exploration.states.suspension import Suspension

Verdict = Literal[
    "satisfied",
    "deadlock",
    "deadline missed",
    "queue overflow",
    "assertion failed",
    "property violated",
    "undecided",
]


class Breach(NamedTuple):
    """Something forbidden: the verdict and the text that explains it."""

    verdict: Verdict
    text: str


class Sending:
    """A message to another rebec, one object for equal ones; times are relative."""

    __slots__ = ("message", "receiver")

    def __init__(self, receiver: int, message: Waiting) -> None:
        self.receiver = receiver
        self.message = message


@dataclass(slots=True, eq=False)
class Effect:
    """What a message server does under given choices, whatever else waits in the bag of its rebec.

    `choices` are (index, count) for every choice drawn since the message was taken and `values` the
    alternatives drawn; the first `drawn_before` of them belong to parts before a delay.
    `variables`, `clock` and `suspension` are those of the rebec afterwards, before time moves on;
    after a `breach`, `variables` is what it holds then. `own` are the messages it has sent to
    itself, in the order of a bag, `sendings` those to others, in the order of sending. `places` is
    how many places there must be beside the other waiting messages, for it to come to this: one for
    the message being served, and one for each that was sent, or tried, to itself. `refused` names
    the message server of a message that found no place in the rebec's own queue.
    """

    owner: int
    message: Waiting
    choices: tuple[tuple[int, int], ...]
    values: tuple[Any, ...]
    drawn_before: int
    resumed: bool
    variables: tuple[Any, ...]
    clock: int
    suspension: Suspension | None
    own: tuple[Waiting, ...]
    places: int
    sendings: tuple[Sending, ...]
    breach: Breach | None
    refused: str

    @property
    def drawn(self) -> tuple[tuple[int, int], ...]:
        """The choices that were drawn in this part of the message server."""
        return self.choices[self.drawn_before :]

    @property
    def drawn_values(self) -> tuple[Any, ...]:
        """The alternatives that were drawn in this part of the message server."""
        return self.values[self.drawn_before :]


class Outcome:
    """One way in which a rebec in some state serves, or goes on serving, a message.

    `local` is the rebec afterwards, before time moves on; it is None after a breach.
    """

    __slots__ = ("effect", "local")

    def __init__(self, effect: Effect, local: Local | None) -> None:
        self.effect = effect
        self.local = local
