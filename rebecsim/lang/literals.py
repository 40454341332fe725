"""The values of numbers and texts as written, and how to write them."""

from __future__ import annotations

import math
import re
import struct

from rebecsim.lang.errors import RebecaSyntaxError, diagnose
from rebecsim.lang.syntax import Span

__all__ = [
    "INT_MAX",
    "float_text",
    "float_value",
    "integer_text",
    "integer_value",
    "single",
    "text_text",
    "text_value",
]

INT_MAX = 2**31 - 1
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}
_UNESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def integer_value(text: str, span: Span) -> int:
    """The value of a decimal or hexadecimal literal.

    Hexadecimal literals name all 32 bits, so 0xffffffff is -1. The decimal 2147483648 is let
    pass here, because -2147483648 is an int; the parser refuses it in any other place.
    Raises RebecaSyntaxError for literals beyond that and for octal ones.
    """
    if text[:2] in ("0x", "0X"):
        value = int(text, 16)
        if value >= 2**32:
            raise _error("int-range", span, text=text)
        return value - 2**32 if value > INT_MAX else value
    if len(text) > 1 and text[0] == "0":
        raise _error("octal", span, text=text)
    if len(text) > 10 or int(text) > INT_MAX + 1:
        raise _error("int-range", span, text=text)
    return int(text)


def integer_text(value: int) -> str:
    """The literal that reads as the value: decimal, or hexadecimal for a negative one."""
    return str(value) if value >= 0 else hex(value + 2**32)


def float_value(text: str, span: Span) -> float:
    """The value of a literal with a point or exponent; RebecaSyntaxError if beyond a single."""
    value = float(text.rstrip("fF"))
    if math.isinf(single(value)):
        raise _error("float-range", span, text=text)
    return value


def float_text(value: float) -> str:
    """The shortest literal that reads as the value."""
    return repr(value)


def single(value: float) -> float:
    """The nearest IEEE single; infinite beyond their range."""
    try:
        rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def text_value(quoted: str, span: Span) -> str:
    """What a text between quotation marks says; RebecaSyntaxError for an unknown escape."""

    def replaced(match: re.Match[str]) -> str:
        character = match.group(1)
        if character not in _ESCAPES:
            raise _error("escape", span, character=character)
        return _ESCAPES[character]

    return re.sub(r"\\(.)", replaced, quoted[1:-1])


def text_text(text: str) -> str:
    """The text between quotation marks, with escapes where they are needed."""
    return '"' + "".join(_UNESCAPES.get(character, character) for character in text) + '"'


def _error(code: str, span: Span, **values: object) -> RebecaSyntaxError:
    return RebecaSyntaxError.of([diagnose(code, span, **values)])
