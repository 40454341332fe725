"""Violations: what can go wrong in a run, as opposed to an error in the model's text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rebecsim.errors import UserError

if TYPE_CHECKING:
    from rebecsim.actors.message import Message

Verdict = Literal["assertion failed", "deadline missed", "queue overflow"]


class Violation(Exception):  # noqa: N818 - the word of the field; its subclasses are the errors
    """A run has reached a state that the model forbids. `verdict` names the kind."""

    verdict: Verdict


class AssertionFailedError(Violation):
    """An `assertion` is false, an index is out of bounds, or arithmetic has no result."""

    verdict: Verdict = "assertion failed"


class QueueOverflowError(Violation):
    """A message was sent to a rebec whose queue is full."""

    verdict: Verdict = "queue overflow"

    def __init__(self, message: Message, capacity: int) -> None:
        super().__init__(f"no place for {message} in a queue of {capacity}")
        self.message = message


class DeadlineMissedError(Violation):
    """A message is about to be served after its deadline."""

    verdict: Verdict = "deadline missed"

    def __init__(self, message: Message, time: int) -> None:
        super().__init__(f"{message} with deadline {message.deadline} is served at time {time}")


class IndexOutOfBoundsError(IndexError):
    """An array index outside its array; `line` is the line of the model's text."""

    def __init__(self, index: int, line: int) -> None:
        super().__init__(index, line)
        self.index = index
        self.line = line


class NotWholeTimeError(UserError):
    """A time in a model in Python that is no whole number."""


class NegativeTimeError(ValueError):
    """A message that would arrive before it is sent, or a delay that would turn time back."""
