"""Words of messages: numbers with nouns, names like an unknown one, text safe to print."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Hashable, Iterable
from typing import TypeVar


def counted(number: int, one: str, many: str = "") -> str:
    """`1 state`, `2,000 states`; what is not formed by an `s` is given as `many`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


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


_UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters but for tabs and line ends, what turns the direction of text, and halves of
characters, which a file name that is no UTF-8 is made of."""


def printable(text: str) -> str:
    r"""Write what a terminal would obey as `\u001b`, which means the same in JSON."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def has_half_characters(text: str) -> bool:
    r"""Whether a text has halves of characters, as `\ud800` in JSON, which no file can hold."""
    return not text.isascii() and re.search(r"[\ud800-\udfff]", text) is not None


def clipped(text: str, most: int) -> str:
    """Shorten a text to about `most` characters, leaving out its middle."""
    if len(text) <= most:
        return text
    return f"{text[: most * 3 // 4]} … {text[-(most // 4) :]}"


Entry = TypeVar("Entry", bound=Hashable)


def first_repeated(entries: Iterable[Entry]) -> Entry | None:
    """Return the first entry that equals an earlier one; None if all differ.

    >>> first_repeated(["fifo", "fair", "fifo", "fair"])
    'fifo'
    """
    seen: set[Entry] = set()
    for entry in entries:
        if entry in seen:
            return entry
        seen.add(entry)
    return None
