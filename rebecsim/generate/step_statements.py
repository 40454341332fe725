"""Write Rebeca statements over flat cells, for compiled code, which raises no exceptions.

A statement that can fail is evaluated into locals first, then `ctx[FAILED]` is looked at, and only
then something is assigned: the state of a failure is the one before the statement.

A model has no arrays of known rebecs, so one that hands jobs to six workers has six statements that
are equal but for the worker and some numbers. A step has such a run of statements once, in a loop,
so that there is less to compile, and the same for any number of workers, a single one included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields

from rebecsim.generate.cells import StatementRun, element_type, flat_length
from rebecsim.generate.expressions import default_value, has_effect
from rebecsim.generate.statements import BodyWriter
from rebecsim.generate.step_expressions import StepExpressions, encoded
from rebecsim.lang import syntax
from rebecsim.lang.checked import INT, VOID, ArrayType, CheckedModel, RebecType, Type
from rebecsim.lang.traversal import assigned_inside, breaks, continues, walk

Alike = dict[int, tuple[syntax.Node, ...]]
"""For the id of each node of the first statement of a run, what stands there in each of them."""


def runs(
    model: CheckedModel, statements: Sequence[syntax.Statement]
) -> Iterator[tuple[syntax.Statement, Alike | None]]:
    """Give the statements of a block, of each run only the first, with the nodes of all of them."""
    place = 0
    while place < len(statements):
        first = statements[place]
        end = place + 1
        if _may_repeat(first):
            while end < len(statements) and _alike(model, first, statements[end]):
                end += 1
        if end - place == 1 and not _is_for_one_rebec(model, first):
            yield first, None
        else:
            side_by_side = zip(*map(walk, statements[place:end]), strict=True)
            yield first, {id(nodes[0]): nodes for nodes in side_by_side}
        place = end


def _is_for_one_rebec(model: CheckedModel, node: syntax.Statement) -> bool:
    """Whether a statement is for a known rebec and for its element of an array."""
    if not _may_repeat(node):
        return False
    below = list(walk(node))
    return any(
        isinstance(each, syntax.Index) and isinstance(each.index, syntax.IntLiteral)
        for each in below
    ) and any(
        isinstance(each, syntax.Name) and model.symbol_of(each).kind == "known" for each in below
    )


def _may_repeat(node: syntax.Statement) -> bool:
    """Whether a statement is worth a loop, and can stand in one."""
    if isinstance(node, syntax.ExpressionStatement):
        return isinstance(node.expression, syntax.Send)
    compound = isinstance(node, syntax.If | syntax.While | syntax.For | syntax.Switch)
    return compound and not breaks(node) and not continues(node)


def _alike(model: CheckedModel, one: object, other: object) -> bool:
    """Whether two parts of a tree are equal but for integers and known rebecs of one type."""
    match one, other:
        case syntax.IntLiteral(), syntax.IntLiteral():
            return True
        case syntax.Name(), syntax.Name():
            return _same_name(model, one, other)
        case syntax.TypeName(), _:
            return one == other
        case syntax.Node(), syntax.Node():
            return type(one) is type(other) and all(
                _alike(model, getattr(one, part.name), getattr(other, part.name))
                for part in fields(one)
                if part.name != "span"
            )
        case tuple(), tuple():
            return len(one) == len(other) and all(
                _alike(model, each, its) for each, its in zip(one, other, strict=True)
            )
    return type(one) is type(other) and one == other


def _same_name(model: CheckedModel, one: syntax.Name, other: syntax.Name) -> bool:
    if type(one) is not type(other):
        return False
    symbols = model.symbol_of(one), model.symbol_of(other)
    if symbols[0].kind == "known":
        return symbols[1].kind == "known" and symbols[0].type == symbols[1].type
    return one == other


_INDENT = "    "


def returned(kind: Type) -> str:
    """Write what a function of this type gives when it has failed."""
    return "" if kind == VOID else f" {default_value(kind, StepExpressions.null)}"


class StepBodyWriter(BodyWriter):
    """Writes the body of one message server or method as a part of a step."""

    _expressions: StepExpressions

    def __init__(
        self,
        expressions: StepExpressions,
        parameters: tuple[syntax.Parameter, ...],
        returns: Type,
    ) -> None:
        self._kept: frozenset[str] = frozenset()
        self._unbounded: syntax.While | syntax.For | None = None  # the loop that begins, if it is
        super().__init__(expressions, parameters, returns)
        self._kind = returns
        self._names = [each.name for each in parameters]
        self._kinds = {each.name: self._model.declared_type(each.type) for each in parameters}
        self.fallible = False
        """Whether anything in the body can fail."""

    def lines(self, body: syntax.Block) -> list[str]:
        """Write a body; never empty. Simple statements end with the number of their line."""
        self._kept = assigned_inside(body)
        for name, shown in zip(self._names, self.parameters, strict=True):
            if name in self._kept:
                self._keep(name, encoded(shown, self._kinds[name]))
        lines = super().lines(body)
        cells = self._expressions.kept
        return [f"kept = room(np.int64, {cells})", *lines] if cells else lines

    def _keep(self, name: str, value: str, node: syntax.Statement | None = None) -> None:
        """Keep a local in an array."""
        place = f"kept[{self._expressions.keep()}]"
        self._locals.define(name, place)
        self._write(f"{place} = {value}", node)

    def _check(self) -> None:
        """Write the way out of a failure, if what has been written since the last one can fail."""
        if self._expressions.fallible:
            self._expressions.fallible = False
            self.fallible = True
            self._write("if ctx[FAILED] != 0:")
            self._write(f"    return{returned(self._kind)}")

    def _settled(self, text: str, name: str, node: syntax.Statement) -> str:
        """Put a value that can fail into a local and look whether it has failed."""
        if not self._expressions.fallible:
            return text
        shown = self._locals.temporary(name)
        self._write(f"{shown} = {text}", node)
        self._check()
        return shown

    # --- runs ----------------------------------------------------------------------------------

    def _block(self, statements: Iterable[syntax.Statement]) -> None:
        if self._expressions.run is not None:
            super()._block(statements)
            return
        self._locals.enter()
        for statement, alike in runs(self._model, tuple(statements)):
            if alike is None:
                self._statement(statement)
            else:
                self._run(statement, alike)
        self._locals.leave()

    def _run(self, statement: syntax.Statement, alike: Alike) -> None:
        """Write a run of statements: the first one, in a loop over what differs."""
        numbers = self._expressions.numbers
        self._locals.enter()
        row = self._locals.temporary("row")
        run = self._expressions.run = StatementRun(row, alike, numbers)
        before = len(self._lines)
        with self._indented():
            self._statement(statement)
        self._expressions.run = None
        first, last = numbers.rows(run)
        head = f"for {row} in range({first}, {last}, {len(run.columns)}):"
        self._lines.insert(before, f"{_INDENT * self._depth}{head}")
        self._locals.leave()

    # --- simple statements ---------------------------------------------------------------------

    def _declaration(self, node: syntax.LocalDeclaration) -> None:
        kind = self._model.declared_type(node.type)
        for name, initial in node.variables:
            if isinstance(kind, ArrayType):
                self._array(name, kind, initial, node)
                continue
            assert not isinstance(initial, syntax.ArrayInitializer)
            value = default_value(kind, self._expressions.null)
            if initial is not None:
                value = self._expressions.text(initial, kind)
            if name in self._kept:
                self._keep(name, encoded(value, kind), node)
            else:
                self._write(f"{self._locals.declare(name)} = {value}", node)
            self._check()

    def _array(
        self,
        name: str,
        kind: ArrayType,
        initial: syntax.Initial | None,
        node: syntax.LocalDeclaration,
    ) -> None:
        """Write a local array; its first values are computed before it hides another variable."""
        values = []
        for each in () if initial is None else _elements(initial):
            text = self._expressions.text(each, element_type(kind))
            if has_effect(each) or self._expressions.fallible:
                shown = self._locals.temporary("value")
                self._write(f"{shown} = {text}", node)
                text = shown
                self._check()
            values.append(encoded(text, kind))
        shown = self._locals.declare(name)
        self._write(f"{shown} = room(np.int64, {flat_length(kind)})", node)
        if _empty(kind):
            self._write(f"fill({shown}, {_empty(kind)})", node)
        for place, value in enumerate(values):
            self._write(f"{shown}[{place}] = {value}", node)

    def _expression(self, node: syntax.Expression) -> None:
        if isinstance(node, syntax.Send):
            self._send(node)
        elif isinstance(node, syntax.Assignment | syntax.Increment):
            self._assignment(node)
        else:
            self._write(self._expressions.write(node).text, node)
        self._check()

    def _assignment(self, node: syntax.Assignment | syntax.Increment) -> None:
        if self._expressions.order_matters(node):
            self._write(self._expressions.write(node).text, node)
            return
        kind = self._model.type_of(node.target)
        value = self._expressions.new_value(node).text
        found = self._expressions.place(node.target)
        if found is None:
            self._write(f"{self._expressions.write(node.target).text} = {value}", node)
            return
        array, place = found
        where = place.text
        if self._expressions.fallible:
            if not value.isalnum():
                shown = self._locals.temporary("value")
                self._write(f"{shown} = {value}", node)
                value = shown
            if "(" in where:
                where = self._locals.temporary("where")
                self._write(f"{where} = {place.text}", node)
            self._check()
        self._write(f"{array}[{where}] = {encoded(value, kind)}", node)

    def _return(self, value: syntax.Expression | None, node: syntax.Return) -> None:
        text = "" if value is None else f" {self._expressions.text(value, self._returns)}"
        if self._expressions.fallible:  # the caller looks whether it has failed
            self._expressions.fallible = False
            self.fallible = True
        self._write(f"return{text}", node)

    def _delay(self, duration: syntax.Expression, node: syntax.Delay) -> None:
        code = self._expressions.value(duration, INT)
        if code.range is None or code.range.low < 0:
            self._expressions.fallible = True
        if self._expressions.fallible:
            self._write(f"delay(ctx, {code.text})", node)
            self._check()
        else:
            self._write(f"ctx[NOW] += {code.text}", node)

    def _assertion(self, node: syntax.Assertion) -> None:
        condition = self._expressions.text(node.condition)
        site = self._expressions.site(node, node.text or "")
        self._write(f"require(ctx, {condition}, {site})", node)
        self._expressions.fallible = True
        self._check()

    def _send(self, node: syntax.Send) -> None:
        """Write the sending of a message: its arguments, then the message itself.

        Arguments with an effect are evaluated first, since they may send messages, too.
        """
        receiver = self._receiver(node)
        server = self._model.server_of(node)
        kinds = [self._model.declared_type(each.type) for each in server.tree.parameters]
        values: list[tuple[str, Type]] = []
        for argument, kind in zip(node.arguments, kinds, strict=True):
            code = self._expressions.argument(argument, kind)
            if has_effect(argument) or self._expressions.fallible or isinstance(kind, ArrayType):
                shown = self._locals.temporary("argument")
                self._write(f"{shown} = {code}", node)
                code = shown
            values.append((code, kind))
        times = []
        for time, without in ((node.after, "0"), (node.deadline, "NEVER")):
            times.append(without if time is None else self._expressions.text(time, INT))
            if time is not None and has_effect(time):
                shown = self._locals.temporary("duration")
                self._write(f"{shown} = {times[-1]}", node)
                times[-1] = shown
        column = 0
        for code, kind in values:
            place = f"ARGUMENTS + {column}" if column else "ARGUMENTS"
            column += flat_length(kind)
            if isinstance(kind, ArrayType):
                each = self._locals.temporary("each")
                self._write(f"for {each} in range({flat_length(kind)}):", node)
                self._write(f"    sends[ctx[SENDS], {place} + {each}] = {code}[{each}]")
            else:
                self._write(f"sends[ctx[SENDS], {place}] = {encoded(code, kind)}", node)
        number = self._expressions.server_number(node, receiver)
        arguments = ", ".join((receiver, number, *times))
        self._write(f"send(ctx, rebecs, sends, {arguments})  # {node.server}", None)
        self._expressions.fallible = True

    def _receiver(self, node: syntax.Send) -> str:
        """Write who receives a message, who is looked at before the arguments are."""
        code = self._expressions.write(node.receiver)
        match node.receiver:
            case syntax.Name() as name if self._model.symbol_of(name).kind in ("known", "builtin"):
                return code.text
        shown = self._locals.temporary("receiver")
        self._write(f"{shown} = sendable(ctx, {code.text})", node)
        self._expressions.fallible = True
        self._check()
        return shown

    # --- branches and loops --------------------------------------------------------------------

    def _if(self, node: syntax.If, word: str) -> None:
        text = self._expressions.text(node.condition)
        if self._expressions.fallible and word == "elif":
            self._write("else:")
            with self._indented():
                self._branch(node, "if", self._settled(text, "test", node))
        else:
            self._branch(node, word, self._settled(text, "test", node))

    def _loop_body(self, body: syntax.Statement, update: tuple[syntax.Expression, ...]) -> None:
        if self._unbounded is not None:
            node, self._unbounded = self._unbounded, None
            with self._indented():
                self._write(
                    f"if endless(ctx, {self._expressions.site(node, self._model.line_of)}):"
                )
                self._write(f"    return{returned(self._kind)}")
            self.fallible = True
        super()._loop_body(body, update)

    def _loop_head(self, condition: str, node: syntax.While | syntax.For) -> None:
        self._unbounded = node
        if not self._expressions.fallible:
            super()._loop_head(condition, node)
            return
        self._write("while True:", node)
        with self._indented():
            self._write(f"if not ({self._settled(condition, 'test', node)}):", node)
            self._write("    break")


def _elements(node: syntax.Initial) -> Iterator[syntax.Expression]:
    """Give the values of an initialiser in the order of the flat array."""
    if not isinstance(node, syntax.ArrayInitializer):
        yield node
        return
    for each in node.values:
        yield from _elements(each)


def _empty(kind: ArrayType) -> int:
    """Give the integer that stands for an element before its first assignment."""
    return -1 if isinstance(element_type(kind), RebecType) else 0
