"""Read the bodies of message servers and methods of Python classes as statements of Rebeca."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import FunctionType
from typing import cast

from rebecsim.lang import syntax
from rebecsim.lang.checked import DOUBLE, INT, NULL, TIMER, ArrayType, Type
from rebecsim.lang.checking.scopes import BUILTINS
from rebecsim.steps.annotations import type_of_annotation
from rebecsim.steps.blocks import breaks, changed, declares, homes_of, is_elif, loaded, used
from rebecsim.steps.pieces import INTEGERS, ClassFacts, Piece, Program, Signature, type_name
from rebecsim.steps.sends import EffectReader
from rebecsim.steps.values import ARITHMETIC, BITWISE, shown

_RESERVED = frozenset(
    (
        *("self", "super", "true", "false", "null", "after", "deadline", "delay", "assertion"),
        *("abstract", "extends", "env", "knownrebecs", "main", "msgsrv", "reactiveclass"),
        *("statevars", "switch", "case", "default", "int", "short", "byte", "boolean", "float"),
        *("double", "void"),
    )
)
"""Names of Python that are words of Rebeca."""


class BodyReader(EffectReader, ABC):
    """Reads the body of one function of a class.

    Rebeca's locals belong to a block and have a type, Python's belong to the function. One is
    declared in the innermost block that holds all of its uses.
    """

    def __init__(
        self,
        program: Program,
        facts: ClassFacts,
        function: FunctionType,
        tree: ast.FunctionDef,
        signature: Signature,
    ) -> None:
        super().__init__(program, facts, function, tree)
        self.signature_of_this = signature
        self.parameters: list[syntax.Parameter] = []
        self._homes = homes_of(tree)
        self._declared: dict[str, str] = {}
        self._assigned: set[str] = set()
        self._taken = {each for each, _ in facts.state.values()} | facts.known.keys()
        self._taken |= BUILTINS.keys() | _RESERVED
        self._names = used(tree)
        self.keys: dict[str, Hashable] = {name: ("local", function, name) for name in changed(tree)}
        span = self.span(tree)
        for name, kind in zip(signature.names, signature.types, strict=True):
            tree_name = self._new_name(name)
            self.parameters.append(syntax.Parameter(type_name(kind, span), tree_name, span=span))
            self.keys[name] = ("parameter", tree.name, name)
            self._declared[name] = tree_name
            self._assigned.add(name)
            self.program.types.setdefault(("local", function, name), kind)
            self._have(name, kind)

    def body(self) -> syntax.Block:
        """Read the body."""
        return self._block(self.tree.body)[0]

    # --- locals ----------------------------------------------------------------------------------

    def _new_name(self, name: str) -> str:
        free = name.lstrip("_") or "it"
        while free in self._taken or (free != name and free in self._names):
            free += "_"
        self._taken.add(free)
        return free

    def _have(self, name: str, kind: Type) -> None:
        """Let a local stand for a variable of a type."""
        low = self.program.low(self.keys[name]) if kind in INTEGERS else None
        self.locals[name] = Piece(syntax.Name(self._declared[name]), kind, low)

    def _name(self, node: ast.Name) -> Piece:
        if node.id in self.keys and node.id not in self._assigned:
            raise self.refused(node, f"`{node.id}` may have no value here")
        return super()._name(node)

    def _set_local(self, node: ast.Name, value: Piece, wanted: Type | None = None) -> Piece:
        """Note a value of a local, and give it as one of the type that the local has."""
        name = node.id
        if node.id == self.self_name:
            raise self.refused(node, "`self` is assigned")
        self.program.note(self.keys[name], value)
        key = ("local", self.function, name)
        kind = self.program.note_type(key, wanted or value.type)
        if kind is None:
            before = self.program.types[key]
            raise self.refused(node, f"`{name}` is {before} here and {value.type} there")
        self._assigned.add(name)
        if kind != NULL:
            self._have(name, kind)
            return self.fitted(value, kind, node)
        self.locals[name] = Piece(syntax.Name(self._declared[name]), NULL)
        return value

    # --- blocks ----------------------------------------------------------------------------------

    def _block(self, body: Sequence[ast.stmt]) -> tuple[syntax.Block, bool]:
        """Read a block; gives it, and whether control can reach its end."""
        statements: list[syntax.Statement] = []
        here = [name for name, home in self._homes.items() if home is body]
        before: dict[int, list[str]] = defaultdict(list)
        direct: set[str] = set()
        for name in here:
            first = next(each for each in body if name in used(each))
            if declares(first, name):
                direct.add(name)
            else:
                before[body.index(first)].append(name)
            self._declared[name] = self._new_name(name)
        places: list[tuple[int, str]] = []
        completes = True
        for number, each in enumerate(body):
            places += [(len(statements), name) for name in before[number]]
            found, goes_on = self._statement(each, direct)
            statements += found
            completes = completes and goes_on
        for place, name in reversed(places):
            kind = self.program.types.get(("local", self.function, name), INT)
            declared = ((self._declared[name], None),)
            span = self.span(body[0])
            statements.insert(
                place, syntax.LocalDeclaration(type_name(kind, span), declared, span=span)
            )
        for name in here:
            self._taken.discard(self._declared[name])
            self._assigned.discard(name)
            self.locals.pop(name, None)
        span = self.span(body[0]) if body else self.span(self.tree)
        return syntax.Block(tuple(statements), span=span), completes

    def _statement(self, node: ast.stmt, direct: set[str]) -> tuple[list[syntax.Statement], bool]:
        """Read a statement; locals in `direct` are declared where they first get a value."""
        span = self.span(node)
        match node:
            case ast.Pass() | ast.Expr(ast.Constant()):
                return [], True
            case ast.Expr(ast.Call() as call):
                return [self._called_alone(call)], True
            case ast.Assign([target], value):
                return self._assign(target, value, node, direct), True
            case ast.Assign(targets, value):
                found = self.read(value)
                self.twice(found, value)
                return [each for to in targets for each in self._set(to, found, node, direct)], True
            case ast.AnnAssign(target, annotation, ast.expr() as value):
                kind = self.program_type(annotation)
                return self._set(target, self.read(value), node, direct, kind), True
            case ast.AugAssign():
                return [self._augmented(node)], True
            case ast.If():
                return self._if(node)
            case ast.While(_, _, []):
                test = self.condition(node.test)
                with self._loop():
                    body, _ = self._block(node.body)
                endless = test.value == (True,) or isinstance(node.test, ast.Constant)
                return [syntax.While(test.tree, body, span=span)], not endless or breaks(node)
            case ast.For(_, _, _, []):
                return self._for(node), True
            case ast.Return():
                return [self._return(node)], False
            case ast.Break():
                return [syntax.Break(span=span)], False
            case ast.Continue():
                return [syntax.Continue(span=span)], False
        what = type(node).__name__.lower()
        raise self.refused(node, f"a statement `{what}` cannot be translated to Rebeca")

    def program_type(self, annotation: ast.expr) -> Type:
        """Give the type that an annotation names."""
        found = type_of_annotation(self.program, annotation, self.function)
        if found is None:
            raise self.refused(annotation, f"`{shown(annotation)}` is not a type in Rebeca")
        return found

    @contextmanager
    def _loop(self) -> Iterator[None]:
        """What a loop assigns may not be there behind it."""
        before = set(self._assigned)
        yield
        self._assigned &= before

    def _if(self, node: ast.If) -> tuple[list[syntax.Statement], bool]:
        test = self.condition(node.test)
        before = set(self._assigned)
        then, then_ends = self._block(node.body)
        after_then, self._assigned = self._assigned, set(before)
        otherwise, other_ends = None, True
        if node.orelse:
            block, other_ends = self._block(node.orelse)
            otherwise = (
                block.statements[0] if is_elif(node) and len(block.statements) == 1 else block
            )
        if then_ends and other_ends:
            self._assigned &= after_then
        elif then_ends:
            self._assigned = after_then
        tree = syntax.If(test.tree, then, otherwise, span=self.span(node))
        return [tree], then_ends or other_ends

    def _return(self, node: ast.Return) -> syntax.Return:
        wanted, span = self.signature_of_this.returns, self.span(node)
        gives_none = node.value is None or (
            isinstance(node.value, ast.Constant) and node.value.value is None
        )
        if wanted is None:
            if not gives_none:
                raise self.refused(node, f"`{self.tree.name}` has no return type")
            return syntax.Return(span=span)
        if node.value is None:
            raise self.refused(node, f"`{self.tree.name}` gives no value here")
        found = self.fitted(self.read(node.value), wanted, node)
        self.program.note(("returns", self.tree.name), found)
        return syntax.Return(found.tree, span=span)

    @abstractmethod
    def _for(self, node: ast.For) -> list[syntax.Statement]:
        """Read a loop over a range, an array or a list that is written out."""

    # --- assignments -----------------------------------------------------------------------------

    def _assign(
        self, target: ast.expr, value: ast.expr, node: ast.stmt, direct: set[str]
    ) -> list[syntax.Statement]:
        match target, value:
            case ast.Tuple(targets), ast.Tuple(values) if len(targets) == len(values):
                return self._set_together(targets, values, node)
            case ast.Attribute(owner, name), _ if self.is_self(owner) and self._is_timer(name):
                return [self._timer(name, value, node)]
        return self._set(target, self.read(value), node, direct)

    def _is_timer(self, name: str) -> bool:
        return self.facts.state.get(name, ("", None))[1] == TIMER

    def _timer(self, name: str, value: ast.expr, node: ast.stmt) -> syntax.Statement:
        """Read a start or a stop of a timer."""
        span = self.span(node)
        match value:
            case ast.Call(ast.Attribute(owner, "started_timer")) if self.is_self(owner):
                called = "startTimer"
            case ast.UnaryOp(ast.USub(), ast.Constant(1)):
                called = "stopTimer"
            case _:
                raise self.refused(
                    node, "a timer is started by `self.started_timer()` and stopped by -1"
                )
        timer = syntax.Name(self.facts.state[name][0], span=span)
        return syntax.ExpressionStatement(syntax.Call(called, (timer,), span=span), span=span)

    def _set(
        self,
        target: ast.expr,
        value: Piece,
        node: ast.stmt,
        direct: set[str],
        wanted: Type | None = None,
    ) -> list[syntax.Statement]:
        """Give a value to a variable or an element."""
        span = self.span(node)
        place, given, kind = self._stored(target, value, node, wanted)
        if isinstance(target, ast.Name) and target.id in direct:
            direct.discard(target.id)
            if kind == NULL:
                return []  # it is not known yet what it is
            variables = ((self._declared[target.id], given.tree),)
            return [syntax.LocalDeclaration(type_name(kind, span), variables, span=span)]
        tree = syntax.Assignment(place, "=", given.tree, span=span)
        return [syntax.ExpressionStatement(tree, span=span)]

    def _stored(
        self, target: ast.expr, value: Piece, node: ast.stmt, wanted: Type | None = None
    ) -> tuple[syntax.Expression, Piece, Type]:
        """Read where a value goes; gives the place, the value as one of its type, and the type."""
        if isinstance(target, ast.Name):
            if target.id not in self._declared:
                raise self.refused(target, f"`{target.id}` is not a local variable of the function")
            given = self._set_local(target, value, wanted)
            place = syntax.Name(self._declared[target.id], span=self.span(node))
            return place, given, self.program.types["local", self.function, target.id]
        tree, kind, key = self._variable(target)
        if isinstance(kind, ArrayType):
            raise self.refused(target, f"`{shown(target)}` is assigned as a whole")
        given = self.fitted(value, kind, node)
        self.program.note(key, given)
        return tree, given, kind

    def _variable(self, node: ast.expr) -> tuple[syntax.Expression, Type, tuple[str, str]]:
        """Read a state variable or an element of one; gives its type and what signs are under."""
        match node:
            case ast.Attribute(owner, name) if self.is_self(owner) and name in self.facts.state:
                shown_name, kind = self.facts.state[name]
                return syntax.Name(shown_name, span=self.span(node)), kind, ("state", name)
            case ast.Subscript(array, index):
                tree, kind, key = self._variable(array)
                if isinstance(kind, ArrayType):
                    place = self.index(index, kind.length)
                    inner = syntax.Index(tree, place.tree, span=self.span(node))
                    return inner, kind.element, key
        raise self.refused(node, f"`{shown(node)}` is not a state variable of the rebec")

    def _set_together(
        self, targets: list[ast.expr], values: list[ast.expr], node: ast.stmt
    ) -> list[syntax.Statement]:
        """Read `a, b = b, a`: all values first."""
        given = [self.given(self.read(each), each) for each in values]
        statements: list[syntax.Statement] = [each for each, _ in given]
        after: list[syntax.Statement] = []
        for target, (_, piece) in zip(targets, given, strict=True):
            if isinstance(target, ast.Name) and target.id not in self._assigned:
                raise self.refused(target, f"`{target.id}` has no value yet; give it one before")
            after += self._set(target, piece, node, set())
        return [syntax.Block((*statements, *after), span=self.span(node))]

    def given(self, piece: Piece, node: ast.expr) -> tuple[syntax.Statement, Piece]:
        """Declare a local for a value, and give what stands for it."""
        if isinstance(piece.type, ArrayType) or piece.type == NULL:
            raise self.refused(node, f"`{shown(node)}` has no type in Rebeca here")
        span, name = self.span(node), self._new_name("given")
        declared = ((name, piece.tree),)
        tree = syntax.LocalDeclaration(type_name(piece.type, span), declared, span=span)
        return tree, replace(piece, tree=syntax.Name(name, span=span), pure=True, single=None)

    def _augmented(self, node: ast.AugAssign) -> syntax.Statement:
        span = self.span(node)
        target = node.target
        before = self.read(loaded(target))
        self.twice(before, target)
        value = self.read(node.value)
        after = self.combined(node.op, before, value, node)
        sign = (ARITHMETIC | BITWISE).get(type(node.op))
        place, given, kind = self._stored(target, after, node)
        alike = value.type in INTEGERS or value.type == kind == DOUBLE
        if sign is None or kind not in (INT, DOUBLE) or not alike:
            tree = syntax.Assignment(place, "=", given.tree, span=span)
        else:
            compound = cast(syntax.AssignmentOperator, f"{sign}=")
            tree = syntax.Assignment(place, compound, value.tree, span=span)
        return syntax.ExpressionStatement(tree, span=span)
