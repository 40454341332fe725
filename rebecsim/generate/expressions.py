"""Write Rebeca expressions as Python expressions with the same value, wrapping included."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import assert_never

from rebecsim.actors import float32
from rebecsim.generate.code import (
    AND,
    ATOM,
    BIT_AND,
    BIT_OR,
    BITWISE,
    COMPARISON,
    NOT,
    OR,
    PRODUCT,
    RANGES,
    SHIFT,
    SIGN,
    SUM,
    TERNARY,
    TIMES,
    Code,
    LocalNames,
    ModelNames,
    Range,
    constructor_name,
    fitting,
    hull,
    infix,
    integer,
    real_arithmetic,
)
from rebecsim.lang import syntax
from rebecsim.lang.checked import (
    BOOLEAN,
    BYTE,
    DOUBLE,
    FLOAT,
    INT,
    REAL,
    SHORT,
    ArrayType,
    CheckedClass,
    CheckedModel,
    PrimitiveType,
    RebecType,
    Type,
    arithmetic_type,
)
from rebecsim.lang.traversal import array_of, walk

_WRAPPERS: dict[Type, str] = {INT: "int32", SHORT: "int16", BYTE: "int8"}
_EXACT_IN_FLOAT = Range(-(2**24), 2**24)

_FUNCTIONS = {"pow": "power", "sqrt": "square_root"}

_NUMBER = re.compile(r"\d[\d.]*(e[-+]?\d+)?")

_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})


class ExpressionWriter:
    """Writes the expressions of one body, a method of a Rebec class.

    Subclasses write them for other surroundings.
    """

    builtins: Mapping[str, str] = {
        "self": "self",
        "sender": "self.sender",
        "now": "self.now",
        "currentMessageArrival": "self.current_message_arrival",
        "currentMessageDeadline": "self.current_message_deadline",
        "currentMessageWaitingTime": "self.current_message_waiting_time",
    }
    null = "None"
    identity: Mapping[str, str] = {"==": "is", "!=": "is not"}
    """How references are compared."""

    def __init__(self, model: CheckedModel, owner: CheckedClass, names: ModelNames) -> None:
        self.model = model
        self.locals = LocalNames(names)
        self._owner = owner
        self._names = names
        self.ranges: dict[str, Range] = {}
        """Locals whose value is known to stay in a range: the variables of counting loops."""

    # --- values of a wanted type ---------------------------------------------------------------

    def value(self, node: syntax.Expression, wanted: Type | None = None) -> Code:
        """Write an expression whose value, converted to the wanted type, is used as it is."""
        actual = self.model.type_of(node)
        code = self._convert(self.write(node), actual, wanted)
        if wanted in REAL and actual in RANGES and not code.text.startswith("float32("):
            return Code(f"float({code.text})")  # exact, but an integer so far
        return code

    def text(self, node: syntax.Expression, wanted: Type | None = None) -> str:
        """Write an expression that stands alone, as an argument or a right-hand side."""
        return self.value(node, wanted).text

    def _convert(self, code: Code, actual: Type, wanted: Type | None) -> Code:
        wanted = wanted or actual
        if wanted in RANGES:
            return self._to_integer(code, actual, wanted)
        if wanted == FLOAT and actual in RANGES:
            exact = self._to_integer(code, actual, INT)
            if exact.range is not None and exact.range.within(_EXACT_IN_FLOAT):
                return exact
            return Code(f"float32({exact.text})")
        if wanted == FLOAT and actual == DOUBLE:
            return code if _is_exact(code.text) else Code(f"float32({code.text})")
        return (
            self._to_integer(code, actual, INT) if wanted == DOUBLE and actual in RANGES else code
        )

    def _to_integer(self, code: Code, actual: Type, wanted: Type) -> Code:
        if actual in REAL:
            code = Code(f"truncate({code.text})", range=RANGES[INT])
        allowed = RANGES[wanted]
        if code.range is not None and code.range.within(allowed):
            return code
        return Code(f"{_WRAPPERS[wanted]}({code.text})", range=allowed)

    # --- expressions ---------------------------------------------------------------------------

    def write(self, node: syntax.Expression) -> Code:
        """Write an expression of any kind."""
        match node:
            case syntax.IntLiteral(value):
                return integer(value)
            case syntax.FloatLiteral(value, single):
                exact = not single or float32(value) == value
                return Code(repr(value) if exact else f"float32({value!r})")
            case syntax.BoolLiteral(value):
                return Code(repr(value))
            case syntax.NullLiteral():
                return Code(self.null)
            case syntax.Name():
                return self._name(node)
            case syntax.Index():
                return self._ranged(self._element(node), node)
            case syntax.Unary():
                return self._unary(node)
            case syntax.Binary():
                return self._binary(node)
            case syntax.InstanceOf():
                return self._instance_of(node)
            case syntax.Conditional():
                return self._conditional(node)
            case syntax.Assignment():
                return self._assigning(node)
            case syntax.Increment():
                return self._increment(node)
            case syntax.Cast():
                return self._cast(node)
            case syntax.Choice():
                return self._choice(node)
            case syntax.Call(method="super"):
                return Code(self._super(node))
            case syntax.Call() if self.model.is_function(node):
                return self._function(node)
            case syntax.Call():
                return self._ranged(self._call(node), node)
            case syntax.Send():
                return Code(self._send(node))
            case syntax.Member():
                raise ValueError("a variable of another rebec occurs in properties only")
            case _:
                assert_never(node)

    def _ranged(self, text: str, node: syntax.Expression) -> Code:
        return Code(text, range=RANGES.get(self.model.type_of(node)))

    def _name(self, node: syntax.Name) -> Code:
        symbol = self.model.symbol_of(node)
        if symbol.kind == "builtin":
            return self._ranged(self.builtins[symbol.name], node)
        if symbol.kind == "env":
            value = symbol.value
            known = Range(value, value) if type(value) is int else None
            return Code(self._names.constants[symbol.name], range=known)
        if symbol.kind in ("state", "known"):
            return self._ranged(f"self.{self._names.variables[symbol.name]}", node)
        name = self.locals[symbol.name]
        return Code(name, range=self.ranges.get(name, RANGES.get(symbol.type)))

    def _element(self, node: syntax.Index) -> str:
        array, index = self.element_parts(node)
        return f"{array}[{index}]"

    def element_parts(self, node: syntax.Index) -> tuple[str, str]:
        """Write an array and an index that is checked where it is not known to be in range."""
        kind = self.model.type_of(node.array)
        assert isinstance(kind, ArrayType)
        index = self.value(node.index, INT)
        if index.range is None or not index.range.within(Range(0, kind.length - 1)):
            index = Code(f"element({index.text}, {kind.length}, {self.model.line_of(node)!r})")
        return self.write(node.array).at(ATOM), index.text

    def _unary(self, node: syntax.Unary) -> Code:
        kind = self.model.type_of(node.operand)
        if node.operator == "!":
            return Code(f"not {self.write(node.operand).at(NOT)}", NOT)
        if node.operator == "+":
            return self.write(node.operand)
        operand = self.write(node.operand)
        text = f"{node.operator}{operand.at(SIGN)}"
        if kind in REAL:
            return Code(text, SIGN)
        if operand.range is None:
            return Code(text, SIGN)
        ends = (operand.range.low, operand.range.high)
        offset = 1 if node.operator == "~" else 0
        return Code(text, SIGN, fitting(sorted(-end - offset for end in ends)))

    def _binary(self, node: syntax.Binary) -> Code:
        operator = node.operator
        if operator in ("&&", "||"):
            word, precedence = ("and", AND) if operator == "&&" else ("or", OR)
            left, right = self.write(node.left), self.write(node.right)
            return Code(f"{left.at(precedence)} {word} {right.at(precedence + 1)}", precedence)
        left_type, right_type = self.model.type_of(node.left), self.model.type_of(node.right)
        if operator in _COMPARISONS:
            return self._comparison(node, left_type, right_type)
        if left_type == BOOLEAN and operator in BITWISE:
            return self._infix(operator, self.write(node.left), self.write(node.right))
        return self.arithmetic(
            operator, self.write(node.left), left_type, self.write(node.right), right_type
        )

    def _comparison(self, node: syntax.Binary, left_type: Type, right_type: Type) -> Code:
        computed = arithmetic_type(left_type, right_type)
        common = computed if computed in REAL else None
        left = self._convert(self.write(node.left), left_type, common)
        right = self._convert(self.write(node.right), right_type, common)
        operator: str = node.operator
        if isinstance(left_type, RebecType) or isinstance(right_type, RebecType):
            operator = self.identity[operator]
        return Code(f"{left.at(BIT_OR)} {operator} {right.at(BIT_OR)}", COMPARISON)

    def arithmetic(
        self, operator: str, left: Code, left_type: Type, right: Code, right_type: Type
    ) -> Code:
        """Write an arithmetic operation; operands shorter than int are promoted to it."""
        kind = arithmetic_type(left_type, right_type)
        if kind in REAL:
            left = self._convert(left, left_type, kind)
            right = self._convert(right, right_type, kind)
            return real_arithmetic(operator, left, right, kind)
        if operator in ("/", "%"):
            return self._division(operator, left, left_type, right, right_type)
        if operator in ("<<", ">>"):
            return self._shift(operator, left, left_type, right, right_type)
        return self._infix(operator, left, right)

    def _division(
        self, operator: str, left: Code, left_type: Type, right: Code, right_type: Type
    ) -> Code:
        left = self._to_integer(left, left_type, INT)
        right = self._to_integer(right, right_type, INT)
        assert left.range is not None
        assert right.range is not None
        if left.range.low >= 0 and right.range.low > 0:  # Python's rounding is the same there
            sign = "//" if operator == "/" else "%"
            text = f"{left.at(PRODUCT)} {sign} {right.at(SIGN)}"
            high = left.range.high if operator == "/" else right.range.high - 1
            return Code(text, PRODUCT, Range(0, high))
        if operator == "/":
            # -2**31 / -1 is the one quotient that does not fit
            fits = left.range.low > RANGES[INT].low
            bound = max(-left.range.low, left.range.high)
            known = Range(-bound, bound) if fits else None
            return self._divided("quotient", left, right, known)
        bound = max(abs(right.range.low), abs(right.range.high)) - 1
        known = Range(0 if left.range.low >= 0 else -bound, bound)
        return self._divided("remainder", left, right, known)

    def _divided(self, function: str, left: Code, right: Code, known: Range | None) -> Code:
        return Code(f"{function}({left.text}, {right.text})", range=known)

    def _shift(
        self, operator: str, left: Code, left_type: Type, right: Code, right_type: Type
    ) -> Code:
        count = self._to_integer(right, right_type, INT)
        if count.range is None or not count.range.within(Range(0, 31)):
            count = Code(f"({count.at(BIT_AND)} & 31)")  # what processors do with a longer shift
        if operator == ">>":
            left = self._to_integer(left, left_type, INT)
        text = f"{left.at(SHIFT)} {operator} {count.at(SUM)}"
        return Code(text, SHIFT, RANGES[INT] if operator == ">>" else None)

    def _infix(self, operator: str, left: Code, right: Code) -> Code:
        return infix(operator, left, right)

    def _instance_of(self, node: syntax.InstanceOf) -> Code:
        return Code(f"isinstance({self.text(node.operand)}, {self._names.classes[node.type.name]})")

    def _conditional(self, node: syntax.Conditional) -> Code:
        kind = self.model.type_of(node)
        then, otherwise = self.value(node.then, kind), self.value(node.otherwise, kind)
        text = f"{then.at(OR)} if {self.write(node.condition).at(OR)} else {otherwise.at(TERNARY)}"
        return Code(text, TERNARY, RANGES.get(kind))

    def _cast(self, node: syntax.Cast) -> Code:
        wanted = self.model.type_of(node)
        if isinstance(wanted, RebecType):
            return Code(f"refer({self.text(node.operand)}, {self._names.classes[wanted.name]})")
        return self.value(node.operand, wanted)

    def _choice(self, node: syntax.Choice) -> Code:
        kind = self.model.type_of(node)
        drawn = self.model.distribution_of(node)
        if drawn is not None:
            given = ", ".join(map(repr, (drawn.name, *drawn.parameters)))
            site = self.model.choice_stream(node)
            return Code(f"self.choose(distribution({given}), site={site})", range=TIMES)
        alternatives = [self.value(alternative, kind) for alternative in node.alternatives]
        arguments = ", ".join(alternative.text for alternative in alternatives)
        site = self.model.choice_stream(node)
        weights = f", weights={self._weights(node)}" if node.weights else ""
        return Code(f"self.choose({arguments}, site={site}{weights})", range=hull(alternatives))

    def _weights(self, node: syntax.Choice) -> str:
        found = [self.text(each, DOUBLE) for each in node.weights]
        return f"({', '.join(found)}{',' * (len(found) == 1)})"

    def _call(self, node: syntax.Call) -> str:
        parameters = self._owner.methods[node.method].parameters
        arguments = ", ".join(self._arguments(node.arguments, parameters))
        return f"self.{self._names.callables[node.method]}({arguments})"

    def _function(self, node: syntax.Call) -> Code:
        if node.method in ("startTimer", "stopTimer", "getTimerValue"):
            return self._timer_operation(node.method, node.arguments[0])
        arguments = ", ".join(self.text(argument, DOUBLE) for argument in node.arguments)
        return Code(f"{_FUNCTIONS[node.method]}({arguments})")

    def _timer_operation(self, name: str, timer: syntax.Expression) -> Code:
        """Write an operation on a timer: a value to be read, or a statement."""
        place = self.write(timer).text
        if name == "getTimerValue":
            return Code(f"self.timer_value({place})", range=RANGES[INT])
        return Code(f"{place} = {'self.started_timer()' if name == 'startTimer' else -1}")

    def _super(self, node: syntax.Call) -> str:
        called = self.model.super_constructor(node)
        if called is None:
            return "pass"
        name = constructor_name(self.model.constructor_number(called))
        arguments = ", ".join(self._arguments(node.arguments, called.parameters))
        return f"super().{name}({arguments})"

    def _arguments(
        self,
        arguments: tuple[syntax.Expression, ...],
        parameters: tuple[syntax.Parameter, ...],
    ) -> list[str]:
        pairs = zip(arguments, parameters, strict=True)
        return [
            self.argument(argument, self.model.declared_type(each.type)) for argument, each in pairs
        ]

    def argument(self, node: syntax.Expression, kind: Type) -> str:
        """Write what a parameter of that type gets; of an array, a copy."""
        if isinstance(kind, ArrayType):
            return f"copied({self.write(node).text})"
        return self.text(node, kind)

    def _send(self, node: syntax.Send) -> str:
        server = self.model.server_of(node)
        arguments = self._arguments(node.arguments, server.tree.parameters)
        if node.after is not None:
            arguments.append(f"after={self.text(node.after, INT)}")
        if node.deadline is not None:
            arguments.append(f"deadline={self.text(node.deadline, INT)}")
        receiver = self.write(node.receiver).at(ATOM)
        return f"{receiver}.{self._names.callables[node.server]}({', '.join(arguments)})"

    # --- assignments ---------------------------------------------------------------------------

    def assignment(self, node: syntax.Assignment | syntax.Increment) -> str:
        """Write an assignment or increment as a statement."""
        if self.order_matters(node):
            return self._assigning(node).text
        return f"{self.write(node.target).text} = {self.new_value(node).text}"

    def order_matters(self, node: syntax.Assignment | syntax.Increment) -> bool:
        """Whether it shows that Python evaluates the value before the place it is stored at."""
        if not isinstance(node.target, syntax.Index):
            return False
        if has_effect(node.target):
            return True
        if isinstance(node, syntax.Increment) or not has_effect(node.value):
            return False
        parts = list(walk(node.target)), list(walk(node.value))
        reads_state = any(
            isinstance(part, syntax.Name) and self.model.symbol_of(part).kind == "state"
            for part in parts[0]
            if part is not array_of(node.target)
        )
        assigns = any(isinstance(part, syntax.Assignment | syntax.Increment) for part in parts[1])
        return reads_state or assigns

    def _assigning(self, node: syntax.Assignment | syntax.Increment) -> Code:
        """Write an assignment or increment inside an expression; its value is the new one."""
        target = node.target
        if isinstance(target, syntax.Index):
            array, index = self.element_parts(target)
            old = Code(f"{array}[{index}]", range=RANGES.get(self.model.type_of(target)))
            if has_effect(target.index):
                old = Code(f"{array}[_place]", range=old.range)
                index = f"(_place := {index})"
            value = self.new_value(node, old)
            return Code(f"store({array}, {index}, {value.text})", range=value.range)
        value = self.new_value(node)
        assert isinstance(target, syntax.Name)
        if self.model.symbol_of(target).kind == "state":
            name = self._names.variables[target.identifier]
            return Code(f'assign(self, "{name}", {value.text})', range=value.range)
        return Code(f"({self.write(target).text} := {value.text})", range=value.range)

    def new_value(
        self, node: syntax.Assignment | syntax.Increment, old: Code | None = None
    ) -> Code:
        """Write the value that the target gets; the `old` one is read where it matters."""
        kind = self.model.type_of(node.target)
        if isinstance(node, syntax.Assignment):
            if node.operator == "=":
                return self.value(node.value, kind)
            operator, value = node.operator[:-1], self.write(node.value)
            value_type = self.model.type_of(node.value)
        else:
            operator, value, value_type = node.operator[0], integer(1), INT
        old = self.write(node.target) if old is None else old
        if kind == BOOLEAN:
            return self._infix(operator, old, value)
        return self._computed(operator, old, kind, value, value_type)

    def _computed(
        self, operator: str, left: Code, kind: Type, right: Code, right_type: Type
    ) -> Code:
        result = self.arithmetic(operator, left, kind, right, right_type)
        return self._convert(result, arithmetic_type(kind, right_type), kind)

    def _increment(self, node: syntax.Increment) -> Code:
        new = self._assigning(node)
        if node.prefix:
            return new
        if self.model.type_of(node.target) in REAL and not has_effect(node.target):
            return Code(f"({self.write(node.target).text}, {new.text})[0]")
        back = "-" if node.operator == "++" else "+"
        return self._computed(back, new, self.model.type_of(node.target), integer(1), INT)


def _is_exact(text: str) -> bool:
    """Whether a text is a literal that a single holds exactly."""
    return bool(_NUMBER.fullmatch(text)) and float32(float(text)) == float(text)


def has_effect(node: syntax.Expression) -> bool:
    """Whether evaluating an expression may change something or draw a choice."""
    effects = syntax.Assignment | syntax.Increment | syntax.Call | syntax.Choice
    return any(isinstance(part, effects) for part in walk(node))


def default_value(kind: Type, null: str = "None") -> str:
    """Write the value of a local that is declared without one; `null` is how null is written."""
    if isinstance(kind, ArrayType):
        element = default_value(kind.element)
        if isinstance(kind.element, ArrayType):
            return f"[{element} for _ in range({kind.length})]"
        return f"[{element}] * {kind.length}"
    if isinstance(kind, PrimitiveType):
        return {"boolean": "False", "float": "0.0", "double": "0.0"}.get(kind.name, "0")
    return null
