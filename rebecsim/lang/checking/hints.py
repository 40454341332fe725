"""Write hints for mistakes, where they depend on the names and types around."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rebecsim.close_names import closest_name
from rebecsim.lang import syntax
from rebecsim.lang.checked import CheckedClass
from rebecsim.lang.types import BOOLEAN, NULL, NUMERIC, Type

_FEW = 6
"""As many names are listed when none of them is likely."""


def name_hint(name: str, known: Iterable[str], words: Iterable[str]) -> str | None:
    """Which of the known names or words was meant; or else the known names, if they are few."""
    names = list(dict.fromkeys(known))
    close = closest_name(name, [*names, *words])
    if close is not None:
        return f"did you mean `{close}`?"
    if not names or len(names) > _FEW:
        return None
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(f'`{each}`' for each in names)}"


def signature(name: str, parameters: Sequence[syntax.Parameter]) -> str:
    """`buy(Customer customer, int seats)`."""
    return f"{name}({', '.join(f'{each.type.name} {each.name}' for each in parameters)})"


def mismatch_hint(found: Type, expected: Type) -> str | None:
    """What to do about a value of a type that does not fit."""
    if expected == BOOLEAN and found in NUMERIC:
        return "a boolean is `true` or `false`; a comparison such as `... != 0` is boolean"
    if found == BOOLEAN and expected in NUMERIC:
        return "declare it as boolean, or write `(... ? 1 : 0)`"
    if found == NULL:
        return "only variables of a reactive class can be null"
    return None


def member_hint(owner: CheckedClass, name: str) -> str | None:
    """What to write for a method or message server that is used like a variable."""
    if name in owner.methods:
        return f"`{name}` is a method: write `{name}(...)`"
    if any(server.name == name for server in owner.servers):
        return f"`{name}` is a message server: write `self.{name}(...)`"
    return None
