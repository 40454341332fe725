"""Read expressions of Python classes as expressions of Rebeca with the same value."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

from rebecsim import actors
from rebecsim.actors.rebec import Interface, Rebec
from rebecsim.distributions import DISTRIBUTIONS, Distribution
from rebecsim.lang import syntax
from rebecsim.lang.checked import (
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
from rebecsim.lang.syntax import Binary, BinaryOperator, Conditional
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
from rebecsim.steps.source import known_value, value_of_name
from rebecsim.steps.values import NUMBERS, ValueReader, shown

_TIMES = {
    "now": "now",
    "current_message_arrival": "currentMessageArrival",
    "current_message_deadline": "currentMessageDeadline",
    "current_message_waiting_time": "currentMessageWaitingTime",
}
_NARROW: dict[object, Type] = {actors.int32: INT, actors.int16: SHORT, actors.int8: BYTE}
_OPERATIONS: dict[object, BinaryOperator] = {
    actors.quotient: "/",
    actors.remainder: "%",
    actors.float_quotient: "/",
    actors.double_quotient: "/",
}
_FUNCTIONS: dict[object, str] = {actors.power: "pow", actors.square_root: "sqrt"}


class ExpressionReader(ValueReader):
    """Reads the expressions of one function of a class: names, elements and calls, too."""

    def __init__(
        self, program: Program, facts: ClassFacts, function: FunctionType, tree: ast.FunctionDef
    ) -> None:
        super().__init__(program, facts, function, tree)
        self._rules |= {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Subscript: self.element,
            ast.Call: self._call,
        }

    # --- names and attributes --------------------------------------------------------------------

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
            raise self.refused(node, f"`{node.id}` is not a number, boolean or list of these")
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
            raise self.refused(node, f"`{shown(node)}` is not a number")
        if not isinstance(node, ast.Name) or node.id in self.locals or node.id in self.keys:
            raise self.refused(node, f"`{shown(node)}` cannot be translated to Rebeca")
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
                raise self.refused(node, f"`{shown(node)}` is not a number")
            return found
        if name in self.facts.state:
            in_rebeca, kind = self.facts.state[name]
            tree = syntax.Name(in_rebeca, span=span)
            if kind == FLOAT:
                return self.widened(tree, span)
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
        array = type_of_constant(member) if type(member) is tuple else None
        if isinstance(array, ArrayType):
            tree = syntax.Name(str(self.program.constant(name, member, span)), span=span)
            return Piece(tree, array, least(_lows(member)))
        found = None if name.startswith("_") or member is None else constant(member, span)
        if found is None:
            raise self.refused(
                node, f"`{shown(node)}` is not a state variable, known rebec or number"
            )
        return found

    def _module_value(self, node: ast.Attribute) -> Any:
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or self.is_self(root) or root.id in self.locals:
            raise self.refused(node, f"`{shown(node)}` reads the state of another rebec")
        return self.outer(node)

    # --- elements --------------------------------------------------------------------------------

    def element(self, node: ast.Subscript) -> Piece:
        """Read an element of an array; as in Python, -1 is the last one."""
        if isinstance(node.value, ast.Tuple | ast.List):
            return self._listed(node, node.value.elts)
        array = self.read(node.value)
        if not isinstance(array.type, ArrayType):
            raise self.refused(node, f"`{shown(node.value)}` is not an array")
        index = self.index(node.slice, array.type.length)
        span = self.span(node)
        tree = syntax.Index(array.tree, index.tree, span=span)
        if array.type.element == FLOAT:
            return self.widened(tree, span, index.pure)
        return Piece(tree, array.type.element, array.low, pure=index.pure)

    def _listed(self, node: ast.Subscript, elements: list[ast.expr]) -> Piece:
        """Read an element of a list that stands there; all are tested for, so none may do more."""
        found, span = list(map(self.read, elements)), self.span(node)
        for piece, each in zip(found, elements, strict=True):
            self.twice(piece, each)
        if len(found) < 2:
            raise self.refused(node, f"`{shown(node)}` has no choice of elements")
        index = self.index(node.slice, len(found))
        self.twice(index, node)
        places = self.program.constant("places", range(len(found)), span)
        assert places is not None
        tested: syntax.Expression = syntax.Index(
            syntax.Name(places, span=span), index.tree, span=span
        )  # an error for an index that is too large
        tests = []
        for number in range(len(found) - 1):
            test = Binary("==", tested, literal(number, span), span=span)
            tests.append(Piece(test, BOOLEAN))
            tested = index.tree
        chosen = found[-1]
        for test_of, piece in zip(reversed(tests), reversed(found[:-1]), strict=True):
            chosen = self.chosen(test_of, piece, chosen, node)
        return chosen

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
        self.twice(found, node)
        is_negative = Binary("<", found.tree, literal(0, span), span=span)
        from_end = Binary("+", found.tree, literal(length, span), span=span)
        return Piece(Conditional(is_negative, from_end, found.tree, span=span), INT)

    # --- calls -----------------------------------------------------------------------------------

    def _called(self, node: ast.Call) -> Any:
        """Give the function that is called by its name, if it is none of the model's own."""
        if isinstance(node.func, ast.Name) and node.func.id not in self.locals:
            return known_value(node.func.id, self.function)
        return None

    def _call(self, node: ast.Call) -> Piece:
        match node.func:
            case ast.Attribute(owner, name) if self.is_self(owner):
                return self._own_call(node, name)
            case ast.Name():
                return self._function(node, self._called(node))
        raise self.refused(node, f"`{shown(node.func)}(...)` gives no value in Rebeca")

    def _own_call(self, node: ast.Call, name: str) -> Piece:
        span = self.span(node)
        if name == "choose":
            return self._choose(node)
        if name == "timer_value":
            timer = self.read(node.args[0])
            if timer.type != TIMER:
                raise self.refused(node, f"`{shown(node.args[0])}` is not a timer")
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
                raise self.refused(node, f"`{name}` is called with the wrong arguments")
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
                raise self.refused(node, f"`{shown(node)}`: the site must be a literal number")
            site = number
        drawn = self._distribution(node.args[0]) if len(node.args) == 1 else None
        if drawn is not None:
            given = tuple(literal(each, span) for each in drawn.parameters)
            tree = syntax.Choice((syntax.Call(drawn.name, given, span=span),), span=span)
            self.program.sites.append((tree, site))
            return Piece(tree, INT, 0, pure=False)
        found: list[Piece] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                found += self._starred(each)
            else:
                found.append(self.read(each))
        kind: Type | None = found[0].type if found else None
        for piece in found:
            self.twice(piece, node)
            kind = None if kind is None else join(kind, piece.type)
        if kind is None or isinstance(kind, ArrayType):
            raise self.refused(node, f"`{shown(node)}` has alternatives of different types")
        trees = tuple(piece.tree for piece in found)
        tree = syntax.Choice(trees, tuple(piece.tree for piece in weights), span=span)
        self.program.sites.append((tree, site))
        return Piece(tree, kind, least(piece.low for piece in found), pure=False)

    def _distribution(self, node: ast.expr) -> Distribution | None:
        """Read a distribution: of the module, of the class, or made here; None: it is none."""
        found: Any = None
        match node:
            case ast.Attribute(owner, name) if self.is_self(owner):
                found = _static(self.facts.owner, name)
            case ast.Name(name) if name not in self.locals:
                found = self.outer(node)
            case ast.Attribute():
                found = self._module_value(node)
            case ast.Call(ast.Name() | ast.Attribute() as function, arguments) if not (
                isinstance(function, ast.Attribute) and self.is_self(function.value)
            ):
                called = self.outer(function)
                if called not in DISTRIBUTIONS:
                    return None
                pieces = [
                    piece
                    for each in arguments
                    for piece in (
                        self._starred(each) if isinstance(each, ast.Starred) else [self.read(each)]
                    )
                ]
                named = {word.arg: self.read(word.value).value for word in node.keywords}
                if not all(each.value for each in pieces) or not all(named.values()):
                    raise self.refused(node, f"`{shown(node)}` is not known before it runs")
                keywords = {str(word): value[0] for word, value in named.items()}
                found = called(*(each.value[0] for each in pieces), **keywords)
        return found if isinstance(found, Distribution) else None

    def _starred(self, node: ast.Starred) -> list[Piece]:
        match node.value:
            case ast.Tuple(elements) | ast.List(elements):
                return [self.read(each) for each in elements]
            case ast.Call(ast.Name("range"), arguments) if not node.value.keywords:
                bounds = [self.read(each).value for each in arguments]
                if all(bounds):
                    values: Sequence[Any] = range(*(each[0] for each in bounds))
                else:
                    raise self.refused(node, f"`{shown(node)}` is not known before it runs")
            case _:
                values = self.outer(node.value)
        if not isinstance(values, list | tuple | range):
            raise self.refused(node, f"`{shown(node)}` is not a list of constants")
        found = [constant(each, self.span(node)) for each in values]
        if None in found:
            raise self.refused(node, f"`{shown(node)}` holds something other than numbers")
        return [each for each in found if each is not None]

    def _function(self, node: ast.Call, called: Any) -> Piece:
        span = self.span(node)
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            raise self.refused(node, f"`{shown(node)}` cannot be translated to Rebeca")
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
        if name is not None and all(each.type in NUMBERS for each in given):
            call = syntax.Call(name, tuple(each.tree for each in given), span=span)
            return Piece(call, DOUBLE, pure=pure)
        sign = None if not callable(called) else _OPERATIONS.get(called)
        if sign is not None and len(given) == 2:
            return self._operation(called, sign, given, node)
        raise self.refused(node, f"`{shown(node.func)}(...)` cannot be translated to Rebeca")

    def _operation(
        self, called: Any, sign: BinaryOperator, given: list[Piece], node: ast.Call
    ) -> Piece:
        """Read a division as Rebeca does it."""
        span = self.span(node)
        left, right = given
        kinds, pure = {left.type, right.type}, left.pure and right.pure
        if called in (actors.quotient, actors.remainder) and kinds <= INTEGERS:
            low = 0 if left.is_natural and (right.is_natural or sign == "%") else None
            return Piece(Binary(sign, left.tree, right.tree, span=span), INT, low, pure=pure)
        if called in (actors.float_quotient, actors.double_quotient) and kinds <= NUMBERS:
            kind = FLOAT if called is actors.float_quotient else DOUBLE
            trees = [syntax.Cast(type_name(kind, span), each.tree, span=span) for each in given]
            tree = Binary("/", trees[0], trees[1], span=span)
            return self.widened(tree, span, pure) if kind == FLOAT else Piece(tree, kind, pure=pure)
        raise self.refused(node, f"`{shown(node)}` is not a division of numbers")

    def _is_instance(self, node: ast.Call) -> Piece:
        found = self.program.rebec_type(self.outer(node.args[1]))
        operand = self.read(node.args[0])
        if found is None or not isinstance(operand.type, RebecType):
            raise self.refused(node, f"`{shown(node)}` does not name a class of the model")
        tree = syntax.InstanceOf(
            operand.tree, type_name(found, self.span(node)), span=self.span(node)
        )
        return Piece(tree, BOOLEAN, pure=operand.pure)

    def _extreme(self, sign: BinaryOperator, given: list[Piece], node: ast.Call) -> Piece:
        found = given[0]
        for each in given[1:]:
            self.twice(found, node)
            self.twice(each, node)
            if {found.type, each.type} - NUMBERS:
                raise self.refused(node, f"`{shown(node)}` compares values that are not numbers")
            test = Binary(sign, found.tree, each.tree, span=self.span(node))
            lows = [bound for bound in (found.low, each.low) if bound is not None]
            found = self.chosen(Piece(test, BOOLEAN), each, found, node)
            if sign == "<" and lows and found.type in INTEGERS:
                found = replace(found, low=max(lows))
        return found

    def _converted(self, called: Any, given: Piece, node: ast.Call) -> Piece | None:
        """Read a conversion; None: it is none."""
        span, kind = self.span(node), given.type
        is_number = kind in NUMBERS
        narrow = _NARROW.get(called) if callable(called) else None
        if narrow is not None and kind in INTEGERS:
            tree = syntax.Cast(type_name(narrow, span), given.tree, span=span)
            return Piece(tree, INT, given.low if narrow == INT else None, pure=given.pure)
        if called is actors.float32 and is_number:
            single = syntax.Cast(type_name(FLOAT, span), given.tree, span=span)
            return self.widened(single, span, given.pure)
        if called in (actors.truncate, int) and kind == DOUBLE:
            tree = syntax.Cast(type_name(INT, span), given.tree, span=span)
            return Piece(tree, INT, pure=given.pure)
        if called is int and kind in INTEGERS:
            return given
        if called is int and kind == BOOLEAN:
            return self.counted(given, node)
        if called is bool:
            return self.truth(given, node)
        if called is float and is_number:
            tree = syntax.Cast(type_name(DOUBLE, span), given.tree, span=span)
            return Piece(tree, DOUBLE, pure=given.pure)
        if called is abs and is_number:
            self.twice(given, node)
            zero = literal(0 if kind in INTEGERS else 0.0, span)
            test = Binary("<", given.tree, zero, span=span)
            minus = syntax.Unary("-", given.tree, span=span)
            low = 0 if kind in INTEGERS else None
            return Piece(Conditional(test, minus, given.tree, span=span), kind, low, (), given.pure)
        return None


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
