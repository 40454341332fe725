"""Write Rebeca statements as lines of Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import assert_never

from rebecsim.generate.code import AND, NOT, RANGES, Range
from rebecsim.generate.expressions import ExpressionWriter, default_value, has_effect
from rebecsim.lang import syntax
from rebecsim.lang.checked import INT, ArrayType, Type
from rebecsim.lang.traversal import assigned_names, breaks, continues

_INDENT = "    "


class BodyWriter:
    """Writes the body of one message server, method or constructor."""

    def __init__(
        self,
        expressions: ExpressionWriter,
        parameters: tuple[syntax.Parameter, ...],
        returns: Type | None = None,
    ) -> None:
        self._model = expressions.model
        self._locals = expressions.locals
        self._expressions = expressions
        self._returns = returns
        self._lines: list[str] = []
        self._depth = 0
        self._noted_line: int | str = 0
        self._updates: list[tuple[syntax.Expression, ...]] = []  # of the loops around, see `For`
        self._switches: list[str | None] = []  # flags that carry `continue` out of a switch
        self.parameters = [self._locals.declare(parameter.name) for parameter in parameters]

    def lines(self, body: syntax.Block) -> list[str]:
        """Write a body; never empty. Simple statements end with the number of their line."""
        self._block(body.statements)
        if self._returns is not None and self._model.has_open_end(body):
            value = default_value(self._returns, self._expressions.null)
            self._write(f"return {value}  # a value that is never used")
        return self._lines or ["pass"]

    # --- lines ---------------------------------------------------------------------------------

    def _write(self, text: str, node: syntax.Statement | syntax.Expression | None = None) -> None:
        note = ""
        line = self._noted_line if node is None else self._model.line_of(node)
        if line != self._noted_line:
            self._noted_line = line
            note = f"  # line {line}"
        self._lines.append(f"{_INDENT * self._depth}{text}{note}")

    def _settled(self, text: str, name: str, node: syntax.Statement) -> str:
        """Write what has to happen before a value is used, if anything; `name` is what to call it.

        Exceptions leave the body by themselves, so nothing has to here.
        """
        return text

    @contextmanager
    def _indented(self) -> Iterator[None]:
        self._depth += 1
        before = len(self._lines)
        yield
        if len(self._lines) == before:
            self._write("pass")
        self._depth -= 1

    # --- statements ----------------------------------------------------------------------------

    def _block(self, statements: Iterable[syntax.Statement]) -> None:
        self._locals.enter()
        for statement in statements:
            self._statement(statement)
        self._locals.leave()

    def _statement(self, node: syntax.Statement) -> None:
        match node:
            case syntax.Block(statements):
                self._block(statements)
            case syntax.LocalDeclaration():
                self._declaration(node)
            case syntax.ExpressionStatement(expression):
                self._expression(expression)
            case syntax.EmptyStatement():
                pass
            case syntax.If():
                self._if(node, "if")
            case syntax.While(condition, body):
                self._while(condition, node, body, ())
            case syntax.For():
                self._for(node)
            case syntax.Switch():
                self._switch(node)
            case syntax.Break():
                self._write("break", node)
            case syntax.Continue():
                self._continue(node)
            case syntax.Return(value):
                self._return(value, node)
            case syntax.Delay(duration):
                self._delay(duration, node)
            case syntax.Assertion():
                self._assertion(node)
            case _:
                assert_never(node)

    def _return(self, value: syntax.Expression | None, node: syntax.Return) -> None:
        shown = "" if value is None else f" {self._expressions.text(value, self._returns)}"
        self._write(f"return{shown}", node)

    def _delay(self, duration: syntax.Expression, node: syntax.Delay) -> None:
        self._write(f"self.delay({self._expressions.text(duration, INT)})", node)

    def _assertion(self, node: syntax.Assertion) -> None:
        shown = "" if node.text is None else f", {node.text!r}"
        self._write(f"require({self._expressions.text(node.condition)}{shown})", node)

    def _declaration(self, node: syntax.LocalDeclaration) -> None:
        kind = self._model.declared_type(node.type)
        for name, initial in node.variables:
            # The initial value is written first: it does not see the name it initialises.
            value = default_value(kind) if initial is None else self._initial(initial, kind)
            self._write(f"{self._locals.declare(name)} = {value}", node)

    def _initial(self, node: syntax.Initial, kind: Type) -> str:
        if not isinstance(node, syntax.ArrayInitializer):
            return self._expressions.text(node, kind)
        assert isinstance(kind, ArrayType)
        return f"[{', '.join(self._initial(each, kind.element) for each in node.values)}]"

    def _expression(self, node: syntax.Expression) -> None:
        if isinstance(node, syntax.Assignment | syntax.Increment):
            self._write(self._expressions.assignment(node), node)
        else:
            self._write(self._expressions.write(node).text, node)

    def _if(self, node: syntax.If, word: str) -> None:
        self._branch(node, word, self._expressions.text(node.condition))

    def _branch(self, node: syntax.If, word: str, condition: str) -> None:
        self._write(f"{word} {condition}:", node)
        with self._indented():
            self._block((node.then,))
        match node.otherwise:
            case None:
                pass
            case syntax.If() as other:
                self._if(other, "elif")
            case other:
                self._write("else:")
                with self._indented():
                    self._block((other,))

    # --- loops ---------------------------------------------------------------------------------

    def _while(
        self,
        condition: syntax.Expression | None,
        node: syntax.While | syntax.For,
        body: syntax.Statement,
        update: tuple[syntax.Expression, ...],
    ) -> None:
        shown = "True" if condition is None else self._expressions.text(condition)
        self._loop_head(shown, node)
        self._loop_body(body, update)

    def _loop_head(self, condition: str, node: syntax.While | syntax.For) -> None:
        self._write(f"while {condition}:", node)

    def _loop_body(self, body: syntax.Statement, update: tuple[syntax.Expression, ...]) -> None:
        self._updates.append(update)
        self._switches.append(None)
        with self._indented():
            self._block((body,))
            for expression in update:
                self._expression(expression)
        self._switches.pop()
        self._updates.pop()

    def _continue(self, node: syntax.Continue) -> None:
        flag = self._switches[-1]
        if flag is not None:  # inside a switch that is written as a loop of its own
            self._write(f"{flag} = True", node)
            self._write("break")
            return
        for expression in self._updates[-1]:
            self._expression(expression)
        self._write("continue", node)

    def _for(self, node: syntax.For) -> None:
        self._locals.enter()
        if not self._counting_loop(node):
            if isinstance(node.init, syntax.LocalDeclaration):
                self._declaration(node.init)
            else:
                for expression in node.init:
                    self._expression(expression)
            self._while(node.condition, node, node.body, node.update)
        self._locals.leave()

    def _counting_loop(self, node: syntax.For) -> bool:
        """Write `for (int i = a; i < b; i++)` as a range, where nothing else changes i or b."""
        counting = _counting(node)
        if counting is None:
            return False
        name, start, operator, end, step = counting
        changed = assigned_names(node.body)
        if name in changed or not self._is_fixed(end, changed):
            return False
        first, last = self._expressions.value(start, INT), self._expressions.value(end, INT)
        inclusive = operator in ("<=", ">=")
        if first.range is None or last.range is None:
            return False
        known = (
            Range(first.range.low, last.range.high - (not inclusive))
            if step > 0
            else Range(last.range.low + (not inclusive), first.range.high)
        )
        if inclusive and not Range(known.low - 1, known.high + 1).within(RANGES[INT]):
            return False  # counting past the last int wraps around and never ends
        stop = last.text if not inclusive else f"{last.at(AND)} {'+' if step > 0 else '-'} 1"
        begin = self._settled(first.text, "first", node)
        begin = "" if begin == "0" and step > 0 else f"{begin}, "
        stride = "" if step > 0 else ", -1"
        variable = self._locals.declare(name)
        self._write(f"for {variable} in range({begin}{stop}{stride}):", node)
        if known.low <= known.high:
            self._expressions.ranges[variable] = known
        self._loop_body(node.body, ())
        self._expressions.ranges.pop(variable, None)
        return True

    def _is_fixed(self, node: syntax.Expression, changed: frozenset[str]) -> bool:
        """Whether a loop's bound is a constant or a local that the loop leaves alone."""
        if self._model.is_constant(node):
            return True
        if not isinstance(node, syntax.Name):
            return False
        kind = self._model.symbol_of(node).kind
        return kind in ("local", "parameter") and node.identifier not in changed

    # --- switch --------------------------------------------------------------------------------

    def _switch(self, node: syntax.Switch) -> None:
        """Write a switch as if and elif.

        Where a case falls through, a number says which body is next, so that no statement stands
        twice: a `delay` has one place, however it is reached. A `break` that is not at the end of
        a case needs a loop to break out of, run once.
        """
        branches = [_until_break(case) for case in node.cases]
        inner_break = any(breaks(statement) for branch in branches for statement in branch)
        subject = self._expressions.value(node.subject)
        shown = subject.text
        if has_effect(node.subject) or len(node.cases) > 1:
            shown = self._locals.temporary("subject")
            self._write(f"{shown} = {subject.text}", node)
        shown = self._settled(shown, "subject", node)
        if not inner_break:
            self._branches(node, branches, shown)
            return
        flag = None
        if self._switches and any(continues(each) for branch in branches for each in branch):
            flag = self._locals.temporary("proceed")
            self._write(f"{flag} = False")
        self._switches.append(flag)
        self._write("while True:  # a switch, left by break", node)
        with self._indented():
            self._branches(node, branches, shown)
            self._write("break")
        self._switches.pop()
        if flag is not None:
            self._write(f"if {flag}:")
            with self._indented():
                self._continue(syntax.Continue())

    def _branches(
        self, node: syntax.Switch, branches: list[list[syntax.Statement]], subject: str
    ) -> None:
        if any(_falls_through(case) for case in node.cases[:-1]):
            self._numbered_branches(node, branches, subject)
            return
        word = "if"
        default: list[syntax.Statement] | None = None
        for case, statements in zip(node.cases, branches, strict=True):
            if case.value is None:
                default = statements
                continue
            value = self._expressions.value(case.value).at(NOT)
            self._write(
                f"{word} {subject} == {value}:", case.statements[0] if case.statements else None
            )
            with self._indented():
                self._block(statements)
            word = "elif"
        if default is None:
            return
        if word == "if":
            self._block(default)
            return
        self._write("else:")
        with self._indented():
            self._block(default)

    def _numbered_branches(
        self, node: syntax.Switch, branches: list[list[syntax.Statement]], subject: str
    ) -> None:
        """Write each body once, in order; one that falls through names the next."""
        number = self._locals.temporary("case")
        self._write(f"{number} = {self._numbers(node, subject)}")
        last = len(branches) - 1
        word = "if"
        for place, (case, statements) in enumerate(zip(node.cases, branches, strict=True)):
            if not case.statements:
                continue
            self._write(f"{word} {number} == {place}:", case.statements[0])
            falls = place < last and _falls_through(case)
            with self._indented():
                self._block(statements)
                if falls:
                    self._write(f"{number} = {_body_at(node.cases, place + 1)}")
            word = "if" if falls else "elif"

    def _numbers(self, node: syntax.Switch, subject: str) -> str:
        """Write which body a value of the subject leads to; -1 for none."""
        text, default = "", -1
        for place, case in enumerate(node.cases):
            body = _body_at(node.cases, place)
            if case.value is None:
                default = body
                continue
            text += f"{body} if {subject} == {self._expressions.value(case.value).at(NOT)} else "
        return f"{text}{default}"


def _body_at(cases: tuple[syntax.Case, ...], place: int) -> int:
    """Give the place of the first case from there on that has statements; -1 if none has."""
    return next((at for at in range(place, len(cases)) if cases[at].statements), -1)


def _falls_through(case: syntax.Case) -> bool:
    """Whether the end of a case is the beginning of the next, as far as the text tells."""
    ends = syntax.Break | syntax.Return | syntax.Continue
    return not any(isinstance(statement, ends) for statement in case.statements)


def _until_break(case: syntax.Case) -> list[syntax.Statement]:
    """Give the statements of a case up to a `break` or what else ends it."""
    statements: list[syntax.Statement] = []
    for statement in case.statements:
        if isinstance(statement, syntax.Break):
            return statements
        statements.append(statement)
        if isinstance(statement, syntax.Return | syntax.Continue):
            return statements
    return statements


Counting = tuple[str, syntax.Expression, str, syntax.Expression, int]


def _counting(node: syntax.For) -> Counting | None:
    """Recognise a loop over consecutive ints: (name, start, comparison, end, +1 or -1)."""
    match node:
        case syntax.For(
            init=syntax.LocalDeclaration(
                type=syntax.TypeName(name="int", dimensions=()),
                variables=((name, start),),
            ),
            condition=syntax.Binary(operator, left, end),
            update=(syntax.Increment(target, step, _),),
        ) if syntax.Name(name) == left == target and isinstance(start, syntax.Expression):
            if operator in ("<", "<=") and step == "++":
                return name, start, operator, end, 1
            if operator in (">", ">=") and step == "--":
                return name, start, operator, end, -1
    return None
