"""Numbers with their nouns: `1 state`, `2,000 states`."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """`1 state`, `2,000 states`; what is not formed by an `s` is given as `many`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
