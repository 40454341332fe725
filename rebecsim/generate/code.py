"""Write pieces of Python code, with ranges of values, and choose names.

Sums, differences and products may be computed in Python's unbounded integers and wrapped when the
value is used: they agree modulo 2**32. So each piece of code carries the range of its value, or
None where it still has to be wrapped, and no wrapping is written where the range shows that
none is needed.

Names are Rebeca's own, unless they are taken. What a generated text uses itself is kept out of
reach of a model's names. There are three kinds: words of Python and of `rebecsim.actors`
(`HELPERS`), which the names of a model get an underscore behind; what belongs to every Rebec; and
names that begin with an underscore, which no name of a model does, as those get a `u` in front.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple

from rebecsim import actors
from rebecsim.distributions import MOST
from rebecsim.lang.checked import BYTE, FLOAT, INT, SHORT, CheckedModel, Type


class Range(NamedTuple):
    """The integers from low to high, both included."""

    low: int
    high: int

    def within(self, other: Range) -> bool:
        """Whether every value of this range lies in the other."""
        return other.low <= self.low and self.high <= other.high


RANGES: dict[Type, Range] = {
    INT: Range(-(2**31), 2**31 - 1),
    SHORT: Range(-(2**15), 2**15 - 1),
    BYTE: Range(-(2**7), 2**7 - 1),
}
# Python's precedences, loosest first.
TERNARY, OR, AND, NOT, COMPARISON, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, SIGN, ATOM = (
    range(13)
)

BITWISE = {"&": BIT_AND, "^": BIT_XOR, "|": BIT_OR}


@dataclass(frozen=True)
class Code:
    """A Python expression, how tightly it binds, and the range of an integer's value.

    The range None of an integer means: right modulo 2**32 only, wrap before use.
    """

    text: str
    precedence: int = ATOM
    range: Range | None = None

    def at(self, precedence: int) -> str:
        """Give the text, in parentheses where it stands among tighter operators."""
        return self.text if self.precedence >= precedence else f"({self.text})"


def real_arithmetic(operator: str, left: Code, right: Code, kind: Type) -> Code:
    """Write an operation of two floats or doubles."""
    if operator == "/":
        function = "float_quotient" if kind == FLOAT else "double_quotient"
        return Code(f"{function}({left.text}, {right.text})")
    result = infix(operator, left, right)
    return (
        Code(f"float32({result.text})") if kind == FLOAT else Code(result.text, result.precedence)
    )


def infix(operator: str, left: Code, right: Code) -> Code:
    """Write a sum, difference, product or bitwise operation of integers."""
    precedence = {"+": SUM, "-": SUM, "*": PRODUCT, **BITWISE}[operator]
    text = f"{left.at(precedence)} {operator} {right.at(precedence + 1)}"
    return Code(text, precedence, _combined(operator, left.range, right.range))


def integer(value: int) -> Code:
    """Write a constant."""
    return Code(repr(value), ATOM if value >= 0 else SIGN, Range(value, value))


def fitting(ends: list[int]) -> Range | None:
    """The range between the first and the last of sorted ends; None if an int cannot hold it."""
    known = Range(ends[0], ends[-1])
    return known if known.within(RANGES[INT]) else None


def hull(alternatives: Iterable[Code]) -> Range | None:
    """Give the range of a value that is one of these; None if that of one is not known."""
    low, high = [], []
    for each in alternatives:
        if each.range is None:
            return None
        low.append(each.range.low)
        high.append(each.range.high)
    return Range(min(low), max(high))


def _combined(operator: str, left: Range | None, right: Range | None) -> Range | None:
    """Give the range of a sum, difference, product or bitwise operation, None if it may wrap."""
    if left is None or right is None:
        return None
    if operator == "+":
        return fitting([left.low + right.low, left.high + right.high])
    if operator == "-":
        return fitting([left.low - right.high, left.high - right.low])
    if operator == "*":
        return fitting(sorted(a * b for a in left for b in right))
    return RANGES[INT]


TIMES = Range(0, MOST)
"""The range of what is drawn from distributions."""

HELPERS = frozenset(
    {
        *("Boolean", "Byte", "Double", "Float", "Instance", "Int", "Interface", "Model", "Rebec"),
        *("RebecNamed", "Reference", "Short", "Since", "Timer", "assign", "copied"),
        *("distribution", "double_quotient", "element", "float32", "float_quotient", "int8"),
        *("int16", "int32"),
        *("known_rebec", "message_server", "power", "quotient", "refer", "remainder", "require"),
        *("square_root", "state_variable", "store", "truncate"),
    }
)
"""The names of `rebecsim.actors` that generated modules use."""

_WORD = re.compile(r"[A-Za-z_]\w*")

_REFLECTION = frozenset(
    {"attrgetter", "eval", "exec", "getattr", "globals", "locals", "methodcaller", "vars"}
)
"""Ways to read any attribute. A check of compiled code looks for them, so no name may be one."""

_REBEC_ATTRIBUTES = frozenset(dir(actors.Rebec)) | frozenset(keyword.kwlist)
_RESERVED = frozenset(
    {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *dir(actors), *_REBEC_ATTRIBUTES}
    | _REFLECTION
)
_MEMBERS = _REBEC_ATTRIBUTES | HELPERS | _REFLECTION


def words_in(text: str) -> set[str]:
    """Give the names, and other words, that occur in a text."""
    return set(_WORD.findall(text))


def shown_name(file: str) -> str:
    """Give the name of a file as it may stand in comments and texts of generated Python."""
    name = "".join(each for each in PurePath(file).name if each.isprintable())
    return name.replace("\\", "/").replace('"', "'")


def _free(name: str, taken: Collection[str]) -> str:
    """Make a Python name of Rebeca's: no leading underscore (engines own those), not taken."""
    candidate = f"u{name}" if name.startswith("_") else name
    while candidate in taken:
        candidate += "_"
    return candidate


def constructor_name(number: int) -> str:
    """Name the method that is a class's constructor; overloads are numbered from 0."""
    return "__init__" if number == 0 else f"_construct_{number + 1}"


class ModelNames:
    """The Python names of a model's classes, interfaces, constants and members.

    A member has one name in all classes, so that a message can be sent without knowing which
    class will serve it. Rebeca keeps variables apart from message servers and methods, Python
    does not: a variable that shares its name with one of them gets an underscore.
    """

    def __init__(self, model: CheckedModel) -> None:
        module_names = set(_RESERVED) | {"model"}
        self.classes = _assign((*model.classes, *model.interfaces), module_names)
        self.constants = _assign(model.env, module_names)
        self.module_names = frozenset(module_names)

        classes = model.classes.values()
        members = set(_MEMBERS)
        callables = {server.name for each in classes for server in each.servers}
        callables |= {server.name for each in model.interfaces.values() for server in each.servers}
        callables |= {name for each in classes for name in each.methods}
        self.callables = _assign(sorted(callables), members)
        variables = {
            symbol.name
            for each in classes
            for symbol in (*each.known_rebecs, *each.state_variables)
        }
        variables.update(name for each in classes for name in each.constants)
        self.variables = _assign(sorted(variables), members)


class StepNames(ModelNames):
    """The names of a step over flat cells, which is made of functions.

    There a variable is a local that says where it lies, so that no other local may be called like
    it. `reserved` are the names that generated steps use themselves.
    """

    def __init__(self, model: CheckedModel, reserved: Collection[str]) -> None:
        super().__init__(model)
        taken = {*_RESERVED, *reserved}
        self.constants = _assign(model.env, taken)
        variables = list(self.variables)
        self.variables = _assign(variables, taken)
        lengths = _assign([f"{name}_length" for name in variables], taken)
        self.lengths = {name: lengths[f"{name}_length"] for name in variables}
        """The local that holds the length of an array."""
        self.functions: dict[tuple[str, str], str] = {}
        """The function of a message server or method of a class."""
        for each in model.classes.values():
            for name in (*(server.name for server in each.servers), *each.methods):
                key = (each.name, name)
                self.functions[key] = _free(f"{each.name}_{name}", taken)
                taken.add(self.functions[key])
        self.module_names = frozenset(taken)


def _assign(names: Collection[str], taken: set[str]) -> dict[str, str]:
    assigned: dict[str, str] = {}
    for name in names:
        assigned[name] = _free(name, taken)
        taken.add(assigned[name])
    return assigned


class LocalNames:
    """The Python names of one body's locals; blocks nest in Rebeca, functions do not in Python."""

    def __init__(self, names: ModelNames) -> None:
        self._taken = set(names.module_names) | {"self"}
        self._scopes: list[dict[str, str]] = [{}]

    def enter(self) -> None:
        """Begin a block."""
        self._scopes.append({})

    def leave(self) -> None:
        """End a block; its names may be used again."""
        self._taken.difference_update(self._scopes.pop().values())

    def declare(self, name: str) -> str:
        """Give the Python name of a new local or parameter."""
        chosen = self._scopes[-1][name] = self._chosen(name)
        return chosen

    def temporary(self, name: str) -> str:
        """Give the Python name of a local that Rebeca's text does not have."""
        chosen = self._chosen(name)
        self._scopes[-1][f"temporary {chosen}"] = chosen
        return chosen

    def _chosen(self, name: str) -> str:
        chosen = _free(name, self._taken)
        self._taken.add(chosen)
        return chosen

    def define(self, name: str, text: str) -> None:
        """Let a local or parameter of Rebeca be something that is no name."""
        self._scopes[-1][name] = text

    def __getitem__(self, name: str) -> str:
        return next(scope[name] for scope in self._inner_to_outer() if name in scope)

    def _inner_to_outer(self) -> Iterator[dict[str, str]]:
        return reversed(self._scopes)
