"""Find reads of a variable that decide nothing, in the checked tree of a model.

The variable, others that are left out of the state and get a value made of it, and locals that do,
are *followed*. A statement that reads none of them, and runs whatever they are, does the same for
all their values. Any other statement is harmless only if it is one of these:

* an assignment to a variable that is left out or to a local, which are followed from there on; its
  value is made by operations that cannot fail for one value of what is followed and not for another
* an `if` or `switch` that tests such a value and does nothing but such assignments

Everything else that reads what is followed decides. So nothing that decides is missed; now and
then something is said to decide that does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from rebecsim.exploration.analysis.footprints import bodies_of
from rebecsim.lang import CheckedModel, syntax
from rebecsim.lang.checked import REAL, ArrayType, CheckedClass, RebecType
from rebecsim.lang.syntax import Binary, Index, Name
from rebecsim.lang.traversal import walk


class DecidingPlace(NamedTuple):
    """What a variable decides, as a phrase, and where it does."""

    what: str
    span: syntax.Span


def decision_of(
    checked: CheckedModel, own: CheckedClass, name: str, left_out: Set[str]
) -> DecidingPlace | None:
    """Give the first thing that a variable of a class decides; None: nothing.

    `left_out` are all its variables that are left out of the state.
    """
    followed = {name}
    known = 0
    while known != len(followed):  # until no further variable gets a value made of it
        known = len(followed)
        for tree in bodies_of(checked, own):
            if tree.body is None:
                continue
            body, size = _Body(checked, left_out, followed, tree.body), -1
            while size != len(body.locals):  # until no further local does
                size = len(body.locals)
                for found in body.decided((tree.body,), conditional=False):
                    return found
    return None


class _Body:
    """Looks through one body; `locals` are those that are followed."""

    def __init__(
        self,
        checked: CheckedModel,
        left_out: Set[str],
        followed: set[str],
        body: syntax.Block,
    ) -> None:
        self._checked = checked
        self._left_out = left_out
        self._followed = followed
        self.locals: set[str] = set()
        self._only_written = {
            id(node.target)
            for node in walk(body)
            if isinstance(node, syntax.Assignment) and node.operator == "="
        }

    # --- statements ------------------------------------------------------------------------------

    def decided(self, body: Sequence[syntax.Node], *, conditional: bool) -> Iterator[DecidingPlace]:
        """Give what is decided in statements.

        `conditional`: whether they run depends on what is followed.
        """
        for statement in body:
            yield from self._in_statement(statement, conditional)

    def _in_statement(self, node: syntax.Node, conditional: bool) -> Iterator[DecidingPlace]:
        match node:
            case syntax.EmptyStatement():
                pass
            case syntax.Block(statements):
                yield from self.decided(statements, conditional=conditional)
            case syntax.ExpressionStatement(expression):
                yield from self._in_statement(expression, conditional)
            case syntax.LocalDeclaration(_, variables):
                for name, value in variables:
                    if conditional or (value is not None and self._reads(value)):
                        self.locals.add(name)
                    if value is not None and not self._is_harmless(value, conditional):
                        yield self._named(value, f"the value of {name}")
            case syntax.Assignment(target, "=", value):
                yield from self._in_assignment(target, value, conditional)
            case syntax.Assignment(target, operator, value):
                whole = Binary(operator[:-1], target, value, span=node.span)  # type: ignore[arg-type]
                yield from self._in_assignment(target, whole, conditional)
            case syntax.Increment(target):
                whole = Binary("+", target, syntax.IntLiteral(1), span=node.span)
                yield from self._in_assignment(target, whole, conditional)
            case syntax.If(test, then, otherwise):
                parts = (then,) if otherwise is None else (then, otherwise)
                yield from self._in_branches(test, parts, conditional)
            case syntax.Switch(subject, cases):
                inside = (each for case in cases for each in case.statements)
                own = tuple(each for each in inside if not isinstance(each, syntax.Break))
                yield from self._in_branches(subject, own, conditional)
            case _ if conditional:
                yield self._named(node, "what is done")
            case syntax.While(test, then):
                if self._reads(test):
                    yield self._named(test, "a branch")
                yield from self._in_statement(then, False)
            case syntax.For(init, test, update, then):
                first = init if isinstance(init, tuple) else (init,)
                yield from self.decided(first, conditional=False)
                if test is not None and self._reads(test):
                    yield self._named(test, "a branch")
                yield from self.decided((*update, then), conditional=False)
            case syntax.Return() if self._reads(node):
                yield DecidingPlace("what a method gives", node.span)
            case _ if self._reads(node):
                yield self._named(node, "what is done")

    def _in_branches(
        self, test: syntax.Expression, parts: Sequence[syntax.Node], conditional: bool
    ) -> Iterator[DecidingPlace]:
        decides = conditional or self._reads(test)
        if decides and not self._is_harmless(test, conditional):
            yield self._named(test, "a branch")
        for found in self.decided(parts, conditional=decides):
            if conditional or not decides or found.what.startswith("the value"):
                yield found
            else:
                yield DecidingPlace("a branch", test.span)

    def _in_assignment(
        self, target: syntax.Expression, value: syntax.Expression, conditional: bool
    ) -> Iterator[DecidingPlace]:
        matters = conditional or self._reads(value) or self._reads(target)
        if matters and not self._is_harmless(value, conditional):
            yield self._named(value, _given(target))
        match target:
            case Name(name) if self._is_left_out(target):
                if isinstance(self._checked.type_of(target), ArrayType) and name in self._followed:
                    # its elements could from now on be those of another array, too
                    yield DecidingPlace("the elements of an array", target.span)
                if matters:
                    self._followed.add(name)
            case Index(Name(name) as array) if self._is_left_out(array):
                if matters and not self._is_harmless(target, conditional):
                    yield DecidingPlace("an index", target.span)
                if matters:
                    self._followed.add(name)
            case Name(name) if self._checked.symbol_of(target).kind in ("local", "parameter"):
                if matters:
                    self.locals.add(name)
            case Index(_, index) if self._reads(index):
                yield self._named(index, "an index")
            case _ if matters:
                yield DecidingPlace(_given(target), target.span)

    def _is_left_out(self, node: Name) -> bool:
        return self._checked.symbol_of(node).kind == "state" and node.identifier in self._left_out

    # --- expressions -----------------------------------------------------------------------------

    def _reads(self, node: syntax.Node) -> bool:
        """Whether something that is followed is read anywhere in a node."""
        return any(
            isinstance(each, Name)
            and id(each) not in self._only_written
            and self._is_followed(each)
            for each in walk(node)
        )

    def _is_followed(self, node: Name) -> bool:
        symbol = self._checked.symbol_of(node)
        if symbol.kind == "state":
            return symbol.name in self._followed
        return symbol.kind in ("local", "parameter") and symbol.name in self.locals

    def _is_harmless(self, node: syntax.Node, conditional: bool) -> bool:
        """Whether evaluating an expression does nothing but give a value.

        If it is not `conditional`, what reads nothing followed may do anything, as it always does.
        """
        if not conditional and not self._reads(node):
            return True
        match node:
            case (
                Name()
                | syntax.IntLiteral()
                | syntax.FloatLiteral()
                | syntax.BoolLiteral()
                | syntax.NullLiteral()
            ):
                return True
            case Index(array, index):
                return self._is_harmless(array, conditional) and self._is_element(
                    array, index, conditional
                )
            case syntax.Unary(_, operand) | syntax.InstanceOf(operand):
                return self._is_harmless(operand, conditional)
            case Binary("&&" | "||", left, right):
                return self._in_turn((left, right), conditional)
            case Binary(_, left, right):
                return (
                    self._is_harmless(left, conditional)
                    and self._is_harmless(right, conditional)
                    and (not self._divides(node) or self._is_divisor(right, conditional))
                )
            case syntax.Conditional(test, then, otherwise):
                return self._in_turn((test, then), conditional) and self._in_turn(
                    (test, otherwise), conditional
                )
            case syntax.Cast(_, operand):
                return not self._may_not_fit(node) and self._is_harmless(operand, conditional)
            case syntax.ArrayInitializer(values):
                return all(self._is_harmless(each, conditional) for each in values)
            case syntax.Call("pow" | "sqrt", arguments) if self._checked.is_function(node):
                return all(self._is_harmless(each, conditional) for each in arguments)
        return False

    def _in_turn(self, values: Sequence[syntax.Expression], conditional: bool) -> bool:
        """Whether values are harmless of which each decides if the next one is asked for."""
        for value in values:
            if not self._is_harmless(value, conditional):
                return False
            conditional = conditional or self._reads(value)
        return True

    def _divides(self, node: Binary) -> bool:
        """Whether an operation has no value for some whole numbers."""
        operands = (node.left, node.right)
        return node.operator in ("/", "%") and REAL.isdisjoint(map(self._checked.type_of, operands))

    def _is_divisor(self, divisor: syntax.Expression, conditional: bool) -> bool:
        """Whether dividing by a number fails for no value of what is followed, or for all."""
        if self._checked.is_constant(divisor):
            return bool(self._checked.constant_of(divisor))
        return not conditional and not self._reads(divisor)

    def _is_element(
        self, array: syntax.Expression, index: syntax.Expression, conditional: bool
    ) -> bool:
        """The same for an element of an array."""
        kind = self._checked.type_of(array)
        if self._checked.is_constant(index) and isinstance(kind, ArrayType):
            place = self._checked.constant_of(index)
            return isinstance(place, int) and 0 <= place < kind.length
        return not conditional and not self._reads(index)

    def _may_not_fit(self, node: syntax.Cast) -> bool:
        """Whether a cast fails for some values: whole numbers are wrapped, and do not."""
        before, after = self._checked.type_of(node.operand), self._checked.type_of(node)
        return isinstance(after, RebecType) or (before in REAL and after not in REAL)

    def _named(self, node: syntax.Node, otherwise: str) -> DecidingPlace:
        """Say what is decided in a node: the innermost operation that is given what is followed."""
        found = DecidingPlace(otherwise, node.span)
        for each in walk(node):
            what = self._decided_by(each) if self._reads(each) else ""
            if what:
                found = DecidingPlace(what, each.span)
        return found

    def _decided_by(self, node: syntax.Node) -> str:
        match node:
            case syntax.Choice():
                return "a choice"
            case syntax.Delay():
                return "a time"
            case syntax.Assertion():
                return "an assertion"
            case Index(_, index) if self._reads(index):
                return "an index"
            case Binary(operator) if self._divides(node):
                return f"whether there is a {'quotient' if operator == '/' else 'remainder'}"
            case syntax.Cast() if self._may_not_fit(node):
                is_rebec = isinstance(self._checked.type_of(node), RebecType)
                return "which rebec is meant" if is_rebec else "whether a number fits"
            case syntax.Send(_, _, _, after, deadline):
                timed = [each for each in (after, deadline) if each is not None]
                return "a time" if any(map(self._reads, timed)) else "what is sent"
            case syntax.Call() if not self._checked.is_function(node):
                return "what a method is given"
        return ""


def _given(target: syntax.Expression) -> str:
    """Say what an assignment decides."""
    while isinstance(target, Index):
        target = target.array
    return f"the value of {target.identifier if isinstance(target, Name) else 'an element'}"
