"""Find reads of a variable that decide nothing, in the tree of a Python function.

The variable, others that are left out of the state and get a value made of it, and locals that do,
are *followed*. A statement that reads none of them, and runs whatever they are, does the same for
all their values. Any other statement is harmless only if it is one of these:

* an assignment to a variable that is left out or to a local, which are followed from there on; its
  value is made by operations that cannot fail for one value of what is followed and not for another
* an `if` that tests such a value and does nothing but such assignments, and none to locals

Everything else that reads what is followed decides. So nothing that decides is missed; now and
then something is said to decide that does not.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rebecsim.steps import loaded

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Owner:
    """What is known about the class that a function belongs to.

    `state` has the state variables of its class by name, with the lengths of arrays; `left_out` are
    those that are left out of the state. `servers` are the names of message servers of all
    classes, `total` names of functions of numbers that give a value for any number.
    """

    state: Mapping[str, int | None]
    left_out: frozenset[str]
    servers: frozenset[str]
    total: frozenset[str]


@dataclass(frozen=True)
class DecidingPlace:
    """What a variable decides, as a phrase, and the line where it does."""

    what: str
    line: int


def decision_in(function: FunctionNode, owner: Owner, followed: set[str]) -> DecidingPlace | None:
    """Give the first thing that the variables `followed` decide in a function; None: nothing.

    Variables that are left out as well and get a value made of these are added to `followed`; the
    caller looks at all functions again then.
    """
    body = _Body(function, owner, followed)
    known = -1
    while known != body.size:  # until no further local is given such a value
        known = body.size
        for found in body.decided(function.body, conditional=False):
            return found
    return None


def handed_out(function: FunctionNode, servers: frozenset[str]) -> int | None:
    """Give a line where a rebec hands itself to what could read its variables; None: nowhere.

    As an argument of a message it is a name only, and to print or compare it tells nothing.
    """
    own = _self_of(function)
    harmless: set[ast.AST] = set()
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value) | ast.FormattedValue(value):
                harmless.add(value)
            case ast.Call(ast.Attribute(attr=name), arguments, keywords) if name in servers:
                harmless.update([*arguments, *(each.value for each in keywords)])
            case ast.Call(ast.Name("isinstance" | "print" | "repr" | "str"), arguments):
                harmless.update(arguments)
            case ast.Compare(left, _, others):
                harmless.update([left, *others])
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == own and node not in harmless:
            return node.lineno
    return None


_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
_DIVISION = (ast.FloorDiv, ast.Mod)
_DIVIDING = frozenset({"quotient", "remainder"})

_SAYS = {
    "choose": "a choice",
    "delay": "a time",
    "element": "an index",
    "quotient": "whether there is a quotient",
    "refer": "which rebec is meant",
    "remainder": "whether there is a remainder",
    "require": "an assertion",
    "truncate": "whether a number fits",
}


class _Body:
    """Looks through one function."""

    def __init__(self, function: FunctionNode, owner: Owner, followed: set[str]) -> None:
        self._self = _self_of(function)
        self._owner = owner
        self._followed = followed
        self._locals: set[str] = set()
        self._defined = _defined(function)
        self._shared = {
            name
            for node in ast.walk(function)
            if isinstance(node, ast.Global | ast.Nonlocal)
            for name in node.names
        }

    @property
    def size(self) -> int:
        """The number of variables that are followed."""
        return len(self._followed) + len(self._locals)

    # --- statements ------------------------------------------------------------------------------

    def decided(self, body: Sequence[ast.stmt], *, conditional: bool) -> Iterator[DecidingPlace]:
        """Give what is decided in statements.

        `conditional`: whether they run depends on what is followed.
        """
        for statement in body:
            yield from self._in_statement(statement, conditional)

    def _in_statement(self, statement: ast.stmt, conditional: bool) -> Iterator[DecidingPlace]:
        match statement:
            case ast.Pass() | ast.Expr(ast.Constant()):
                pass
            case ast.Assign(targets, value):
                yield from self._in_assignment(targets, value, conditional)
            case ast.AnnAssign(target, _, ast.expr() as value):
                yield from self._in_assignment([target], value, conditional)
            case ast.AugAssign(target, operator, value):
                whole = ast.copy_location(ast.BinOp(loaded(target), operator, value), statement)
                yield from self._in_assignment([target], whole, conditional)
            case ast.If(test, then, otherwise):
                decides = conditional or self._reads(test)
                if decides and not self._is_harmless(test, conditional):
                    yield self._named(test, "a branch")
                for found in self.decided([*then, *otherwise], conditional=decides):
                    yield found if conditional or not decides else self._of_branch(found, test)
            case _ if conditional:
                yield self._named(statement, "what is done")
            case ast.While(test, then, otherwise):
                if self._reads(test):
                    yield self._named(test, "a branch")
                yield from self.decided([*then, *otherwise], conditional=False)
            case ast.For(target, iterable, then, otherwise):
                if self._reads(target) or self._reads(iterable):
                    yield self._named(iterable, "a branch")
                yield from self.decided([*then, *otherwise], conditional=False)
            case ast.Return() if self._reads(statement):
                yield DecidingPlace("what a method gives", statement.lineno)
            case _ if self._reads(statement):
                yield self._named(statement, "what is done")

    def _in_assignment(
        self, targets: Sequence[ast.expr], value: ast.expr, conditional: bool
    ) -> Iterator[DecidingPlace]:
        matters = conditional or self._reads(value) or any(map(self._reads, targets))
        if matters and not self._is_harmless(value, conditional):
            yield self._named(value, _given(targets[0]))
        for target in targets:
            match target:
                case ast.Attribute(ast.Name(self._self), name) if name in self._owner.left_out:
                    is_array = self._owner.state[name] is not None
                    if is_array and name in self._followed and not isinstance(value, ast.List):
                        # its elements could from now on be those of another array, too
                        yield DecidingPlace("the elements of an array", target.lineno)
                    if matters:
                        self._followed.add(name)
                case ast.Subscript(ast.Attribute(ast.Name(self._self), name)) if (
                    name in self._owner.left_out and self._owner.state[name] is not None
                ):
                    if matters and not self._is_harmless(loaded(target), conditional):
                        yield DecidingPlace("an index", target.lineno)
                    if matters:
                        self._followed.add(name)
                case ast.Name(name) if (
                    not conditional and name != self._self and name not in self._shared
                ):
                    if matters:
                        self._locals.add(name)
                case ast.Subscript(_, index) if self._reads(index):
                    yield self._named(index, "an index")
                case _ if matters:  # a local that has perhaps no value otherwise, too
                    yield DecidingPlace(_given(target), target.lineno)

    def _of_branch(self, found: DecidingPlace, test: ast.expr) -> DecidingPlace:
        """Say what a branch decides: an assignment says it itself."""
        return (
            found if found.what.startswith("the value") else DecidingPlace("a branch", test.lineno)
        )

    # --- expressions -----------------------------------------------------------------------------

    def _reads(self, node: ast.AST) -> bool:
        """Whether something that is followed is read anywhere in a node."""
        return any(self._is_read(each) for each in ast.walk(node))

    def _is_read(self, node: ast.AST) -> bool:
        match node:
            case ast.AugAssign(target):
                return self._reads(loaded(target))
            case ast.Attribute(_, name, context):
                return name in self._followed and not isinstance(context, ast.Store)
            case ast.Name(name, context):
                return name in self._locals and not isinstance(context, ast.Store)
            case ast.MatchClass():
                return True
        return False

    def _is_harmless(self, node: ast.expr, conditional: bool) -> bool:
        """Whether evaluating an expression does nothing but give a value.

        If it is not `conditional`, what reads nothing followed may do anything, as it always does.
        """
        if not conditional and not self._reads(node):
            return True
        match node:
            case ast.Constant():
                return True
            case ast.Name(name):
                return not conditional or self._defined.get(name, 0) < node.lineno
            case ast.Attribute(ast.Name(self._self), name):
                return name in self._owner.state
            case ast.Subscript(ast.Attribute(ast.Name(self._self), name), index):
                return self._is_element(name, index, conditional)
            case ast.UnaryOp(_, operand):
                return self._is_harmless(operand, conditional)
            case ast.BinOp(left, operator, right):
                return self._is_harmless(left, conditional) and (
                    self._is_harmless(right, conditional)
                    if isinstance(operator, _ARITHMETIC)
                    else isinstance(operator, _DIVISION) and self._divides(right, conditional)
                )
            case ast.BoolOp(_, values):
                return self._in_turn(values, conditional)
            case ast.Compare(left, _, [right]):
                return self._is_harmless(left, conditional) and self._is_harmless(
                    right, conditional
                )
            case ast.Compare(left, [first, *_], [right, *further]):
                begins = ast.copy_location(ast.Compare(left, [first], [right]), node)
                return self._in_turn([begins, *further], conditional)
            case ast.IfExp(test, then, otherwise):
                return self._in_turn([test, then], conditional) and self._in_turn(
                    [test, otherwise], conditional
                )
            case ast.List(elements):
                return all(self._is_harmless(each, conditional) for each in elements)
            case ast.Call(ast.Name(name), [dividend, divisor], []) if name in _DIVIDING:
                return self._is_harmless(dividend, conditional) and self._divides(
                    divisor, conditional
                )
            case ast.Call(ast.Name(name), arguments, []) if name in self._owner.total:
                return all(self._is_harmless(each, conditional) for each in arguments)
        return False

    def _in_turn(self, values: Sequence[ast.expr], conditional: bool) -> bool:
        """Whether values are harmless of which each decides if the next one is asked for."""
        for value in values:
            if not self._is_harmless(value, conditional):
                return False
            conditional = conditional or self._reads(value)
        return True

    def _divides(self, divisor: ast.expr, conditional: bool) -> bool:
        """Whether dividing by a number fails for no value of what is followed, or for all."""
        if isinstance(divisor, ast.Constant):
            return bool(divisor.value)
        return not conditional and not self._reads(divisor)

    def _is_element(self, name: str, index: ast.expr, conditional: bool) -> bool:
        """The same for an element of a state variable."""
        length = self._owner.state.get(name)
        if length is None:
            return False
        if isinstance(index, ast.Constant):
            return type(index.value) is int and 0 <= index.value < length
        return not conditional and not self._reads(index)

    def _named(self, node: ast.AST, otherwise: str) -> DecidingPlace:
        """Say what is decided in a node: the innermost call that is given something followed."""
        what, line = otherwise, getattr(node, "lineno", 0)
        for each in ast.walk(node):
            if not isinstance(each, ast.Call) or not self._reads(each):
                continue
            line = each.lineno
            match each.func:
                case ast.Name(name) if name in _SAYS:
                    what = _SAYS[name]
                case ast.Attribute(_, "delay" | "choose" as name):
                    what = _SAYS[name]
                case ast.Attribute(_, name) if name in self._owner.servers:
                    timed = [word.value for word in each.keywords if word.arg in _TIMES]
                    what = "a time" if any(map(self._reads, timed)) else "what is sent"
                case ast.Attribute(ast.Name(self._self)):
                    what = "what a method is given"
        return DecidingPlace(what, line)


_TIMES = frozenset({"after", "deadline"})


def _given(target: ast.expr) -> str:
    """Say what an assignment decides."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return f"the value of {ast.unparse(target).removeprefix('self.')}"


def _self_of(function: FunctionNode) -> str:
    arguments = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg if arguments else ""


def _defined(function: FunctionNode) -> dict[str, int]:
    """Give for each local the line behind which it surely has a value.

    What is not in it is not assigned here, or an argument that is.
    """
    stored = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    ]
    lines = {node.id: sys.maxsize for node in stored}
    for statement in reversed(function.body):
        match statement:
            case ast.Assign([ast.Name(name)]) | ast.AnnAssign(ast.Name(name), _, ast.expr()):
                lines[name] = statement.lineno
    return lines | {node.id: sys.maxsize for node in stored if isinstance(node.ctx, ast.Del)}
