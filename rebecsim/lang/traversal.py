"""Walk and rewrite a syntax tree, ask what its statements contain; read and write numbers.

Walking does not recurse, so that a deep tree is no danger.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from rebecsim.arithmetic import float32
from rebecsim.lang import syntax
from rebecsim.lang.errors import syntax_error
from rebecsim.lang.syntax import BinaryOperator, Node, Span


def children(node: Node) -> Iterator[Node]:
    """The nodes right below a node, in the order of the text."""
    for name in _parts(node):
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from _nodes_in(value)


_PARTS: dict[type[Node], tuple[str, ...]] = {}  # of the kinds that have been seen


def _parts(node: Node) -> tuple[str, ...]:
    """The names of what a node has besides its place; asked for at every node."""
    kind = type(node)
    if kind not in _PARTS:
        _PARTS[kind] = tuple(part.name for part in fields(kind) if part.name != "span")
    return _PARTS[kind]


def _nodes_in(values: tuple[object, ...]) -> Iterator[Node]:
    for value in values:
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from _nodes_in(value)


def walk(root: Node) -> Iterator[Node]:
    """The node itself and every node below it, a parent before its children."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(tuple(children(node))))


def rewritten(node: Node, change: Callable[[Node], Node]) -> Node:
    """The tree with every node changed, the parts of a node before the node itself.

    What has nothing to change is the same object. As deep as the tree, which the parser bounds.
    """
    old = {name: getattr(node, name) for name in _parts(node)}
    new = {name: _rewritten_value(value, change) for name, value in old.items()}
    changed = {name: value for name, value in new.items() if value is not old[name]}
    return change(replace(node, **changed) if changed else node)


def _rewritten_value(value: Any, change: Callable[[Node], Node]) -> Any:
    if isinstance(value, tuple):
        parts = tuple(_rewritten_value(each, change) for each in value)
        return value if all(a is b for a, b in zip(parts, value, strict=True)) else parts
    return rewritten(value, change) if isinstance(value, Node) else value


def array_of(node: syntax.Expression) -> syntax.Expression:
    """Give the array that an element is of, or of arrays of arrays; else the node itself."""
    while isinstance(node, syntax.Index):
        node = node.array
    return node


def _assignments(
    body: syntax.Statement,
) -> Iterator[tuple[str, syntax.Assignment | syntax.Increment]]:
    """Give the assignments and increments in a body, each with the variable or array."""
    for node in walk(body):
        if isinstance(node, syntax.Assignment | syntax.Increment):
            variable = array_of(node.target)
            if isinstance(variable, syntax.Name):
                yield variable.identifier, node


def assigned_names(body: syntax.Statement) -> frozenset[str]:
    """Give the names of variables that a body assigns or increments, or elements of them."""
    return frozenset(name for name, _ in _assignments(body))


def assigned_inside(body: syntax.Statement) -> frozenset[str]:
    """Give the names of single variables that are assigned within expressions."""
    alone = {id(expression) for node in walk(body) for expression in _alone(node)}
    return frozenset(
        name
        for name, node in _assignments(body)
        if id(node) not in alone and isinstance(node.target, syntax.Name)
    )


def _alone(node: syntax.Node) -> tuple[syntax.Expression, ...]:
    """Give the expressions of a statement that are for their effect only."""
    match node:
        case syntax.ExpressionStatement(expression):
            return (expression,)
        case syntax.For(tuple() as init, _, update):
            return (*init, *update)
        case syntax.For(_, _, update):
            return update
    return ()


def breaks(statement: syntax.Statement) -> bool:
    """Whether a statement contains a `break` that leaves the loop or switch around it."""
    return _leaves(statement, syntax.Break, (syntax.While, syntax.For, syntax.Switch))


def continues(statement: syntax.Statement) -> bool:
    """Whether a statement contains a `continue` of the loop around it."""
    return _leaves(statement, syntax.Continue, (syntax.While, syntax.For))


def _leaves(node: Node, wanted: type, catching: tuple[type, ...]) -> bool:
    if isinstance(node, wanted):
        return True
    inside = () if isinstance(node, catching) else children(node)
    return any(_leaves(each, wanted, catching) for each in inside)


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
