"""Read expressions of Python classes as expressions of Rebeca with the same value."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

from rebecsim import actors
from rebecsim.actors.rebec import Interface, Rebec
from rebecsim.lang import syntax
from rebecsim.lang.syntax import Binary, Conditional, Span
from rebecsim.lang.types import (
    ANY_REBEC,
    BOOLEAN,
    BYTE,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    SHORT,
    TIMER,
    ArrayType,
    RebecType,
    Type,
)
from rebecsim.steps.pieces import (
    INTEGERS,
    ClassFacts,
    Piece,
    Program,
    Signature,
    constant,
    join,
    least,
    literal,
    type_name,
    type_of_constant,
)
from rebecsim.steps.source import NotUnderstoodError, value_of_name

_TIMES = {
    "now": "now",
    "current_message_arrival": "currentMessageArrival",
    "current_message_deadline": "currentMessageDeadline",
    "current_message_waiting_time": "currentMessageWaitingTime",
}
_ARITHMETIC: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_BITWISE: dict[type, str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_COMPARISONS: dict[type, str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "==",
    ast.IsNot: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_FOLDED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Div: operator.truediv,
}
_NUMBERS = INTEGERS | {DOUBLE}
_NARROW: dict[object, Type] = {actors.int32: INT, actors.int16: SHORT, actors.int8: BYTE}
_OPERATIONS: dict[object, str] = {
    actors.quotient: "/",
    actors.remainder: "%",
    actors.float_quotient: "/",
    actors.double_quotient: "/",
}
_FUNCTIONS: dict[object, str] = {actors.power: "pow", actors.square_root: "sqrt"}


class ExpressionReader:
    """Reads the expressions of one function of a class.

    Attributes:
        locals: what the names of locals and parameters stand for.
        keys: what signs and types of locals are noted under, by their names.
    """

    def __init__(
        self, program: Program, facts: ClassFacts, function: FunctionType, tree: ast.FunctionDef
    ) -> None:
        self.program = program
        self.facts = facts
        self.function = function
        self.tree = tree
        self.locals: dict[str, Piece] = {}
        self.keys: dict[str, Hashable] = {}
        arguments = [*tree.args.posonlyargs, *tree.args.args]
        self.self_name = arguments[0].arg if arguments else ""
        self._rules: dict[type, Callable[[Any], Piece]] = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Subscript: self.element,
            ast.UnaryOp: self._unary,
            ast.BinOp: self._binary,
            ast.BoolOp: self._logical,
            ast.Compare: self._compare,
            ast.IfExp: self._conditional,
            ast.Call: self._call,
        }

    def refused(self, node: ast.AST, reason: str) -> NotUnderstoodError:
        """Make the error for something in the function."""
        return self.facts.source.refused(node, reason)

    def span(self, node: ast.AST) -> Span:
        """Give the place of a node."""
        return self.facts.source.span(node)

    # --- values ----------------------------------------------------------------------------------

    def read(self, node: ast.expr) -> Piece:
        """Read an expression with a single value."""
        rule = self._rules.get(type(node))
        if rule is None:
            raise self.refused(node, f"`{_shown(node)}` has no meaning in Rebeca")
        return rule(node)

    def condition(self, node: ast.expr) -> Piece:
        """Read what is tested: like Python, numbers other than 0 and rebecs are true."""
        match node:
            case ast.UnaryOp(ast.Not(), operand):
                inner = self.condition(operand)
                tree = syntax.Unary("!", inner.tree, span=self.span(node))
                return Piece(tree, BOOLEAN, pure=inner.pure)
            case ast.BoolOp(word, values):
                return self._joined(word, [self.condition(each) for each in values], node)
        return self.truth(self.read(node), node)

    def truth(self, found: Piece, node: ast.expr) -> Piece:
        """Give whether Python takes a value for true."""
        if found.type == BOOLEAN:
            return found
        if found.type in _NUMBERS:
            zero = literal(0 if found.type in INTEGERS else 0.0, self.span(node))
        elif isinstance(found.type, RebecType):
            zero = literal(None, self.span(node))
        else:
            raise self.refused(node, f"`{_shown(node)}` is tested, and is no condition")
        tree = Binary("!=", found.tree, zero, span=self.span(node))
        return Piece(tree, BOOLEAN, pure=found.pure)

    def fitted(self, found: Piece, wanted: Type, node: ast.AST) -> Piece:
        """Give a value as one of a type that a variable has, exactly."""
        if wanted == found.type or {wanted, found.type} <= INTEGERS:
            return found
        if wanted == DOUBLE and found.type in INTEGERS:
            return found
        if isinstance(wanted, RebecType):
            if found.type == NULL:
                return found
            if isinstance(found.type, RebecType):
                if self._is_a(found.type, wanted):
                    return found
                tree = syntax.Cast(type_name(wanted, self.span(node)), found.tree)
                return Piece(replace(tree, span=self.span(node)), wanted, pure=found.pure)
        if wanted == FLOAT and found.single is not None:
            return Piece(found.single, FLOAT, pure=found.pure)
        if wanted == FLOAT and found.type in _NUMBERS:
            raise self.refused(node, "a Float needs `float32(...)` around its value")
        raise self.refused(node, f"`{_shown(node)}` is of type {found.type}, not {wanted}")

    def _is_a(self, one: RebecType, other: RebecType) -> bool:
        if one == ANY_REBEC:
            return False
        of = {name: found for found, name in self.program.names.items()}
        return issubclass(of[one.name], of[other.name])

    # --- names and attributes --------------------------------------------------------------------

    def _constant(self, node: ast.Constant) -> Piece:
        found = constant(node.value, self.span(node))
        if found is None:
            raise self.refused(node, f"the value {_shown(node)} has no type in Rebeca")
        return found

    def _name(self, node: ast.Name) -> Piece:
        if node.id == self.self_name:
            tree = syntax.Name("self", span=self.span(node))
            return Piece(tree, RebecType(self.facts.name))
        if node.id in self.locals:
            found = self.locals[node.id]
            return replace(found, tree=replace(found.tree, span=self.span(node)))
        value = self.outer(node)
        name = None if value is None else self.program.constant(node.id, value, self.span(node))
        kind = NULL if value is None else type_of_constant(_tupled(value))
        if kind is None or (name is None and value is not None):
            raise self.refused(node, f"`{node.id}` is no number, boolean or list of these")
        if name is None:
            return Piece(literal(None, self.span(node)), NULL, value=(None,))
        tree = syntax.Name(name, span=self.span(node))
        if isinstance(kind, ArrayType):
            return Piece(tree, kind, least(_lows(value)))
        return Piece(tree, kind, value if kind == INT else None, (value,))

    def outer(self, node: ast.expr) -> Any:
        """Give what a name outside the function stands for, or an attribute of a module."""
        if isinstance(node, ast.Attribute):
            owner = self.outer(node.value)
            if isinstance(owner, ModuleType) and hasattr(owner, node.attr):
                return getattr(owner, node.attr)
            raise self.refused(node, f"`{_shown(node)}` is no number")
        if not isinstance(node, ast.Name) or node.id in self.locals or node.id in self.keys:
            raise self.refused(node, f"`{_shown(node)}` has no meaning in Rebeca")
        try:
            return value_of_name(node.id, self.function)
        except KeyError:
            raise self.refused(node, f"`{node.id}` has no value here") from None

    def is_self(self, node: ast.expr) -> bool:
        """Whether a node is the rebec itself."""
        return isinstance(node, ast.Name) and node.id == self.self_name

    def _attribute(self, node: ast.Attribute) -> Piece:
        name, span = node.attr, self.span(node)
        if not self.is_self(node.value):
            found = constant(self._module_value(node), span)
            if found is None:
                raise self.refused(node, f"`{_shown(node)}` is no number")
            return found
        if name in self.facts.state:
            shown, kind = self.facts.state[name]
            tree = syntax.Name(shown, span=span)
            if kind == FLOAT:
                return self._widened(tree, span)
            inner = kind
            while isinstance(inner, ArrayType):
                inner = inner.element
            low = self.program.low(("state", name)) if inner in INTEGERS else None
            return Piece(tree, kind, low)
        if name in self.facts.known:
            return Piece(syntax.Name(name, span=span), self.facts.known[name])
        if name == "sender":
            return Piece(syntax.Name("sender", span=span), ANY_REBEC)
        if name in _TIMES:
            low = None if name == "current_message_deadline" else 0
            return Piece(syntax.Name(_TIMES[name], span=span), INT, low)
        member = _static(self.facts.owner, name)
        found = None if name.startswith("_") or member is None else constant(member, span)
        if found is None:
            raise self.refused(
                node, f"`{_shown(node)}` is no state variable, known rebec or number"
            )
        return found

    def _module_value(self, node: ast.Attribute) -> Any:
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or self.is_self(root) or root.id in self.locals:
            raise self.refused(node, f"`{_shown(node)}` reads what is not the rebec's own")
        return self.outer(node)

    # --- elements --------------------------------------------------------------------------------

    def element(self, node: ast.Subscript) -> Piece:
        """Read an element of an array; as in Python, -1 is the last one."""
        array = self.read(node.value)
        if not isinstance(array.type, ArrayType):
            raise self.refused(node, f"`{_shown(node.value)}` is no array")
        index = self.index(node.slice, array.type.length)
        span = self.span(node)
        tree = syntax.Index(array.tree, index.tree, span=span)
        if array.type.element == FLOAT:
            return self._widened(tree, span, index.pure)
        return Piece(tree, array.type.element, array.low, pure=index.pure)

    def _widened(self, tree: syntax.Expression, span: Span, pure: bool = True) -> Piece:
        """Give a float as Python has it, a double of the same value."""
        wide = syntax.Cast(type_name(DOUBLE, span), tree, span=span)
        return Piece(wide, DOUBLE, pure=pure, single=tree)

    def index(self, node: ast.expr, length: int) -> Piece:
        """Read an index of an array of this length."""
        if isinstance(node, ast.Call) and self._called(node) is actors.element:
            return self.fitted(self.read(node.args[0]), INT, node)  # never from the end
        found = self.fitted(self.read(node), INT, node)
        if found.is_natural:
            return found
        span = self.span(node)
        if found.value:
            inside = found.value[0] + length
            return found if inside < 0 else Piece(literal(inside, span), INT, inside)
        self._twice(found, node)
        is_negative = Binary("<", found.tree, literal(0, span), span=span)
        from_end = Binary("+", found.tree, literal(length, span), span=span)
        return Piece(Conditional(is_negative, from_end, found.tree, span=span), INT)

    def _twice(self, found: Piece, node: ast.AST) -> None:
        if not found.pure:
            raise self.refused(
                node, f"`{_shown(node)}` has an effect; give it to a local variable first"
            )

    # --- operators -------------------------------------------------------------------------------

    def _unary(self, node: ast.UnaryOp) -> Piece:
        if isinstance(node.op, ast.Not):
            return self.condition(node)
        found, span = self.read(node.operand), self.span(node)
        sign = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)]
        if found.value and sign == "-" and found.type in _NUMBERS:
            folded = constant(-found.value[0], span)
            if folded is not None:
                return folded
        if found.type not in _NUMBERS or (sign == "~" and found.type == DOUBLE):
            raise self.refused(node, f"`{_shown(node.operand)}` is no number")
        kind = INT if found.type in INTEGERS else DOUBLE
        return Piece(syntax.Unary(sign, found.tree, span=span), kind, pure=found.pure)  # type: ignore[arg-type]

    def _binary(self, node: ast.BinOp) -> Piece:
        return self.combined(node.op, self.read(node.left), self.read(node.right), node)

    def combined(self, sign: ast.operator, left: Piece, right: Piece, node: ast.AST) -> Piece:
        """Give what an operator makes of two values."""
        span, kinds = self.span(node), {left.type, right.type}
        pure = left.pure and right.pure
        if left.value and right.value and type(sign) in _FOLDED:
            return self._folded(_FOLDED[type(sign)], left, right, node)
        bits = _BITWISE.get(type(sign))
        if bits is not None and (kinds == {BOOLEAN} or kinds <= INTEGERS):
            kind = BOOLEAN if kinds == {BOOLEAN} else INT
            low = 0 if left.is_natural and right.is_natural else None
            return Piece(Binary(bits, left.tree, right.tree, span=span), kind, low, pure=pure)  # type: ignore[arg-type]
        if not kinds <= _NUMBERS:
            raise self.refused(node, f"`{_shown(node)}` is no arithmetic of numbers")
        if type(sign) in _ARITHMETIC:
            shown = _ARITHMETIC[type(sign)]
            kind = DOUBLE if DOUBLE in kinds else INT
            low = _low_of(shown, left, right) if kind == INT else None
            return Piece(Binary(shown, left.tree, right.tree, span=span), kind, low, pure=pure)  # type: ignore[arg-type]
        if isinstance(sign, ast.FloorDiv | ast.Mod) and kinds <= INTEGERS:
            return self._divided("/" if isinstance(sign, ast.FloorDiv) else "%", left, right, node)
        if isinstance(sign, ast.Div) and right.value and right.value[0] != 0:
            tree = syntax.Cast(type_name(DOUBLE, span), left.tree, span=span)
            return Piece(Binary("/", tree, right.tree, span=span), DOUBLE, pure=pure)
        if isinstance(sign, ast.LShift | ast.RShift) and kinds <= INTEGERS and right.value:
            return self._shifted(sign, left, right, node)
        raise self.refused(node, f"`{_shown(node)}`: the operator has no meaning in Rebeca here")

    def _folded(
        self, compute: Callable[[Any, Any], Any], left: Piece, right: Piece, node: ast.AST
    ) -> Piece:
        try:
            found = constant(compute(left.value[0], right.value[0]), self.span(node))
        except (ArithmeticError, TypeError, ValueError):
            found = None
        if found is None:
            raise self.refused(node, f"`{_shown(node)}` has no value in Rebeca")
        return found

    def _divided(self, sign: str, left: Piece, right: Piece, node: ast.AST) -> Piece:
        """Divide whole numbers as Python does, which rounds down where Rebeca drops the rest."""
        span = self.span(node)
        pure = left.pure and right.pure
        if left.is_natural and right.is_natural:
            return Piece(Binary(sign, left.tree, right.tree, span=span), INT, 0, pure=pure)  # type: ignore[arg-type]
        if not right.is_natural:
            raise self.refused(node, f"`{_shown(node)}` divides by what may be negative")
        self._twice(left, node)
        self._twice(right, node)
        zero, one = literal(0, span), literal(1, span)
        above = Binary(sign, left.tree, right.tree, span=span)  # type: ignore[arg-type]
        minus = Binary("-", Binary("-", zero, one, span=span), left.tree, span=span)
        below = Binary(sign, minus, right.tree, span=span)  # type: ignore[arg-type]
        first = Binary("-", zero, one, span=span)
        if sign == "%":
            first = Binary("-", right.tree, one, span=span)
        below = Binary("-", first, below, span=span)
        is_above = Binary(">=", left.tree, zero, span=span)
        low = 0 if sign == "%" else None
        return Piece(Conditional(is_above, above, below, span=span), INT, low, pure=pure)

    def _shifted(self, sign: ast.operator, left: Piece, right: Piece, node: ast.AST) -> Piece:
        places = right.value[0]
        if not 0 <= places <= (30 if isinstance(sign, ast.LShift) else 31):
            raise self.refused(node, f"`{_shown(node)}` shifts by {places} places")
        if isinstance(sign, ast.LShift):
            return self.combined(
                ast.Mult(), left, Piece(literal(1 << places, self.span(node)), INT, 1), node
            )
        low = 0 if left.is_natural else None
        tree = Binary(">>", left.tree, right.tree, span=self.span(node))
        return Piece(tree, INT, low, pure=left.pure)

    def _logical(self, node: ast.BoolOp) -> Piece:
        found = [self.read(each) for each in node.values]
        if any(each.type != BOOLEAN for each in found):
            raise self.refused(node, f"`{_shown(node)}` is a value that is none of true and false")
        return self._joined(node.op, found, node)

    def _joined(self, word: ast.boolop, found: Sequence[Piece], node: ast.AST) -> Piece:
        sign = "&&" if isinstance(word, ast.And) else "||"
        tree = found[0].tree
        for each in found[1:]:
            tree = Binary(sign, tree, each.tree, span=self.span(node))  # type: ignore[arg-type]
        return Piece(tree, BOOLEAN, pure=all(each.pure for each in found))

    def _compare(self, node: ast.Compare) -> Piece:
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            return self._among(node)
        operands = [self.read(each) for each in (node.left, *node.comparators)]
        for each in operands[1:-1]:
            self._twice(each, node)
        pairs = zip(operands, node.ops, operands[1:], strict=False)
        found = [self._compared(sign, left, right, node) for left, sign, right in pairs]
        return found[0] if len(found) == 1 else self._joined(ast.And(), found, node)

    def _compared(self, sign: ast.cmpop, left: Piece, right: Piece, node: ast.AST) -> Piece:
        kinds = {left.type, right.type}
        shown = _COMPARISONS.get(type(sign))
        identity = isinstance(sign, ast.Is | ast.IsNot)
        rebecs = all(isinstance(each, RebecType) or each == NULL for each in kinds)
        fits = rebecs or kinds == {BOOLEAN} or (kinds <= _NUMBERS and not identity)
        if shown is None or not fits or (not kinds <= _NUMBERS and shown not in ("==", "!=")):
            raise self.refused(node, f"`{_shown(node)}` compares {left.type} with {right.type}")
        tree = Binary(shown, left.tree, right.tree, span=self.span(node))  # type: ignore[arg-type]
        return Piece(tree, BOOLEAN, pure=left.pure and right.pure)

    def _among(self, node: ast.Compare) -> Piece:
        choices = node.comparators[0]
        if not isinstance(choices, ast.Tuple | ast.List | ast.Set) or not choices.elts:
            raise self.refused(node, f"`{_shown(choices)}` is no list that is written out")
        found = self.read(node.left)
        self._twice(found, node)
        equal = [self._compared(ast.Eq(), found, self.read(each), node) for each in choices.elts]
        inside = self._joined(ast.Or(), equal, node)
        if isinstance(node.ops[0], ast.In):
            return inside
        tree = syntax.Unary("!", inside.tree, span=self.span(node))
        return Piece(tree, BOOLEAN, pure=inside.pure)

    def _conditional(self, node: ast.IfExp) -> Piece:
        return self.chosen(
            self.condition(node.test), self.read(node.body), self.read(node.orelse), node
        )

    def chosen(self, test: Piece, then: Piece, otherwise: Piece, node: ast.AST) -> Piece:
        """Give one of two values, as a condition says."""
        kind = join(then.type, otherwise.type)
        if kind is None:
            raise self.refused(node, f"`{_shown(node)}` is {then.type} or {otherwise.type}")
        tree = Conditional(test.tree, then.tree, otherwise.tree, span=self.span(node))
        pure = test.pure and then.pure and otherwise.pure
        low = least((then.low, otherwise.low)) if kind in INTEGERS else None
        return Piece(tree, kind, low, pure=pure)

    # --- calls -----------------------------------------------------------------------------------

    def _called(self, node: ast.Call) -> Any:
        """Give the function that is called by its name, if it is none of the model's own."""
        if isinstance(node.func, ast.Name) and node.func.id not in self.locals:
            try:
                return value_of_name(node.func.id, self.function)
            except KeyError:
                return None
        return None

    def _call(self, node: ast.Call) -> Piece:
        match node.func:
            case ast.Attribute(owner, name) if self.is_self(owner):
                return self._own_call(node, name)
            case ast.Name():
                return self._function(node, self._called(node))
        raise self.refused(node, f"`{_shown(node.func)}(...)` gives no value in Rebeca")

    def _own_call(self, node: ast.Call, name: str) -> Piece:
        span = self.span(node)
        if name == "choose":
            return self._choose(node)
        if name == "timer_value":
            timer = self.read(node.args[0])
            if timer.type != TIMER:
                raise self.refused(node, f"`{_shown(node.args[0])}` is no timer")
            call = syntax.Call("getTimerValue", (timer.tree,), span=span)
            return Piece(call, INT, pure=False)
        if name in self.facts.methods and name not in self.facts.servers:
            signature = self.signature(name, node)
            given = self.arguments(node, name, signature)
            if signature.returns is None:
                raise self.refused(node, f"`{name}` gives no value")
            low = self.program.low(("returns", name)) if signature.returns in INTEGERS else None
            return Piece(syntax.Call(name, given, span=span), signature.returns, low, pure=False)
        raise self.refused(node, f"`self.{name}(...)` gives no value in Rebeca")

    def signature(self, name: str, node: ast.AST) -> Signature:
        """Give the parameters of a method of the class."""
        function = self.facts.methods[name]
        found = self.program.signatures.get(function)
        if found is None:
            raise self.refused(node, f"the types of the method `{name}` are not understood")
        self.program.note_call(name)
        return found

    def arguments(
        self, node: ast.Call, name: str, signature: Signature, drop: frozenset[str] = frozenset()
    ) -> tuple[syntax.Expression, ...]:
        """Read arguments in the order of the parameters; keywords in `drop` are none."""
        given: dict[str, ast.expr] = {}
        for place, each in enumerate(node.args):
            if isinstance(each, ast.Starred) or place >= len(signature.names):
                raise self.refused(node, f"`{name}` is given other arguments than it has")
            given[signature.names[place]] = each
        for word in node.keywords:
            if word.arg in drop:
                continue
            if word.arg is None or word.arg not in signature.names or word.arg in given:
                raise self.refused(node, f"`{name}` has no such argument: {word.arg}")
            given[word.arg] = word.value
        found = []
        parameters = zip(signature.names, signature.types, signature.defaults, strict=True)
        for parameter, kind, default in parameters:
            value = given.get(parameter, default)
            if value is None:
                raise self.refused(node, f"`{name}` needs the argument `{parameter}`")
            piece = self.fitted(self.read(value), kind, value)
            self.program.note(("parameter", name, parameter), piece)
            found.append(piece.tree)
        return tuple(found)

    def _choose(self, node: ast.Call) -> Piece:
        span, site = self.span(node), 0
        weights: list[Piece] = []
        for word in node.keywords:
            if word.arg == "weights":
                weights = self._starred(ast.copy_location(ast.Starred(word.value), word.value))
                continue
            number = constant_int(word.value)
            if word.arg != "site" or number is None or number < 0:
                raise self.refused(
                    node, f"`{_shown(node)}`: the site must be a number that stands there"
                )
            site = number
        found: list[Piece] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                found += self._starred(each)
            else:
                found.append(self.read(each))
        kind: Type | None = found[0].type if found else None
        for piece in found:
            self._twice(piece, node)
            kind = None if kind is None else join(kind, piece.type)
        if kind is None or isinstance(kind, ArrayType):
            raise self.refused(node, f"`{_shown(node)}` has alternatives of different types")
        trees = tuple(piece.tree for piece in found)
        tree = syntax.Choice(trees, tuple(piece.tree for piece in weights), span=span)
        self.program.sites.append((tree, site))
        return Piece(tree, kind, least(piece.low for piece in found), pure=False)

    def _starred(self, node: ast.Starred) -> list[Piece]:
        match node.value:
            case ast.Tuple(elements) | ast.List(elements):
                return [self.read(each) for each in elements]
            case ast.Call(ast.Name("range"), arguments) if not node.value.keywords:
                bounds = [self.read(each).value for each in arguments]
                if all(bounds):
                    values: Sequence[Any] = range(*(each[0] for each in bounds))
                else:
                    raise self.refused(node, f"`{_shown(node)}` is not known before it runs")
            case _:
                values = self.outer(node.value)
        if not isinstance(values, list | tuple | range):
            raise self.refused(node, f"`{_shown(node)}` is no list of constants")
        found = [constant(each, self.span(node)) for each in values]
        if None in found:
            raise self.refused(node, f"`{_shown(node)}` holds what is no number")
        return [each for each in found if each is not None]

    def _function(self, node: ast.Call, called: Any) -> Piece:
        span = self.span(node)
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            raise self.refused(node, f"`{_shown(node)}` has no meaning in Rebeca")
        if called is len and len(node.args) == 1:
            array = self.read(node.args[0])
            if isinstance(array.type, ArrayType):
                return Piece(literal(array.type.length, span), INT, 0, (array.type.length,))
        if called is isinstance and len(node.args) == 2:
            return self._is_instance(node)
        if called is actors.refer and len(node.args) == 2:
            wanted = self.program.rebec_type(self.outer(node.args[1]))
            if wanted is not None:
                operand = self.read(node.args[0])
                tree = syntax.Cast(type_name(wanted, span), operand.tree, span=span)
                return Piece(tree, wanted, pure=operand.pure)
        given = [self.read(each) for each in node.args]
        if called in (min, max) and len(given) > 1:
            return self._extreme(">" if called is min else "<", given, node)
        if len(given) == 1 and (found := self._converted(called, given[0], node)) is not None:
            return found
        name = None if not callable(called) else _FUNCTIONS.get(called)
        pure = all(each.pure for each in given)
        if name is not None and all(each.type in _NUMBERS for each in given):
            call = syntax.Call(name, tuple(each.tree for each in given), span=span)
            return Piece(call, DOUBLE, pure=pure)
        sign = None if not callable(called) else _OPERATIONS.get(called)
        if sign is not None and len(given) == 2:
            return self._operation(called, sign, given, node)
        raise self.refused(node, f"`{_shown(node.func)}(...)` has no meaning in Rebeca")

    def _operation(self, called: Any, sign: str, given: list[Piece], node: ast.Call) -> Piece:
        """Read a division as Rebeca does it."""
        span = self.span(node)
        left, right = given
        kinds, pure = {left.type, right.type}, left.pure and right.pure
        if called in (actors.quotient, actors.remainder) and kinds <= INTEGERS:
            low = 0 if left.is_natural and (right.is_natural or sign == "%") else None
            return Piece(Binary(sign, left.tree, right.tree, span=span), INT, low, pure=pure)  # type: ignore[arg-type]
        if called in (actors.float_quotient, actors.double_quotient) and kinds <= _NUMBERS:
            kind = FLOAT if called is actors.float_quotient else DOUBLE
            trees = [syntax.Cast(type_name(kind, span), each.tree, span=span) for each in given]
            tree = Binary("/", trees[0], trees[1], span=span)
            return (
                self._widened(tree, span, pure) if kind == FLOAT else Piece(tree, kind, pure=pure)
            )
        raise self.refused(node, f"`{_shown(node)}` is no division of numbers")

    def _is_instance(self, node: ast.Call) -> Piece:
        found = self.program.rebec_type(self.outer(node.args[1]))
        operand = self.read(node.args[0])
        if found is None or not isinstance(operand.type, RebecType):
            raise self.refused(node, f"`{_shown(node)}` asks for no class of the model")
        tree = syntax.InstanceOf(
            operand.tree, type_name(found, self.span(node)), span=self.span(node)
        )
        return Piece(tree, BOOLEAN, pure=operand.pure)

    def _extreme(self, sign: str, given: list[Piece], node: ast.Call) -> Piece:
        found = given[0]
        for each in given[1:]:
            self._twice(found, node)
            self._twice(each, node)
            if {found.type, each.type} - _NUMBERS:
                raise self.refused(node, f"`{_shown(node)}` compares what are no numbers")
            test = Binary(sign, found.tree, each.tree, span=self.span(node))  # type: ignore[arg-type]
            lows = [bound for bound in (found.low, each.low) if bound is not None]
            found = self.chosen(Piece(test, BOOLEAN), each, found, node)
            if sign == "<" and lows and found.type in INTEGERS:
                found = replace(found, low=max(lows))
        return found

    def _converted(self, called: Any, given: Piece, node: ast.Call) -> Piece | None:
        """Read a conversion; None: it is none."""
        span, kind = self.span(node), given.type
        is_number = kind in _NUMBERS
        narrow = _NARROW.get(called) if callable(called) else None
        if narrow is not None and kind in INTEGERS:
            tree = syntax.Cast(type_name(narrow, span), given.tree, span=span)
            return Piece(tree, INT, given.low if narrow == INT else None, pure=given.pure)
        if called is actors.float32 and is_number:
            single = syntax.Cast(type_name(FLOAT, span), given.tree, span=span)
            return self._widened(single, span, given.pure)
        if called in (actors.truncate, int) and kind == DOUBLE:
            tree = syntax.Cast(type_name(INT, span), given.tree, span=span)
            return Piece(tree, INT, pure=given.pure)
        if called is int and kind in INTEGERS:
            return given
        if called is int and kind == BOOLEAN:
            one = Conditional(given.tree, literal(1, span), literal(0, span), span=span)
            return Piece(one, INT, 0, pure=given.pure)
        if called is bool:
            return self.truth(given, node)
        if called is float and is_number:
            tree = syntax.Cast(type_name(DOUBLE, span), given.tree, span=span)
            return Piece(tree, DOUBLE, pure=given.pure)
        if called is abs and is_number:
            self._twice(given, node)
            zero = literal(0 if kind in INTEGERS else 0.0, span)
            test = Binary("<", given.tree, zero, span=span)
            minus = syntax.Unary("-", given.tree, span=span)
            low = 0 if kind in INTEGERS else None
            return Piece(Conditional(test, minus, given.tree, span=span), kind, low, (), given.pure)
        return None


def _shown(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:57]}..."


shown = _shown


def _static(owner: type, name: str) -> Any:
    for each in owner.__mro__:
        if name in vars(each):
            return vars(each)[name] if each not in (Rebec, Interface, object) else None
    return None


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _lows(values: Any) -> list[int | None]:
    return [each if type(each) is int else None for each in values]


def constant_int(node: ast.expr) -> int | None:
    """Give a whole number that stands there."""
    match node:
        case ast.Constant(int() as value) if type(value) is int:
            return value
    return None


def _low_of(sign: str, left: Piece, right: Piece) -> int | None:
    """Give a lower bound of a sum, difference or product of whole numbers."""
    if left.low is None:
        return None
    if sign == "-":
        return left.low - right.value[0] if right.value and type(right.value[0]) is int else None
    if right.low is None:
        return None
    if sign == "+":
        return left.low + right.low
    return left.low * right.low if left.low >= 0 and right.low >= 0 else None
