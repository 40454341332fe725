"""Classify exceptions in message servers and constructors.

Rebeca defines some: arithmetic without a result, an index outside its array, a message to null.
They are failed assertions. Any other comes from the own code of a model in Python.
"""

from __future__ import annotations

from types import CodeType
from typing import TYPE_CHECKING

from rebecsim.actors.violations import (
    AssertionFailedError,
    IndexOutOfBoundsError,
    NegativeTimeError,
)
from rebecsim.errors import UserError

if TYPE_CHECKING:
    from rebecsim.actors.message import Message
    from rebecsim.actors.rebec import Rebec


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


def failure_of(error: Exception, rebec: Rebec, message: Message, code: CodeType) -> Exception:
    """Say what it means that this code, serving a message, raised an exception."""
    method = f'method "{rebec}.{message.server.name}"'
    if isinstance(error, IndexOutOfBoundsError):
        return AssertionFailedError(
            f"Array index out of bound: {error.index}, {method} line {error.line}"
        )
    if isinstance(error, ArithmeticError | NegativeTimeError | RecursionError):
        return AssertionFailedError(f"{error}, {method}")
    if isinstance(error, AttributeError) and error.obj is None:
        return AssertionFailedError(f"message to null, {method}")
    constructing = message.server.number < 0
    doing = "in its constructor" if constructing else f"serving {message}"
    reason = raised(error, code)
    return ModelCodeError(f"{rebec}, {doing}: {reason}", code.co_filename, reason)


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
