"""Write Rebeca expressions over flat cells, for compiled code.

A rebec's variables are integers in the array `cells`; what each of them stands for is said in
`rebecsim.native.codes`. As in `rebecsim.generate.expressions` a piece of code carries the range
of its value, and an integer may be right modulo 2**32 only; but products and shifts are wrapped at
once, so that no intermediate result leaves 64 bits. A value that does not fit the declared width
of its variable cannot arise: assignments wrap as Rebeca wraps.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from rebecsim.arithmetic import limits_of
from rebecsim.distributions import Distribution
from rebecsim.generate.cells import (
    ClassCells,
    FunctionNumbers,
    Site,
    StatementRun,
    constant_cells,
    element_type,
    flat_length,
)
from rebecsim.generate.code import (
    ATOM,
    COMPARISON,
    PRODUCT,
    RANGES,
    SUM,
    TIMES,
    Code,
    Range,
    StepNames,
    hull,
)
from rebecsim.generate.expressions import ExpressionWriter, has_effect
from rebecsim.lang import syntax
from rebecsim.lang.checked import (
    BOOLEAN,
    INT,
    REAL,
    ArrayType,
    CheckedClass,
    CheckedModel,
    RebecType,
    Type,
)


@dataclass(frozen=True)
class StepMethod:
    """A synchronous method as compiled code calls it."""

    name: str
    surroundings: tuple[str, ...]
    """Which of the arrays and numbers around a step it needs."""
    numbers: int | None
    """Where its row of numbers starts; None when it needs none."""
    fallible: bool


@dataclass(frozen=True)
class Surroundings:
    """What the writers of a class's bodies share.

    Attributes:
        cells: where the variables of the class lie.
        classes: the numbers of the classes that have instances.
        method: writes a method, unless that has been done.
    """

    cells: ClassCells
    classes: dict[str, int]
    method: Callable[[str], StepMethod]


class StepExpressions(ExpressionWriter):
    """Writes the expressions of one body of a step.

    Attributes:
        fallible: whether what was written since this was last reset can fail.
        used: the variables and constants that occur, by their names here: what each stands for.
        numbers: the row of numbers of the function.
        run: the statements that are being written for all of a run, if any.
        kept: how many cells the local array `kept` has. Numba does not compile assignments within
            expressions, so the locals that are assigned there are kept in an array.
    """

    builtins = {  # noqa: RUF012 - declared a Mapping where it is read
        "self": "ctx[SELF]",
        "sender": "message[SENDER]",
        "now": "ctx[NOW]",
        "currentMessageArrival": "message[ARRIVAL]",
        "currentMessageDeadline": (
            "(LATEST_DEADLINE if message[DEADLINE] == NEVER else message[DEADLINE])"
        ),
        "currentMessageWaitingTime": "(ctx[STARTED] - message[ARRIVAL])",
    }
    _names: StepNames
    null = "-1"
    identity = {"==": "==", "!=": "!="}  # noqa: RUF012 - as above

    def __init__(
        self,
        model: CheckedModel,
        owner: CheckedClass,
        names: StepNames,
        surroundings: Surroundings,
        numbers: FunctionNumbers,
    ) -> None:
        super().__init__(model, owner, names)
        self.surroundings = surroundings
        self.numbers = numbers
        self.run: StatementRun | None = None
        self.fallible = False
        self.used: dict[str, str] = {}
        self.kept = 0
        self._narrows = False
        """Whether what is written wraps a number on purpose."""
        self._line: int | str = 0

    # --- names ---------------------------------------------------------------------------------

    def _name(self, node: syntax.Name) -> Code:
        symbol = self.model.symbol_of(node)
        if symbol.kind in ("state", "known"):
            return decoded(f"cells[{self._variable(node)}]", symbol.type)
        if symbol.kind == "env":
            name = self._names.constants[symbol.name]
            (value,) = constant_cells(symbol.value, symbol.type)
            cell = self.numbers.number(symbol.name, value)
            self.used[name] = decoded(cell, symbol.type).text
        elif symbol.kind != "builtin" and self.is_kept(symbol.name):
            return decoded(self.locals[symbol.name], symbol.type)
        return super()._name(node)

    def _variable(self, node: syntax.Name) -> str:
        """Name the first cell of a variable of the rebec."""
        name = node.identifier
        places = self.surroundings.cells.places
        if self.run is not None and self.model.symbol_of(node).kind == "known":
            others = self.run.nodes(node)
            return f"base + {self.run.column(places[each.identifier].offset for each in others)}"
        shown = self._names.variables[name]
        if places[name].moves:
            offset = self.numbers.number(("offset", name), places[name].offset)
        else:
            offset = str(places[name].offset or "")
        self.used[shown] = f"base + {offset}" if offset else "base"
        return shown

    def is_kept(self, name: str) -> bool:
        """Whether a local or parameter is kept in an array."""
        return self.locals[name].startswith("kept[")

    def keep(self) -> int:
        """Give a new cell of the array `kept`."""
        self.kept += 1
        return self.kept - 1

    def write(self, node: syntax.Expression) -> Code:
        """Write an expression of any kind."""
        self._line = self.model.line_of(node)
        narrows = self._narrows
        self._narrows = narrows and _is_sum_or_product(node)
        found = self._written(node)
        self._narrows = narrows
        return found

    def _written(self, node: syntax.Expression) -> Code:
        if isinstance(node, syntax.Index):
            array, place = self._cell(node)
            return decoded(f"{array}[{place.text}]", self.model.type_of(node))
        if isinstance(node, syntax.IntLiteral) and self.run is not None:
            values = self.run.integers(node)
            if values != [node.value] * len(values):
                return Code(self.run.column(values), range=StatementRun.hull(values))
        return super().write(node)

    def place(self, node: syntax.Expression) -> tuple[str, Code] | None:
        """Give the array and the place in it where a variable begins; None for a single local."""
        if isinstance(node, syntax.Index):
            return self._cell(node)
        assert isinstance(node, syntax.Name)
        name, symbol = node.identifier, self.model.symbol_of(node)
        if symbol.kind == "env":
            cells = constant_cells(symbol.elements, symbol.type)
            return "params", Code(self.numbers.table(name, cells))
        if symbol.kind == "state":
            return "cells", Code(self._variable(node))
        if self.is_kept(name):
            return "kept", Code(self.locals[name].removeprefix("kept[").rstrip("]"))
        return (self.locals[name], Code("0")) if isinstance(symbol.type, ArrayType) else None

    def _cell(self, node: syntax.Index) -> tuple[str, Code]:
        """Give the array, of the rebec or local, and the place in it of an element."""
        kind = self.model.type_of(node.array)
        assert isinstance(kind, ArrayType)
        length = str(kind.length)
        array, start = self._start(node.array)
        if isinstance(node.array, syntax.Name):
            symbol = self.model.symbol_of(node.array)
            if symbol.kind == "state":
                length = self._names.lengths[symbol.name]
        index = self._index(node, kind.length, length)
        width = flat_length(kind.element)
        if width > 1:
            index = Code(f"{width} * {index.at(PRODUCT + 1)}", PRODUCT)
        if start.text == "0":
            return array, index
        if index.text == "0":
            return array, start
        return array, Code(f"{start.at(SUM)} + {index.at(SUM + 1)}", SUM)

    def argument(self, node: syntax.Expression, kind: Type) -> str:
        """Write what a parameter of that type gets; of an array, a copy."""
        if not isinstance(kind, ArrayType):
            return super().argument(node, kind)
        array, start = self._start(node)
        return f"copied({array}, {start.text}, {flat_length(kind)})"

    def _start(self, node: syntax.Expression) -> tuple[str, Code]:
        """Give the array, of the rebec or local, and the place in it where an array begins."""
        found = self.place(node)
        assert found is not None, "an array"
        return found

    def _index(self, node: syntax.Index, length: int, shown: str) -> Code:
        """Write an index that is checked where it is not known to be in range."""
        if self.run is not None and isinstance(node.index, syntax.IntLiteral):
            values = self.run.integers(node.index)  # even if they do not differ in this model
            index = Code(self.run.column(values), range=StatementRun.hull(values))
        else:
            index = self.value(node.index, INT)
        if index.range is not None and index.range.within(Range(0, length - 1)):
            return index
        self.fallible = True
        if not shown.isdigit():
            self.used[shown] = self.numbers.number(shown, length)
        site = self.site(node, self.model.line_of)
        return Code(f"element(ctx, {index.text}, {shown}, {site})")

    def site(self, node: syntax.Node, about: str | Callable[[syntax.Node], Site]) -> str:
        """Write the number of a place that can fail; `about` may tell what that is about a node."""
        if self.run is not None:
            return self.run.site(node, about)
        return self.numbers.site(about if isinstance(about, str) else about(node))

    # --- operations ----------------------------------------------------------------------------

    def _infix(self, operator: str, left: Code, right: Code) -> Code:
        if operator == "*":
            left, right = self._of_32_bits(left), self._of_32_bits(right)
        result = super()._infix(operator, left, right)
        return self._of_32_bits(result) if operator == "*" else result

    def _of_32_bits(self, code: Code) -> Code:
        """Bring a whole number into 32 bits: it wraps in Rebeca, and must fit in Python."""
        if code.range is not None:
            return code
        if not self.model.whole_numbers or self._narrows:
            return _wrapped(code)
        self.fallible = True
        site = self.numbers.site(self._line)
        return Code(f"fitting(ctx, {code.text}, {site})", ATOM, RANGES[INT])

    def _divided(self, function: str, left: Code, right: Code, known: Range | None) -> Code:
        if right.range is None or right.range.low <= 0 <= right.range.high:
            self.fallible = True
        return Code(f"{function}(ctx, {left.text}, {right.text})", range=known)

    def _shift(
        self, operator: str, left: Code, left_type: Type, right: Code, right_type: Type
    ) -> Code:
        if operator == "<<":
            left = self._to_integer(left, left_type, INT)
        return _wrapped(super()._shift(operator, left, left_type, right, right_type))

    def _to_integer(self, code: Code, actual: Type, wanted: Type) -> Code:
        if actual in REAL:
            self.fallible = True
            code, actual = Code(f"truncate(ctx, {code.text})", range=RANGES[INT]), INT
        if wanted == INT:
            code = self._of_32_bits(code)
        return super()._to_integer(code, actual, wanted)

    def _cast(self, node: syntax.Cast) -> Code:
        wanted = self.model.type_of(node)
        if not isinstance(wanted, RebecType):
            self._narrows, before = wanted in RANGES, self._narrows
            operand, actual = self.write(node.operand), self.model.type_of(node.operand)
            code = self._convert(operand, actual, wanted)
            self._narrows = before
            return code
        self.fallible = True
        site = self.site(node, wanted.name)
        classes = self._class_bits(wanted.name)
        return Code(f"refer(ctx, rebecs, {self.text(node.operand)}, {classes}, {site})")

    def _instance_of(self, node: syntax.InstanceOf) -> Code:
        classes = self._class_bits(node.type.name)
        return Code(f"is_one_of(rebecs, {self.text(node.operand)}, {classes})")

    def _class_bits(self, wanted: str) -> int:
        """Give the set of the classes whose rebecs are of a class or interface, as bits."""
        return sum(
            1 << number
            for name, number in self.surroundings.classes.items()
            if self.model.classes[name].is_a(wanted)
        )

    def server_number(self, node: syntax.Send, receiver: str) -> str:
        """Write the number of a message server, which may differ by the class of the receiver."""
        server, kind = self.model.server_of(node), self.model.type_of(node.receiver)
        assert isinstance(kind, RebecType)
        if kind.name in self.model.classes and server.owner in self.model.classes:
            return str(server.number)
        numbers = []
        for name in self.surroundings.classes:
            own = {each.name: each.number for each in self.model.classes[name].servers}
            is_one = self.model.classes[name].is_a(kind.name)
            numbers.append(own[server.name] if is_one else 0)
        listed = ", ".join(map(str, numbers)) + ("," if len(numbers) == 1 else "")
        return f"pick(({listed}), rebecs[{receiver}, CLASS])"

    def _choice(self, node: syntax.Choice) -> Code:
        kind = self.model.type_of(node)
        if self.model.distribution_of(node) is not None:
            return self._drawn(node)
        alternatives = [self.value(alternative, kind) for alternative in node.alternatives]
        texts = [f"float({each.text})" if kind in REAL else each.text for each in alternatives]
        listed = ", ".join(texts) + ("," if len(texts) == 1 else "")
        choose, chances = "choose", str(len(texts))
        if node.weights:
            choose, chances = "choose_weighted", f"params, {self._limits(node)}, {len(texts)}"
        drawn = f"{choose}(ctx, streams, choices, {chances}, {self._place(node)})"
        return Code(f"pick(({listed}), {drawn})", range=hull(alternatives))

    def _place(self, node: syntax.Choice) -> str:
        """Write the number of a choice in its class, and that of its random stream."""
        if self.run is None:
            return f"{self.model.choice_site(node)}, {self.model.choice_stream(node)}"
        nodes = self.run.nodes(node)
        site = stream = self.run.column(map(self.model.choice_site, nodes))
        if self.model.choice_streams:
            stream = self.run.column(map(self.model.choice_stream, nodes))
        return f"{site}, {stream}"

    def _drawn(self, node: syntax.Choice) -> Code:
        """Write a draw from a distribution, whose numbers lie among those of the model."""
        nodes = [node] if self.run is None else self.run.nodes(node)
        found = [each for one in nodes if (each := self.model.distribution_of(one)) is not None]
        rows = [drawn_numbers(each) for each in found]
        if self.run is None:
            about = self.numbers.table(("drawn", *rows[0]), rows[0])
        else:
            about = self.run.column(map(self.numbers.place, rows))
        drawn = f"draw(ctx, streams, choices, params, {about}, {self._place(node)})"
        return Code(drawn, range=TIMES)

    def _limits(self, node: syntax.Choice) -> str:
        """Write where the limits of the shares of the alternatives begin."""
        found = [
            limits_of(shares)
            for each in ([node] if self.run is None else self.run.nodes(node))
            if (shares := self.model.shares_of(each)) is not None
        ]
        if self.run is None:
            return self.numbers.table(("limits", *found[0]), found[0])
        return self.run.column(map(self.numbers.place, found))

    def _call(self, node: syntax.Call) -> str:
        method = self.surroundings.method(node.method)
        row = () if method.numbers is None else (self.numbers.number(method, method.numbers),)
        arguments = [
            *method.surroundings,
            *row,
            *self._arguments(node.arguments, self._owner.methods[node.method].parameters),
        ]
        self.fallible |= method.fallible
        return f"{method.name}({', '.join(arguments)})"

    def _timer_operation(self, name: str, timer: syntax.Expression) -> Code:
        found = self.place(timer)
        assert found is not None, "a timer is a state variable"
        array, place = found
        if name == "getTimerValue":
            return Code(f"timer_value(ctx, {array}[{place.text}])", range=RANGES[INT])
        value = "ctx[NOW]" if name == "startTimer" else "NO_TIME"
        return Code(f"store(ctx, {array}, {place.text}, {value})")

    # --- assignments ---------------------------------------------------------------------------

    def _assigning(self, node: syntax.Assignment | syntax.Increment) -> Code:
        """Write an assignment or increment inside an expression; its value is the new one."""
        kind = self.model.type_of(node.target)
        found = self.place(node.target)
        assert found is not None, "locals that are assigned inside expressions are kept"
        array, place = found
        stored = place.text
        if isinstance(node.target, syntax.Index) and has_effect(node.target):
            cell = self.keep()
            place, stored = Code(f"kept[{cell}]"), f"store(ctx, kept, {cell}, {stored})"
        value = self.new_value(node, decoded(f"{array}[{place.text}]", kind))
        result = decoded(f"store(ctx, {array}, {stored}, {encoded(value.text, kind)})", kind)
        return Code(result.text, result.precedence, value.range)


def drawn_numbers(drawn: Distribution) -> tuple[int, ...]:
    """Give what `rebecsim.native.operations.draw` reads of a distribution."""
    kind, *numbers = drawn.numbers
    bits = struct.unpack("<3q", struct.pack("<3d", *numbers))
    return (kind, *bits, len(drawn), *drawn, len(drawn.data), *drawn.data)


def decoded(cell: str, kind: Type) -> Code:
    """Read a value of a type from the integer that stands for it."""
    kind = element_type(kind)
    if kind == BOOLEAN:
        return Code(f"{cell} != 0", COMPARISON)
    if kind in REAL:
        return Code(f"real({cell})")
    return Code(cell, range=RANGES.get(kind))


def encoded(value: str, kind: Type) -> str:
    """Give the integer that stands for a value; a boolean becomes one by itself."""
    return f"bits({value})" if element_type(kind) in REAL else value


def _is_sum_or_product(node: syntax.Expression) -> bool:
    """Whether wrapping the parts of an expression wraps the whole: it is right modulo 2**32."""
    return isinstance(node, syntax.Binary) and node.operator in ("+", "-", "*")


def _wrapped(code: Code) -> Code:
    return code if code.range is not None else Code(f"int32({code.text})", ATOM, RANGES[INT])
