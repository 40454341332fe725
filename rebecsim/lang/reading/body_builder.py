"""Build the syntax tree from the rules of grammar.lark: statements and expressions.

Lark calls a method with the children of the rule as soon as it has read them: tokens, nodes, and
`Part` for pieces that are no node of their own. Every token is among the children, so the first
and the last child give the span.
"""

# ruff: noqa: D102  (a method is named after the grammar rule that it builds)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from lark import Token

from rebecsim.lang import syntax
from rebecsim.lang.errors import syntax_error
from rebecsim.lang.notation import (
    BINARY_PRECEDENCE,
    INSTANCE_OF,
    character_value,
    float_value,
    integer_value,
    text_value,
)
from rebecsim.lang.syntax import Expression, Node, Span, Statement


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a rule that becomes part of the node above it."""

    kind: str
    value: Any
    span: Span


Child = Token | Node | Part
Children = Sequence[Child]
N = TypeVar("N", bound=Node)


class BodyBuilder:
    """The callbacks for statements and expressions. `file` is the name that spans get."""

    def __init__(self) -> None:
        self.file = "<string>"

    # --- spans and pieces ----------------------------------------------------------------------

    def token_span(self, token: Token) -> Span:
        """Where a token stands."""
        position = cast(
            tuple[int, int, int, int],
            (token.line, token.column, token.end_line, token.end_column),
        )
        return Span(self.file, *position)

    def _span(self, first: Child, last: Child) -> Span:
        start = self.token_span(first) if isinstance(first, Token) else first.span
        if last is first:
            return start
        end = self.token_span(last) if isinstance(last, Token) else last.span
        return Span(self.file, start.line, start.column, end.end_line, end.end_column)

    def around(self, children: Children) -> Span:
        return self._span(children[0], children[-1])

    def part(self, kind: str, value: Any, children: Children) -> Part:
        span = self.around(children) if children else syntax.NOWHERE
        return Part(kind, value, span)

    # --- statements ----------------------------------------------------------------------------

    def block(self, children: Children) -> syntax.Block:
        return syntax.Block(_statements(children), span=self.around(children))

    def local_declaration(self, children: Children) -> syntax.LocalDeclaration:
        variables = tuple(
            child.value
            for child in children
            if isinstance(child, Part) and child.kind == "declarator"
        )
        return syntax.LocalDeclaration(
            self._type_of_local(children[0]), variables, span=self.around(children)
        )

    def _type_of_local(self, child: Child) -> syntax.TypeName:
        if isinstance(child, syntax.TypeName):
            return child
        span = self.around([child])
        if isinstance(child, Token):
            return syntax.TypeName(str(child), span=span)
        dimensions: list[Expression] = []
        node = child
        while isinstance(node, syntax.Index):
            dimensions.insert(0, node.index)
            node = node.array
        return syntax.TypeName(cast(syntax.Name, node).identifier, tuple(dimensions), span=span)

    def declarator(self, children: Children) -> Part:
        value = cast(syntax.Initial, children[2]) if len(children) > 1 else None
        return self.part("declarator", (str(children[0]), value), children)

    def array_initializer(self, children: Children) -> syntax.ArrayInitializer:
        values = tuple(cast(syntax.Initial, child) for child in children if isinstance(child, Node))
        return syntax.ArrayInitializer(values, span=self.around(children))

    def declaration_statement(self, children: Children) -> syntax.LocalDeclaration:
        declaration = cast(syntax.LocalDeclaration, children[0])
        return replace(declaration, span=self.around(children))

    def expression_statement(self, children: Children) -> syntax.ExpressionStatement:
        expression = cast(Expression, children[0])
        return syntax.ExpressionStatement(expression, span=self.around(children))

    def empty_statement(self, children: Children) -> syntax.EmptyStatement:
        return syntax.EmptyStatement(span=self.around(children))

    def if_statement(self, children: Children) -> syntax.If:
        otherwise = cast(Statement, children[6]) if len(children) > 5 else None
        return syntax.If(
            cast(Expression, children[2]),
            cast(Statement, children[4]),
            otherwise,
            span=self.around(children),
        )

    def while_statement(self, children: Children) -> syntax.While:
        _, _, condition, _, body = children
        return syntax.While(
            cast(Expression, condition), cast(Statement, body), span=self.around(children)
        )

    def for_statement(self, children: Children) -> syntax.For:
        _, _, init, _, condition, _, update, _, body = children
        return syntax.For(
            cast(Part, init).value,
            cast(Part, condition).value,
            cast(Part, update).value,
            cast(Statement, body),
            span=self.around(children),
        )

    def for_init(self, children: Children) -> Part:
        declared = children and isinstance(children[0], syntax.LocalDeclaration)
        return self.part("init", children[0] if declared else expressions_of(children), children)

    def for_condition(self, children: Children) -> Part:
        return self.part("condition", children[0] if children else None, children)

    def for_update(self, children: Children) -> Part:
        return self.part("update", expressions_of(children), children)

    def switch_statement(self, children: Children) -> syntax.Switch:
        return syntax.Switch(
            cast(Expression, children[2]),
            nodes_of(children, syntax.Case),
            span=self.around(children),
        )

    def switch_case(self, children: Children) -> syntax.Case:
        colon = next(i for i, child in enumerate(children) if child == ":")
        value = cast(Expression, children[1]) if colon == 2 else None
        return syntax.Case(value, _statements(children[colon:]), span=self.around(children))

    def break_statement(self, children: Children) -> syntax.Break:
        return syntax.Break(span=self.around(children))

    def continue_statement(self, children: Children) -> syntax.Continue:
        return syntax.Continue(span=self.around(children))

    def return_statement(self, children: Children) -> syntax.Return:
        value = cast(Expression, children[1]) if len(children) > 2 else None
        return syntax.Return(value, span=self.around(children))

    def delay_statement(self, children: Children) -> syntax.Delay:
        return syntax.Delay(cast(Expression, children[2]), span=self.around(children))

    def assertion_statement(self, children: Children) -> syntax.Assertion:
        text = None
        if len(children) > 5:
            quoted = cast(Token, children[4])
            text = text_value(str(quoted), self.token_span(quoted))
        return syntax.Assertion(cast(Expression, children[2]), text, span=self.around(children))

    # --- expressions ---------------------------------------------------------------------------

    def assignment(self, children: Children) -> syntax.Assignment:
        target, operator, value = children
        return syntax.Assignment(
            cast(Expression, target),
            cast(syntax.AssignmentOperator, str(operator)),
            cast(Expression, value),
            span=self.around(children),
        )

    def conditional(self, children: Children) -> syntax.Conditional:
        condition, then, otherwise = expressions_of(children)
        return syntax.Conditional(condition, then, otherwise, span=self.around(children))

    def binary(self, children: Children) -> Expression:
        """Group a flat `a + b * c` by precedence (the shunting-yard method)."""
        operands = [cast(Expression, children[0])]
        waiting: list[syntax.BinaryOperator] = []

        def reduce(precedence: int) -> None:
            while waiting and BINARY_PRECEDENCE[waiting[-1]] >= precedence:
                right, left = operands.pop(), operands.pop()
                span = self._span(left, right)
                operands.append(syntax.Binary(waiting.pop(), left, right, span=span))

        for token, operand in zip(children[1::2], children[2::2], strict=True):
            if isinstance(operand, syntax.TypeName):
                reduce(INSTANCE_OF)
                tested = operands.pop()
                span = self._span(tested, operand)
                operands.append(syntax.InstanceOf(tested, operand, span=span))
                continue
            operator = cast(syntax.BinaryOperator, str(token))
            reduce(BINARY_PRECEDENCE[operator])
            waiting.append(operator)
            operands.append(cast(Expression, operand))
        reduce(min(BINARY_PRECEDENCE.values()))
        return operands[0]

    def class_name(self, children: Children) -> syntax.TypeName:
        return syntax.TypeName(str(children[0]), span=self.around(children))

    def unary(self, children: Children) -> syntax.Unary:
        operator, operand = children
        return syntax.Unary(
            cast(syntax.UnaryOperator, str(operator)),
            cast(Expression, operand),
            span=self.around(children),
        )

    def prefix_increment(self, children: Children) -> syntax.Increment:
        operator, target = children
        return self._increment(operator, target, children, prefix=True)

    def postfix_increment(self, children: Children) -> syntax.Increment:
        target, operator = children
        return self._increment(operator, target, children, prefix=False)

    def _increment(
        self, operator: Child, target: Child, children: Children, *, prefix: bool
    ) -> syntax.Increment:
        sign: Any = str(operator)
        span = self.around(children)
        return syntax.Increment(cast(Expression, target), sign, prefix, span=span)

    def choice(self, children: Children) -> syntax.Choice:
        return syntax.Choice(expressions_of(children), span=self.around(children))

    def cast(self, children: Children) -> syntax.Cast:
        name = cast(Token, children[1])
        kind = syntax.TypeName(str(name), span=self.token_span(name))
        return syntax.Cast(kind, cast(Expression, children[3]), span=self.around(children))

    def class_cast(self, children: Children) -> syntax.Cast:
        _, kind, _, operand = children
        if not isinstance(kind, syntax.Name):
            raise syntax_error("operator-missing", self.around([operand]))
        named = syntax.TypeName(kind.identifier, span=kind.span)
        return syntax.Cast(named, cast(Expression, operand), span=self.around(children))

    def send(self, children: Children) -> syntax.Send:
        receiver, *arguments = expressions_of(children)
        return syntax.Send(
            receiver,
            str(children[2]),
            tuple(arguments),
            **_timings(children),
            span=self.around(children),
        )

    def timed_call(self, children: Children) -> syntax.Call:
        return syntax.Call(
            str(children[0]),
            expressions_of(children),
            **_timings(children),
            span=self.around(children),
        )

    def timing(self, children: Children) -> Part:
        return self.part(str(children[0]), children[2], children)

    def name(self, children: Children) -> syntax.Name:
        return syntax.Name(str(children[0]), span=self.around(children))

    def element(self, children: Children) -> syntax.Index:
        array, _, index, _ = children
        if isinstance(array, Token):
            array = syntax.Name(str(array), span=self.token_span(array))
        return syntax.Index(
            cast(Expression, array), cast(Expression, index), span=self.around(children)
        )

    named_element = element

    def member(self, children: Children) -> syntax.Member:
        target, _, name = children
        return syntax.Member(cast(Expression, target), str(name), span=self.around(children))

    def call(self, children: Children) -> syntax.Call:
        return syntax.Call(str(children[0]), expressions_of(children), span=self.around(children))

    def parenthesised(self, children: Children) -> Node:
        return cast(Node, children[1])

    def literal(self, children: Children) -> Expression:
        token = cast(Token, children[0])
        span = self.token_span(token)
        if token.type == "INTEGER":
            return syntax.IntLiteral(integer_value(str(token), span), span=span)
        if token.type == "FLOAT":
            value = float_value(str(token), span)
            return syntax.FloatLiteral(value, token[-1] in "fF", span=span)
        if token.type == "CHARACTER":
            return syntax.IntLiteral(character_value(str(token), span), span=span)
        if token == "null":
            return syntax.NullLiteral(span=span)
        return syntax.BoolLiteral(token == "true", span=span)


def _timings(children: Children) -> dict[str, Expression]:
    """Give what `after` and `deadline` say, by these words."""
    given: dict[str, Expression] = {}
    for child in children:
        if isinstance(child, Part):
            if child.kind in given:
                raise syntax_error("timing-twice", child.span, word=child.kind)
            given[child.kind] = child.value
    return given


def nodes_of(children: Children, kind: type[N]) -> tuple[N, ...]:
    """The children that are nodes of that kind."""
    return tuple(child for child in children if isinstance(child, kind))


def expressions_of(children: Children) -> tuple[Expression, ...]:
    """The children that are nodes, where these can only be expressions."""
    return tuple(cast(Expression, child) for child in children if isinstance(child, Node))


def _statements(children: Children) -> tuple[Statement, ...]:
    return tuple(cast(Statement, child) for child in children if isinstance(child, Node))
