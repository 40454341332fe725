"""Make the text of others safe to print on a terminal."""

from __future__ import annotations

import re

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
