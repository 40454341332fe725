"""Operations of Rebeca that Python has no expression for; generated models use them."""

from __future__ import annotations

from typing import TypeVar

from rebecsim.actors.rebec import Interface, Rebec
from rebecsim.actors.violations import AssertionFailedError, IndexOutOfBoundsError

Value = TypeVar("Value")
Class = TypeVar("Class", bound=Rebec | Interface)


def require(condition: bool, text: str = "") -> None:
    """Check an assertion of the model. Raises AssertionFailedError with the text if it is false."""
    if not condition:
        raise AssertionFailedError(text)


def element(index: int, length: int, line: int) -> int:
    """Give back an array index that is in range; `line` is the one in the model's text.

    Raises IndexOutOfBoundsError otherwise: unlike in Python, negative indices are out of bounds.
    """
    if 0 <= index < length:
        return index
    raise IndexOutOfBoundsError(index, line)


def store(array: list[Value], index: int, value: Value) -> Value:
    """Assign an element and give the value, as an assignment inside an expression does."""
    array[index] = value
    return value


def assign(rebec: Rebec, name: str, value: Value) -> Value:
    """Assign a state variable and give the value."""
    setattr(rebec, name, value)
    return value


def refer(rebec: Rebec | Interface | None, reactive_class: type[Class]) -> Class | None:
    """Cast a reference to a class. Raises AssertionFailedError for a rebec of another class."""
    if rebec is None or isinstance(rebec, reactive_class):
        return rebec
    raise AssertionFailedError(f"{rebec} is a {type(rebec).__name__}, no {reactive_class.__name__}")
