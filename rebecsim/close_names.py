"""Suggestions for an unknown name: the known names that are most like it."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

_LIKENESS = 0.65
"""Of two names, from 0 to 1 as `difflib` measures it: two letters of three are enough."""
_LONGEST = 80
"""Characters of a name that is compared; comparing takes the product of two lengths."""


def closest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like this one, whatever the case; None if none does.

    In names such as `office.left` each part must be like that of the other name.
    """
    if len(name) > _LONGEST:
        return None
    wanted = name.casefold()
    folded: dict[str, str] = {}
    for each in known:
        if len(each) <= _LONGEST and _parts_are_close(wanted, each.casefold()):
            folded.setdefault(each.casefold(), each)
    close = difflib.get_close_matches(wanted, folded, n=1, cutoff=_LIKENESS)
    return folded[close[0]] if close else None


def _parts_are_close(wanted: str, known: str) -> bool:
    parts, others = wanted.split("."), known.split(".")
    if len(parts) == 1 or len(parts) != len(others):
        return True
    return all(
        difflib.get_close_matches(part, [other], n=1, cutoff=_LIKENESS)
        for part, other in zip(parts, others, strict=True)
    )


def suggestion(name: str, known: Collection[str], otherwise: str | None = None) -> str:
    """Say which known name may have been meant; `otherwise` is said where none is likely."""
    close = closest_name(name, known)
    if close is not None:
        return f"did you mean {close}?"
    return f"known are {', '.join(known)}" if otherwise is None else otherwise


class UnknownName(str):
    """A line about a name in a file that has no meaning there: perhaps a typing mistake."""

    __slots__ = ()
