"""Read the bodies of message servers and methods of Python classes as statements of Rebeca."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import FunctionType
from typing import Any

from rebecsim import actors
from rebecsim.actors.rebec import Interface, MessageServer
from rebecsim.lang import syntax
from rebecsim.lang.checking.scopes import BUILTINS
from rebecsim.lang.types import (
    ANY_REBEC,
    DOUBLE,
    INT,
    NULL,
    TIMER,
    ArrayType,
    RebecType,
    Type,
)
from rebecsim.steps.annotations import type_of_annotation
from rebecsim.steps.expressions import ExpressionReader, shown
from rebecsim.steps.pieces import (
    INTEGERS,
    ClassFacts,
    Piece,
    Program,
    Signature,
    literal,
    type_name,
)

_COMPOUND: dict[type, syntax.AssignmentOperator] = {
    ast.Add: "+=",
    ast.Sub: "-=",
    ast.Mult: "*=",
    ast.BitAnd: "&=",
    ast.BitOr: "|=",
    ast.BitXor: "^=",
}
_TIMES = frozenset({"after", "deadline"})


class BodyReader(ExpressionReader):
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
        self._homes = _homes(tree)
        self._declared: dict[str, str] = {}
        self._assigned: set[str] = set()
        self._taken = {each for each, _ in facts.state.values()} | facts.known.keys()
        self._taken |= BUILTINS.keys() | {"self", "super"}
        self._names = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
        stored = {
            each.id
            for each in ast.walk(tree)
            if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
        }
        self.keys = {name: ("local", function, name) for name in stored}
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
            raise self.refused(node, "`self` is given another value")
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
            first = next(each for each in body if _mentions(each, name))
            if _declares(first, name):
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
                self._twice(found, value)
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
                return [syntax.While(test.tree, body, span=span)], not endless or _breaks(node)
            case ast.For(_, _, _, []):
                return self._for(node), True
            case ast.Return():
                return [self._return(node)], False
            case ast.Break():
                return [syntax.Break(span=span)], False
            case ast.Continue():
                return [syntax.Continue(span=span)], False
        what = type(node).__name__.lower()
        raise self.refused(node, f"a statement `{what}` has no meaning in Rebeca")

    def program_type(self, annotation: ast.expr) -> Type:
        """Give the type that an annotation names."""
        found = type_of_annotation(self.program, annotation, self.function)
        if found is None:
            raise self.refused(annotation, f"`{shown(annotation)}` is no type in Rebeca")
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
                block.statements[0] if _is_elif(node) and len(block.statements) == 1 else block
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
                raise self.refused(
                    node, f"`{self.tree.name}` says nothing of the type that it gives"
                )
            return syntax.Return(span=span)
        if node.value is None:
            raise self.refused(node, f"`{self.tree.name}` gives no value here")
        found = self.fitted(self.read(node.value), wanted, node)
        self.program.note(("returns", self.tree.name), found)
        return syntax.Return(found.tree, span=span)

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
        if isinstance(target, ast.Name):
            if target.id not in self._declared:
                raise self.refused(target, f"`{target.id}` belongs to no block of the function")
            given = self._set_local(target, value, wanted)
            name = self._declared[target.id]
            if target.id in direct:
                direct.discard(target.id)
                kind = self.program.types["local", self.function, target.id]
                if kind == NULL:
                    return []  # it is not known yet what it is
                variables = ((name, given.tree),)
                return [syntax.LocalDeclaration(type_name(kind, span), variables, span=span)]
            place: syntax.Expression = syntax.Name(name, span=span)
        else:
            place, kind, key = self._place(target)
            given = self.fitted(value, kind, node)
            self.program.note(key, given)
        tree = syntax.Assignment(place, "=", given.tree, span=span)
        return [syntax.ExpressionStatement(tree, span=span)]

    def _place(self, target: ast.expr) -> tuple[syntax.Expression, Type, tuple[str, str]]:
        """Read a state variable or an element of one; gives its type and what signs are under."""
        match target:
            case ast.Attribute(owner, name) if self.is_self(owner) and name in self.facts.state:
                shown_name, kind = self.facts.state[name]
                if isinstance(kind, ArrayType):
                    raise self.refused(target, f"`{shown(target)}` is assigned as a whole")
                return syntax.Name(shown_name, span=self.span(target)), kind, ("state", name)
            case ast.Subscript(array, index):
                owner_tree, kind, key = self._array(array)
                if isinstance(kind, ArrayType):
                    place = self.index(index, kind.length)
                    tree = syntax.Index(owner_tree, place.tree, span=self.span(target))
                    if isinstance(kind.element, ArrayType):
                        raise self.refused(target, f"`{shown(target)}` is assigned as a whole")
                    return tree, kind.element, key
        raise self.refused(target, f"`{shown(target)}` is no state variable of the rebec")

    def _array(self, node: ast.expr) -> tuple[syntax.Expression, Type, tuple[str, str]]:
        match node:
            case ast.Attribute(owner, name) if self.is_self(owner) and name in self.facts.state:
                shown_name, kind = self.facts.state[name]
                return syntax.Name(shown_name, span=self.span(node)), kind, ("state", name)
            case ast.Subscript(array, index):
                tree, kind, key = self._array(array)
                if isinstance(kind, ArrayType):
                    place = self.index(index, kind.length)
                    inner = syntax.Index(tree, place.tree, span=self.span(node))
                    return inner, kind.element, key
        raise self.refused(node, f"`{shown(node)}` is no state variable of the rebec")

    def _set_together(
        self, targets: list[ast.expr], values: list[ast.expr], node: ast.stmt
    ) -> list[syntax.Statement]:
        """Read `a, b = b, a`: all values first."""
        span, statements, found = self.span(node), [], []
        for each in values:
            piece = self.read(each)
            if isinstance(piece.type, ArrayType) or piece.type == NULL:
                raise self.refused(each, f"`{shown(each)}` has no type in Rebeca here")
            name = self._new_name("given")
            declared = ((name, piece.tree),)
            statements.append(
                syntax.LocalDeclaration(type_name(piece.type, span), declared, span=span)
            )
            found.append(replace(piece, tree=syntax.Name(name, span=span), pure=True, single=None))
        after: list[syntax.Statement] = []
        for target, piece in zip(targets, found, strict=True):
            if isinstance(target, ast.Name) and target.id not in self._assigned:
                raise self.refused(target, f"`{target.id}` has no value yet; give it one before")
            after += self._set(target, piece, node, set())
        return [syntax.Block((*statements, *after), span=span)]

    def _augmented(self, node: ast.AugAssign) -> syntax.Statement:
        span = self.span(node)
        target = node.target
        before = self.read(_loaded(target))
        self._twice(before, target)
        value = self.read(node.value)
        after = self.combined(node.op, before, value, node)
        sign = _COMPOUND.get(type(node.op))
        if isinstance(target, ast.Name):
            given = self._set_local(target, after)
            kind = self.locals[target.id].type
            place: syntax.Expression = syntax.Name(self._declared[target.id], span=span)
        else:
            place, kind, key = self._place(target)
            given = self.fitted(after, kind, node)
            self.program.note(key, given)
        alike = value.type in INTEGERS or value.type == kind == DOUBLE
        if sign is None or kind not in (INT, DOUBLE) or not alike:
            tree = syntax.Assignment(place, "=", given.tree, span=span)
        else:
            tree = syntax.Assignment(place, sign, value.tree, span=span)
        return syntax.ExpressionStatement(tree, span=span)

    # --- loops -----------------------------------------------------------------------------------

    def _for(self, node: ast.For) -> list[syntax.Statement]:
        match node.iter, node.target:
            case ast.Call(ast.Name("range"), bounds, []), ast.Name() as target if bounds:
                return self._over_range(node, target, bounds)
            case ast.Name(), ast.Name() as target if bounds := self._range_named(node.iter):
                return self._over_range(node, target, bounds)
            case ast.Tuple(elements) | ast.List(elements), ast.Name(name):
                return self._over_listed(node, elements, name)
            case ast.Call(ast.Name("enumerate"), [ast.Tuple(elements) | ast.List(elements)], []), (
                ast.Tuple([ast.Name(number), ast.Name(name)])
            ):
                return self._over_listed(node, elements, name, number)
            case ast.Call(ast.Name("enumerate"), [array], []), ast.Tuple(
                [ast.Name() as number, ast.Name() as target]
            ):
                return self._over_array(node, target, array, number)
            case _, ast.Name() as target:
                return self._over_array(node, target, node.iter, None)
        raise self.refused(node, f"a loop over `{shown(node.iter)}` has no meaning in Rebeca")

    def _range_named(self, node: ast.expr) -> list[ast.expr]:
        """Give the bounds of a constant that is a range; none if it is no such constant."""
        if not isinstance(node, ast.Name) or node.id in self.keys or node.id in self.locals:
            return []
        found = self.outer(node)
        if not isinstance(found, range):
            return []
        values = (found.start, found.stop, found.step)
        return [ast.copy_location(ast.Constant(each), node) for each in values]

    def _over_range(
        self, node: ast.For, target: ast.Name, bounds: list[ast.expr]
    ) -> list[syntax.Statement]:
        span = self.span(node)
        found = [self.fitted(self.read(each), INT, each) for each in bounds]
        start = found[0] if len(found) > 1 else Piece(literal(0, span), INT, 0, (0,))
        stop = found[0] if len(found) == 1 else found[1]
        step = found[2].value[0] if len(found) == 3 and found[2].value else 1
        if len(found) > 3 or step == 0 or (len(found) == 3 and not found[2].value):
            raise self.refused(
                node, f"the step of `{shown(node.iter)}` is no number that stands there"
            )
        before: list[syntax.Statement] = []
        if not (stop.value or _is_stable(bounds[min(1, len(bounds) - 1)], node.body)):
            name = self._new_name("stop")
            declared = ((name, stop.tree),)
            before = [syntax.LocalDeclaration(type_name(INT, span), declared, span=span)]
            stop = replace(stop, tree=syntax.Name(name, span=span))
        low = start.low if step > 0 else None if stop.low is None else stop.low + 1
        loop = self._counted(node, target, (start, stop, step), low)
        return [syntax.Block((*before, loop), span=span)] if before else [loop]

    def _counted(
        self,
        node: ast.For,
        target: ast.Name | None,
        bounds: tuple[Piece, Piece, int],
        low: int | None,
        first: Sequence[tuple[ast.Name, Piece]] = (),
    ) -> syntax.For:
        """Write a loop that counts; `first` are locals that get a value at each round."""
        span = self.span(node)
        start, stop, step = bounds
        is_own = target is not None and target.id not in self._homes
        is_own = is_own and not any(_stores(each, target.id) for each in node.body)  # type: ignore[union-attr]
        name = self._new_name(target.id if is_own and target is not None else "place")
        counter = Piece(syntax.Name(name, span=span), INT, low)
        rounds = list(first)
        if target is not None and not is_own:
            rounds.insert(0, (target, counter))
        with self._loop():
            if is_own and target is not None:
                self._declared[target.id] = name
                self.locals[target.id] = counter
                self._assigned.add(target.id)
            heads: list[syntax.Statement] = []
            for each, value in rounds:
                heads += self._round(each, value, node)
            block, _ = self._block(node.body)
            for each, _value in [*rounds, *([(target, counter)] if is_own and target else [])]:
                if each.id not in self._homes:
                    self.locals.pop(each.id, None)
                    self._taken.discard(self._declared.pop(each.id))
                    self._assigned.discard(each.id)
        self._taken.discard(name)
        tree = syntax.Name(name, span=span)
        test = syntax.Binary("<" if step > 0 else ">", tree, stop.tree, span=span)
        if abs(step) == 1:
            update: syntax.Expression = syntax.Increment(
                tree, "++" if step > 0 else "--", prefix=False, span=span
            )
        else:
            update = syntax.Assignment(tree, "+=", literal(step, span), span=span)
        init = syntax.LocalDeclaration(type_name(INT, span), ((name, start.tree),), span=span)
        body = syntax.Block((*heads, *block.statements), span=block.span)
        return syntax.For(init, test, (update,), body, span=span)

    def _round(self, target: ast.Name, value: Piece, node: ast.For) -> list[syntax.Statement]:
        """Give a local of a loop its value for a round."""
        if target.id in self._homes:
            return self._set(target, value, node, set())
        self._declared[target.id] = self._new_name(target.id)
        return self._set(target, value, node, {target.id})

    def _over_array(
        self, node: ast.For, target: ast.Name, array: ast.expr, number: ast.Name | None
    ) -> list[syntax.Statement]:
        found = self.read(array)
        if not isinstance(found.type, ArrayType) or isinstance(found.type.element, ArrayType):
            raise self.refused(node, f"`{shown(array)}` is no array to go over")
        span, length = self.span(node), found.type.length
        counter = number.id if number is not None else None
        if number is not None and (counter in self._homes or _assigns(node.body, number.id)):
            raise self.refused(node, f"`{counter}` is used elsewhere, too")
        place = ast.copy_location(ast.Name("$place", ast.Load()), node)
        name = number or ast.copy_location(ast.Name("place", ast.Store()), place)
        shown_name = self._new_name(name.id)
        self._taken.discard(shown_name)
        index = syntax.Index(found.tree, syntax.Name(shown_name, span=span), span=span)
        each = Piece(index, found.type.element, found.low)
        bounds = (
            Piece(literal(0, span), INT, 0, (0,)),
            Piece(literal(length, span), INT, length, (length,)),
            1,
        )
        return [self._counted(node, number, bounds, 0, [(target, each)])]

    def _over_listed(
        self, node: ast.For, elements: list[ast.expr], *names: str
    ) -> list[syntax.Statement]:
        """Write the body once for each of some expressions, as rebecs that are known.

        The first name stands for the expression, the second, if there is one, for its number.
        """
        changed = any(each in self._homes or _assigns(node.body, each) for each in names)
        if changed or _breaks(node, or_continues=True):
            raise self.refused(node, f"the loop over `{shown(node.iter)}` cannot be written out")
        statements: list[syntax.Statement] = []
        for number, each in enumerate(elements):
            piece = self.read(each)
            self._twice(piece, each)
            if not (isinstance(piece.tree, syntax.Name) or piece.value):
                raise self.refused(each, f"`{shown(each)}` is no name or number")
            place = Piece(literal(number, self.span(node)), INT, number, (number,))
            self.locals |= zip(names, (piece, place), strict=False)
            self._assigned |= set(names)
            statements.append(self._block(node.body)[0])
        for name in names:
            self.locals.pop(name, None)
            self._assigned.discard(name)
        return statements

    # --- calls for their effect ------------------------------------------------------------------

    def _called_alone(self, node: ast.Call) -> syntax.Statement:
        span = self.span(node)
        match node.func:
            case ast.Attribute(ast.Call(ast.Name("super"), [], []), name) if name == self.tree.name:
                return self._super(node)
            case ast.Attribute(owner, "delay") if self.is_self(owner) and len(node.args) == 1:
                amount = self.fitted(self.read(node.args[0]), INT, node)
                return syntax.Delay(amount.tree, span=span)
            case ast.Attribute(owner, name) if (
                self.is_self(owner)
                and name in self.facts.methods
                and name not in self.facts.servers
            ):
                given = self.arguments(node, name, self.signature(name, node))
                call = syntax.Call(name, given, span=span)
                return syntax.ExpressionStatement(call, span=span)
            case ast.Attribute(owner, name):
                send = self._send(node, owner, name)
                return syntax.ExpressionStatement(send, span=span)
            case ast.Name() if self._called(node) is actors.require:
                return self._require(node)
        raise self.refused(node, f"`{shown(node.func)}(...)` has no meaning in Rebeca")

    def _super(self, node: ast.Call) -> syntax.Statement:
        """Read the call of a constructor of the base class."""
        if self.tree.name != "__init__" or node.keywords:
            raise self.refused(node, f"`{shown(node)}` has no meaning in Rebeca")
        span = self.span(node)
        given = tuple(self.read(each).tree for each in node.args)
        if not any(each in self.program.classes for each in self.facts.owner.__bases__):
            return syntax.EmptyStatement(span=span)
        return syntax.ExpressionStatement(syntax.Call("super", given, span=span), span=span)

    def _require(self, node: ast.Call) -> syntax.Assertion:
        text: str | None = None
        match node.args[1:]:
            case [ast.Constant(str() as text)]:
                pass
            case [_, *_]:
                raise self.refused(node, "the text of `require` is made while the model runs")
        if not node.args or node.keywords:
            raise self.refused(node, "`require` needs a condition, and may have a text behind it")
        test = self.condition(node.args[0])
        return syntax.Assertion(test.tree, text or None, span=self.span(node))

    def _send(self, node: ast.Call, owner: ast.expr, name: str) -> syntax.Send:
        span = self.span(node)
        receiver = self.read(owner)
        if receiver.type == ANY_REBEC:
            receiver = self.fitted(receiver, self._class_with(name, node), node)
        if not isinstance(receiver.type, RebecType):
            raise self.refused(node, f"`{shown(owner)}` is no rebec")
        server = self._server(receiver.type.name, name)
        if server is None:
            raise self.refused(node, f"{receiver.type} has no message server `{name}`")
        signature = self.program.signatures.get(server.handler)  # type: ignore[call-overload]
        if signature is None:
            raise self.refused(node, f"the message server `{name}` is not understood")
        given = self.arguments(node, name, signature, _TIMES)
        times: dict[str, syntax.Expression] = {}
        for word in node.keywords:
            if word.arg in _TIMES and not _is_none(word.value):
                times[word.arg] = self.fitted(self.read(word.value), INT, word.value).tree
        return syntax.Send(
            receiver.tree, server.name, given, times.get("after"), times.get("deadline"), span=span
        )

    def _server(self, class_name: str, name: str) -> MessageServer | None:
        """Give a message server of a class or interface of this name in Rebeca."""
        owner = next(each for each, shown in self.program.names.items() if shown == class_name)
        if owner in self.program.classes:
            return self.program.classes[owner].servers.get(name)
        declared = getattr(getattr(owner, name, None), "__message_server__", None)
        return None if declared is None else MessageServer(declared[0], declared[1], -1)

    def _class_with(self, name: str, node: ast.AST) -> RebecType:
        """Give the class that has a message server, if that is the only one."""
        having = [
            each
            for each in self.program.names
            if each in self.program.classes and name in self.program.classes[each].servers
        ]
        first = [each for each in having if all(issubclass(other, each) for other in having)]
        promised = [
            each
            for each in self.program.names
            if issubclass(each, Interface) and all(issubclass(other, each) for other in having)
            if hasattr(each, name) and each not in self.program.classes
        ]
        for found in (first, promised):
            if len(found) == 1:
                return RebecType(self.program.names[found[0]])
        raise self.refused(
            node, f"`self.sender.{name}(...)`: several classes have `{name}`; use `refer`"
        )


# --- where locals are used -----------------------------------------------------------------------


def _homes(tree: ast.FunctionDef) -> dict[str, Any]:
    """Give for each local the innermost block that holds all its uses.

    What is used as the variable of loops only, and in them, is left out: each loop has its own.
    """
    uses: dict[str, list[tuple[list[ast.stmt], ...]]] = defaultdict(list)
    free: set[str] = set()
    stored: set[str] = set()

    def visit(
        body: list[ast.stmt], path: tuple[list[ast.stmt], ...], bound: frozenset[str]
    ) -> None:
        path = (*path, body)
        for statement in body:
            inside = bound
            for name in _names_in(statement):
                uses[name.id].append(path)
                if not isinstance(name.ctx, ast.Load):
                    stored.add(name.id)
                if name.id not in bound and not _is_target(statement, name):
                    free.add(name.id)
            if isinstance(statement, ast.For):
                inside = bound | {each.id for each in _targets(statement)}
            for part in _blocks(statement):
                visit(part, path, inside)

    visit(tree.body, (), frozenset())
    parameters = {each.arg for each in (*tree.args.posonlyargs, *tree.args.args)}
    homes: dict[str, Any] = {}
    for name in (stored & free) - parameters:
        shared = uses[name][0]
        for path in uses[name]:
            length = 0
            while length < min(len(shared), len(path)) and shared[length] is path[length]:
                length += 1
            shared = shared[:length]
        homes[name] = shared[-1]
    return homes


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    return [
        part
        for part in (getattr(statement, "body", None), getattr(statement, "orelse", None))
        if part
    ]


def _names_in(statement: ast.stmt) -> Iterator[ast.Name]:
    """Give the names in a statement itself, not in the blocks below it."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            yield node
        pending += [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt)]


def _targets(statement: ast.For) -> list[ast.Name]:
    return [each for each in ast.walk(statement.target) if isinstance(each, ast.Name)]


def _is_target(statement: ast.stmt, name: ast.Name) -> bool:
    return isinstance(statement, ast.For) and any(each is name for each in _targets(statement))


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))


def _stores(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(each, ast.Name) and each.id == name and not isinstance(each.ctx, ast.Load)
        for each in ast.walk(node)
    )


def _assigns(body: Sequence[ast.stmt], name: str) -> bool:
    return any(_stores(each, name) for each in body)


def _declares(statement: ast.stmt, name: str) -> bool:
    """Whether a statement gives a local its first value, by nothing else."""
    match statement:
        case ast.Assign([ast.Name(target)], value) | ast.AnnAssign(
            ast.Name(target), _, ast.expr() as value
        ):
            return target == name and not _mentions(value, name)
    return False


def _breaks(loop: ast.stmt, *, or_continues: bool = False) -> bool:
    """Whether a loop is left by a `break` of its own, or goes on by a `continue`."""
    pending: list[ast.AST] = [*_blocks(loop)[0]]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Break) or (or_continues and isinstance(node, ast.Continue)):
            return True
        if not isinstance(node, ast.For | ast.While):
            pending += ast.iter_child_nodes(node)
    return False


def _is_stable(node: ast.expr, body: list[ast.stmt]) -> bool:
    """Whether an expression has the same value at each round of a loop."""
    if any(isinstance(each, ast.Attribute | ast.Call | ast.Subscript) for each in ast.walk(node)):
        return False
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return not any(_assigns(body, name) for name in names)


def _is_elif(node: ast.If) -> bool:
    return len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _loaded(target: ast.expr) -> ast.expr:
    """Give the expression that reads what an assignment writes."""
    match target:
        case ast.Name(name):
            found: ast.expr = ast.Name(name, ast.Load())
        case ast.Attribute(value, name):
            found = ast.Attribute(value, name, ast.Load())
        case ast.Subscript(value, index):
            found = ast.Subscript(value, index, ast.Load())
        case _:
            return target
    return ast.copy_location(found, target)
