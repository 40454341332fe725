"""What can come of serving one message: the effect of a message server under given choices."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from rebecsim.explore.local import Local, Waiting

__all__ = ["Breach", "Outcome", "Sending", "Verdict"]

Verdict = Literal[
    "satisfied",
    "deadlock",
    "deadline missed",
    "queue overflow",
    "assertion failed",
    "property violated",
    "out of bounds",
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


class Outcome:
    """One way in which a rebec serves, or goes on serving, a message.

    `choices` are (index, count) for every choice drawn since the message was taken, of which the
    first `drawn_before` belong to parts before a delay. `local` is the rebec afterwards, before
    time moves on; it is None after a `breach`. `variables` is what the rebec holds at the end, in
    any case. `sendings` go to other rebecs, in the order of sending.
    """

    __slots__ = (
        "breach",
        "choices",
        "drawn_before",
        "local",
        "message",
        "owner",
        "resumed",
        "sendings",
        "variables",
    )

    def __init__(
        self,
        owner: int,
        message: Waiting,
        choices: tuple[tuple[int, int], ...],
        drawn_before: int,
        resumed: bool,
        local: Local | None,
        sendings: tuple[Sending, ...],
        breach: Breach | None,
        variables: tuple[Any, ...],
    ) -> None:
        self.owner = owner
        self.message = message
        self.choices = choices
        self.drawn_before = drawn_before
        self.resumed = resumed
        self.local = local
        self.sendings = sendings
        self.breach = breach
        self.variables = variables
