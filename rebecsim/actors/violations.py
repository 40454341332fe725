"""What can go wrong in a run, as opposed to an error in the model's text.

Rebeca defines some exceptions of message servers and constructors: arithmetic without a result, an
index outside its array, a message to null. They are failed assertions. Any other exception comes
from the own code of a model in Python.
"""

from __future__ import annotations

from types import CodeType
from typing import Literal

from rebecsim.errors import UserError

Verdict = Literal["assertion failed", "deadline missed", "queue overflow"]


class Violation(Exception):  # noqa: N818 - the word of the field; its subclasses are the errors
    """A run has reached a state that the model forbids. `verdict` names the kind."""

    verdict: Verdict


class AssertionFailedError(Violation):
    """An `assertion` is false, an index is out of bounds, or arithmetic has no result."""

    verdict: Verdict = "assertion failed"


class IndexOutOfBoundsError(IndexError):
    """An array index outside its array; `line` is the line of the model's text."""

    def __init__(self, index: int, line: int | str) -> None:
        super().__init__(index, line)
        self.index = index
        self.line = line


class NotWholeTimeError(UserError):
    """A time in a model in Python that is no whole number."""


class NegativeTimeError(ValueError):
    """A message that would arrive before it is sent, or a delay that would turn time back."""


class ModelCodeError(UserError):
    """A model's own code raised an exception, which is the cause of this one.

    The text names rebec, message, exception, file and line; `file` is where the message server
    stands, and `reason` the part of the text about the exception.
    """

    def __init__(self, text: str, file: str, reason: str) -> None:
        super().__init__(text, file, reason)
        self.file = file
        self.reason = reason

    def __str__(self) -> str:
        return str(self.args[0])


def raised(error: BaseException, code: CodeType | None = None) -> str:
    """Say what was raised, and where: the innermost place, in the file of this code if given."""
    if isinstance(error, ModelCodeError):
        return error.reason
    places = []
    place = error.__traceback__
    while place is not None:
        places.append((place.tb_frame.f_code.co_filename, place.tb_lineno))
        place = place.tb_next
    if code is not None:
        own = [each for each in places if each[0] == code.co_filename]
        places = own or [(code.co_filename, code.co_firstlineno)]
    at = f" ({places[-1][0]}:{places[-1][1]})" if places else ""
    text = f": {error}" if str(error) else ""
    return f"{type(error).__name__}{text}{at}"
