"""Read values and operators of Python classes as those of Rebeca."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

from rebecsim.lang import syntax
from rebecsim.lang.checked import ANY_REBEC, BOOLEAN, DOUBLE, FLOAT, INT, NULL, RebecType, Type
from rebecsim.lang.syntax import Binary, BinaryOperator, Conditional, Span, UnaryOperator
from rebecsim.steps.pieces import (
    INTEGERS,
    ClassFacts,
    Piece,
    Program,
    constant,
    join,
    least,
    literal,
    type_name,
)
from rebecsim.steps.source import NotUnderstoodError

ARITHMETIC: dict[type, BinaryOperator] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
BITWISE: dict[type, BinaryOperator] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_COMPARISONS: dict[type, BinaryOperator] = {
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
_SIGNS: dict[type, UnaryOperator] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
NUMBERS = INTEGERS | {DOUBLE}


class ValueReader:
    """Reads operators and constants of one function of a class; names and calls come on top.

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
            ast.UnaryOp: self._unary,
            ast.BinOp: self._binary,
            ast.BoolOp: self._logical,
            ast.Compare: self._compare,
            ast.IfExp: self._conditional,
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
            raise self.refused(node, f"`{shown(node)}` cannot be translated to Rebeca")
        return rule(node)

    def _constant(self, node: ast.Constant) -> Piece:
        found = constant(node.value, self.span(node))
        if found is None:
            raise self.refused(node, f"the value {shown(node)} has no type in Rebeca")
        return found

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
        if found.type in NUMBERS:
            zero = literal(0 if found.type in INTEGERS else 0.0, self.span(node))
        elif isinstance(found.type, RebecType):
            zero = literal(None, self.span(node))
        else:
            raise self.refused(node, f"`{shown(node)}` is used as a condition, but is not boolean")
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
        if wanted == FLOAT and found.type in NUMBERS:
            raise self.refused(node, "a Float needs `float32(...)` around its value")
        raise self.refused(node, f"`{shown(node)}` is of type {found.type}, not {wanted}")

    def _is_a(self, one: RebecType, other: RebecType) -> bool:
        if one == ANY_REBEC:
            return False
        of = {name: found for found, name in self.program.names.items()}
        return issubclass(of[one.name], of[other.name])

    def twice(self, found: Piece, node: ast.AST) -> None:
        """Raise NotUnderstoodError for a value that may not be written twice."""
        if not found.pure:
            raise self.refused(
                node, f"`{shown(node)}` has an effect; assign it to a local variable first"
            )

    def widened(self, tree: syntax.Expression, span: Span, pure: bool = True) -> Piece:
        """Give a float as Python has it, a double of the same value."""
        wide = syntax.Cast(type_name(DOUBLE, span), tree, span=span)
        return Piece(wide, DOUBLE, pure=pure, single=tree)

    # --- operators -------------------------------------------------------------------------------

    def _unary(self, node: ast.UnaryOp) -> Piece:
        if isinstance(node.op, ast.Not):
            return self.condition(node)
        found, span = self.read(node.operand), self.span(node)
        sign = _SIGNS[type(node.op)]
        if found.value and sign == "-" and found.type in NUMBERS:
            folded = constant(-found.value[0], span)
            if folded is not None:
                return folded
        if found.type not in NUMBERS or (sign == "~" and found.type == DOUBLE):
            raise self.refused(node, f"`{shown(node.operand)}` is not a number")
        kind = INT if found.type in INTEGERS else DOUBLE
        return Piece(syntax.Unary(sign, found.tree, span=span), kind, pure=found.pure)

    def _binary(self, node: ast.BinOp) -> Piece:
        return self.combined(node.op, self.read(node.left), self.read(node.right), node)

    def combined(self, sign: ast.operator, left: Piece, right: Piece, node: ast.AST) -> Piece:
        """Give what an operator makes of two values."""
        if isinstance(sign, ast.Add) and {left.type, right.type} <= {BOOLEAN, *INTEGERS}:
            left, right = self.counted(left, node), self.counted(right, node)
        span, kinds = self.span(node), {left.type, right.type}
        pure = left.pure and right.pure
        if left.value and right.value and type(sign) in _FOLDED:
            return self._folded(_FOLDED[type(sign)], left, right, node)
        bits = BITWISE.get(type(sign))
        if bits is not None and (kinds == {BOOLEAN} or kinds <= INTEGERS):
            kind = BOOLEAN if kinds == {BOOLEAN} else INT
            low = 0 if left.is_natural and right.is_natural else None
            return Piece(Binary(bits, left.tree, right.tree, span=span), kind, low, pure=pure)
        if not kinds <= NUMBERS:
            raise self.refused(node, f"`{shown(node)}` is not arithmetic of numbers")
        if type(sign) in ARITHMETIC:
            symbol = ARITHMETIC[type(sign)]
            kind = DOUBLE if DOUBLE in kinds else INT
            low = _low_of(symbol, left, right) if kind == INT else None
            return Piece(Binary(symbol, left.tree, right.tree, span=span), kind, low, pure=pure)
        if isinstance(sign, ast.FloorDiv | ast.Mod) and kinds <= INTEGERS:
            return self._divided("/" if isinstance(sign, ast.FloorDiv) else "%", left, right, node)
        if isinstance(sign, ast.Div) and right.value and right.value[0] != 0:
            tree = syntax.Cast(type_name(DOUBLE, span), left.tree, span=span)
            return Piece(Binary("/", tree, right.tree, span=span), DOUBLE, pure=pure)
        if isinstance(sign, ast.LShift | ast.RShift) and kinds <= INTEGERS and right.value:
            return self._shifted(sign, left, right, node)
        raise self.refused(
            node, f"`{shown(node)}`: the operator cannot be translated to Rebeca here"
        )

    def counted(self, found: Piece, node: ast.AST) -> Piece:
        """Give a boolean as 0 or 1."""
        if found.type != BOOLEAN:
            return found
        one, zero = literal(1, self.span(node)), literal(0, self.span(node))
        tree = Conditional(found.tree, one, zero, span=self.span(node))
        return Piece(tree, INT, 0, pure=found.pure)

    def _folded(
        self, compute: Callable[[Any, Any], Any], left: Piece, right: Piece, node: ast.AST
    ) -> Piece:
        try:
            found = constant(compute(left.value[0], right.value[0]), self.span(node))
        except (ArithmeticError, TypeError, ValueError):
            found = None
        if found is None:
            raise self.refused(node, f"`{shown(node)}` has no value in Rebeca")
        return found

    def _divided(self, sign: BinaryOperator, left: Piece, right: Piece, node: ast.AST) -> Piece:
        """Divide whole numbers as Python does, which rounds down where Rebeca drops the rest."""
        span = self.span(node)
        pure = left.pure and right.pure
        if left.is_natural and right.is_natural:
            return Piece(Binary(sign, left.tree, right.tree, span=span), INT, 0, pure=pure)
        if not right.is_natural:
            raise self.refused(node, f"`{shown(node)}` divides by a value that may be negative")
        self.twice(left, node)
        self.twice(right, node)
        zero, one = literal(0, span), literal(1, span)
        above = Binary(sign, left.tree, right.tree, span=span)
        minus = Binary("-", Binary("-", zero, one, span=span), left.tree, span=span)
        below = Binary(sign, minus, right.tree, span=span)
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
            raise self.refused(node, f"`{shown(node)}` shifts by {places} places")
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
            raise self.refused(node, f"`{shown(node)}` is neither true nor false")
        return self._joined(node.op, found, node)

    def _joined(self, word: ast.boolop, found: Sequence[Piece], node: ast.AST) -> Piece:
        sign: BinaryOperator = "&&" if isinstance(word, ast.And) else "||"
        tree = found[0].tree
        for each in found[1:]:
            tree = Binary(sign, tree, each.tree, span=self.span(node))
        return Piece(tree, BOOLEAN, pure=all(each.pure for each in found))

    def _compare(self, node: ast.Compare) -> Piece:
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            return self._among(node)
        operands = [self.read(each) for each in (node.left, *node.comparators)]
        for each in operands[1:-1]:
            self.twice(each, node)
        pairs = zip(operands, node.ops, operands[1:], strict=False)
        found = [self.compared(sign, left, right, node) for left, sign, right in pairs]
        return found[0] if len(found) == 1 else self._joined(ast.And(), found, node)

    def compared(self, sign: ast.cmpop, left: Piece, right: Piece, node: ast.AST) -> Piece:
        """Give whether two values compare as an operator says."""
        kinds = {left.type, right.type}
        symbol = _COMPARISONS.get(type(sign))
        identity = isinstance(sign, ast.Is | ast.IsNot)
        rebecs = all(isinstance(each, RebecType) or each == NULL for each in kinds)
        fits = rebecs or kinds == {BOOLEAN} or (kinds <= NUMBERS and not identity)
        if symbol is None or not fits or (not kinds <= NUMBERS and symbol not in ("==", "!=")):
            raise self.refused(node, f"`{shown(node)}` compares {left.type} with {right.type}")
        tree = Binary(symbol, left.tree, right.tree, span=self.span(node))
        return Piece(tree, BOOLEAN, pure=left.pure and right.pure)

    def _among(self, node: ast.Compare) -> Piece:
        choices = node.comparators[0]
        if not isinstance(choices, ast.Tuple | ast.List | ast.Set) or not choices.elts:
            raise self.refused(node, f"`{shown(choices)}` is not a literal list")
        found = self.read(node.left)
        self.twice(found, node)
        equal = [self.compared(ast.Eq(), found, self.read(each), node) for each in choices.elts]
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
            raise self.refused(node, f"`{shown(node)}` is {then.type} or {otherwise.type}")
        tree = Conditional(test.tree, then.tree, otherwise.tree, span=self.span(node))
        pure = test.pure and then.pure and otherwise.pure
        low = least((then.low, otherwise.low)) if kind in INTEGERS else None
        return Piece(tree, kind, low, pure=pure)


def shown(node: ast.AST) -> str:
    """Give the text of a piece of code, its beginning if it is long."""
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _low_of(sign: BinaryOperator, left: Piece, right: Piece) -> int | None:
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
