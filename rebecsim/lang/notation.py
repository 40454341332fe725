"""Read and write numbers, texts and operators, for the parser and the printer."""

from __future__ import annotations

import math
import re

from rebecsim.arithmetic import float32
from rebecsim.lang.errors import syntax_error
from rebecsim.lang.syntax import BinaryOperator, Span

INT_MAX = 2**31 - 1
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}
_UNESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def integer_value(text: str, span: Span) -> int:
    """The value of a decimal, hexadecimal, octal or binary literal, as Java and C++ read them.

    All but decimal ones name the 32 bits, so 0xffffffff is -1. The decimal 2147483648 is let
    pass here, because -2147483648 is an int; the parser refuses it in any other place. The suffix
    `L` changes nothing, as there are no longer integers. Raises RebecaSyntaxError for literals
    beyond that and for octal ones with the digits 8 and 9.
    """
    digits = text.rstrip("lL").replace("_", "")
    base = _BASES.get(digits[:2].lower()) or (8 if len(digits) > 1 and digits[0] == "0" else 10)
    if base == 10:
        if len(digits) > 10 or int(digits) > INT_MAX + 1:
            raise syntax_error("int-range", span, text=text)
        return int(digits)
    if base == 8 and not set(digits) <= set("01234567"):
        raise syntax_error("octal", span, text=text)
    digits = digits[2:] if base != 8 else digits
    if len(digits.lstrip("0")) > 32 or int(digits, base) >= 2**32:
        raise syntax_error("int-range", span, text=text)
    value = int(digits, base)
    return value - 2**32 if value > INT_MAX else value


_BASES = {"0x": 16, "0b": 2}


def integer_text(value: int) -> str:
    """The literal that reads as the value: decimal, or hexadecimal for a negative one."""
    return str(value) if value >= 0 else hex(value + 2**32)


def float_value(text: str, span: Span) -> float:
    """The value of a literal with a point, an exponent or a suffix.

    RebecaSyntaxError if it is beyond a double, or with the suffix `f` beyond a single.
    """
    value = float(text.rstrip("fFdD").replace("_", ""))
    if text[-1] in "fF" and math.isinf(float32(value)):
        raise syntax_error("float-range", span, text=text)
    if math.isinf(value):
        raise syntax_error("double-range", span, text=text)
    return value


def float_text(value: float, is_single: bool) -> str:
    """The shortest literal that reads as the value."""
    return repr(value) + ("f" if is_single else "")


def text_value(quoted: str, span: Span) -> str:
    """What a text or character in its quotes says; RebecaSyntaxError for an unknown escape."""

    def replaced(match: re.Match[str]) -> str:
        character = match.group(1)
        if character not in _ESCAPES:
            raise syntax_error("escape", span, character=character)
        return _ESCAPES[character]

    return re.sub(r"\\(.)", replaced, quoted[1:-1])


def text_text(text: str) -> str:
    """The text between quotation marks, with escapes where they are needed."""
    return '"' + "".join(_UNESCAPES.get(character, character) for character in text) + '"'


ASSIGNMENT = 1
CONDITIONAL = 2
BINARY_PRECEDENCE: dict[BinaryOperator, int] = {
    "||": 3,
    "&&": 4,
    "|": 5,
    "^": 6,
    "&": 7,
    "==": 8,
    "!=": 8,
    "<": 9,
    "<=": 9,
    ">": 9,
    ">=": 9,
    "<<": 10,
    ">>": 10,
    "+": 11,
    "-": 11,
    "*": 12,
    "/": 12,
    "%": 12,
}
"""Higher binds tighter; all of them group from the left."""
INSTANCE_OF = BINARY_PRECEDENCE["<"]
UNARY = 13
POSTFIX = 14
