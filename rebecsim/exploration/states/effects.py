"""Effects of message servers, outcomes for a state, and the breaches among them.

A `BreachKey` identifies a breach by its verdict and its message server. An `Outbox` collects what a
running message server sends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rebecsim.actors import Bag, ChoiceLaw, Message, PlainMessage, QueueOverflowError

if TYPE_CHECKING:
    from rebecsim.exploration.states.rebec_states import Local, Waiting
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


class BreachKey(NamedTuple):
    """A breach without the details of one run, such as times and arguments.

    `rebec` and `server` are those of the message that misses its deadline, finds no place or fails
    an assertion; they are empty for what is wrong with a whole state. `text` is that of an
    assertion or property, empty otherwise.
    """

    verdict: Verdict
    rebec: str = ""
    server: str = ""
    text: str = ""

    @property
    def message(self) -> str:
        """The key without the verdict."""
        place = f"{self.rebec}.{self.server}" if self.rebec else ""
        return ": ".join(part for part in (place, self.text) if part)

    def __str__(self) -> str:
        return f"{self.verdict}: {self.message}" if self.message else str(self.verdict)


class _Told(NamedTuple):
    verdict: Verdict
    text: str


class Breach(_Told):
    """Something forbidden: the verdict and the text that explains it.

    `place` is the rebec and the message server of its key; it makes no breaches different.
    """

    place: tuple[str, str]

    def __new__(cls, verdict: Verdict, text: str, place: tuple[str, str] = ("", "")) -> Breach:
        """Make one; without a place it is of a whole state."""
        made = super().__new__(cls, verdict, text)
        made.place = place
        return made

    @property
    def key(self) -> BreachKey:
        """What it is without the details of one run."""
        is_written = self.verdict in ("assertion failed", "property violated")
        return BreachKey(self.verdict, *self.place, self.text if is_written else "")


class Sending:
    """A message to another rebec, one object for equal ones; times are relative."""

    __slots__ = ("message", "receiver")

    def __init__(self, receiver: int, message: Waiting) -> None:
        self.receiver = receiver
        self.message = message


@dataclass(slots=True, eq=False)
class Effect:
    """The effect of a message server under given choices, for any other messages in the bag.

    `choices` are (index, count) for every choice drawn since the message was taken and `values` the
    alternatives drawn; the first `drawn_before` of them belong to parts before a delay. `shares`
    says how likely each of these is by its weight; None for one without.
    `variables`, `clock` and `suspension` are those of the rebec afterwards, before time moves on;
    after a `breach`, `variables` is what it holds then. `own` are the messages it has sent to
    itself, in the order of a bag, `sendings` those to others, in the order of sending. `places` is
    how many places this effect needs beside the other waiting messages: one for
    the message being served, and one for each that was sent, or tried, to itself.
    """

    owner: int
    message: Waiting
    drawn_before: int
    resumed: bool
    variables: tuple[Any, ...]
    clock: int
    suspension: Suspension | None
    own: tuple[Waiting, ...]
    places: int
    sendings: tuple[Sending, ...]
    choices: tuple[tuple[int, int], ...] = ()
    values: tuple[Any, ...] = ()
    shares: tuple[float | None, ...] = ()
    breach: Breach | None = None

    @property
    def drawn(self) -> tuple[tuple[int, int], ...]:
        """The choices that were drawn in this part of the message server."""
        return self.choices[self.drawn_before :]

    @property
    def drawn_values(self) -> tuple[Any, ...]:
        """The alternatives that were drawn in this part of the message server."""
        return self.values[self.drawn_before :]

    @property
    def is_weighted(self) -> bool:
        """Whether an alternative of this part was drawn by its weight."""
        return any(share is not None for share in self.shares[self.drawn_before :])

    def likelihood(self, law: ChoiceLaw) -> float:
        """How likely the choices of this part are."""
        drawn = [*zip(self.drawn, self.shares[self.drawn_before :], strict=True)]
        by_weight = math.prod(share for _, share in drawn if share is not None)
        by_law = [index_and_count for index_and_count, share in drawn if share is None]
        if law == "fair":
            return by_weight / math.prod(count for _, count in by_law)
        return by_weight * math.prod(
            (2 if index == count - 1 else 1) / (count + 1) for index, count in by_law
        )


class Outcome:
    """One way in which a rebec in some state serves, or goes on serving, a message.

    `local` is the rebec afterwards, before time moves on; it is None after a breach.
    """

    __slots__ = ("effect", "local")

    def __init__(self, effect: Effect, local: Local | None) -> None:
        self.effect = effect
        self.local = local


Sent = list[tuple[int, PlainMessage]]


class Outbox(Bag):
    """Replaces the bag of a rebec: notes the messages sent to it in the order of sending.

    `sent` is one list for all rebecs, of receivers' positions and messages. Only what the rebec
    at work sends to itself is counted against the capacity, which is how many places the others
    in its bag leave; `tried` is how often it did.
    """

    __slots__ = ("_owner", "_sent", "tried")

    def __init__(self, owner: int, capacity: int, sent: Sent) -> None:
        super().__init__(capacity)
        self._owner = owner
        self._sent = sent
        self.tried = 0

    def put(self, message: PlainMessage, reserved: int = 0) -> None:
        """Note a message; it is to the rebec at work itself if a place is reserved.

        Raises QueueOverflowError when such a message finds no place.
        """
        if reserved:
            self.tried += 1
            if self.tried + reserved > self.capacity:
                raise QueueOverflowError(Message(*message), self.capacity)
        self._sent.append((self._owner, message))
