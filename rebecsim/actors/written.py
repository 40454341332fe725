"""Write values, messages and choices for people, the same in all traces and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def plain(value: Any) -> Any:
    """Give a value as it stands in a file: what JSON has no form for, as a rebec, becomes text."""
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float and value - value == 0.0:  # neither infinite nor NaN
        return value
    return str(value)


def value_text(value: object) -> str:
    """Give a value as Rebeca writes it."""
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "null"
        case list() | tuple():
            return f"[{', '.join(map(value_text, value))}]"
    return str(value)


def call_text(server: str, parameters: Sequence[str], arguments: Sequence[object]) -> str:
    """Give a message with the names of its arguments, where they are known: `buy(customer=ann)`."""
    texts = list(map(value_text, arguments))
    if len(parameters) == len(texts):
        texts = [f"{name}={text}" for name, text in zip(parameters, texts, strict=True)]
    return f"{server}({', '.join(texts)})"


def drawn_text(drawn: Sequence[object], choices: Iterable[int]) -> str:
    """Give the values that choices have drawn; without them, as in an old file, `#2` for a second.

    `choices` are the indices of the alternatives, from 0.
    """
    if drawn:
        return ", ".join(map(value_text, drawn))
    return ", ".join(f"#{index + 1}" for index in choices)


def changes_text(changed: Iterable[tuple[str, object]]) -> str:
    """Give the variables with new values."""
    return ", ".join(change_texts(changed))


def change_texts(changed: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    """Give each variable with its new value."""
    return tuple(f"{name} = {value_text(value)}" for name, value in changed)
