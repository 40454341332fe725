"""Build the syntax tree from the rules of grammar.lark.

Lark calls what has the name of a rule with the rule's children as soon as it has read them: tokens,
nodes, and `Part` for pieces that are no node of their own. Every token is among the children, so
the first and the last child give the span.

Most rules are lines of the tables `_NODES` and `_PARTS`: what they become, and which of their
children that takes. A rule that needs more is a method of `TreeBuilder`.
"""

# ruff: noqa: D102  (a method is named after the grammar rule that it builds)

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any, cast

from lark import Token

from rebecsim.lang import syntax
from rebecsim.lang.errors import syntax_error
from rebecsim.lang.syntax import Expression, Node, Span
from rebecsim.lang.traversal import (
    BINARY_PRECEDENCE,
    INSTANCE_OF,
    float_value,
    integer_value,
    text_value,
)


class PropertyItem(Node):
    """`name = expression;` or `Name: expression;` of a property file."""

    name: str
    separator: str
    expression: Expression


class PropertySection(Node):
    """`define { ... }`, `Assertion { ... }`: a keyword and its items, not yet understood.

    A whole property file has the same shape, its sections in the place of the items.
    """

    keyword: str
    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a rule that becomes part of the node above it."""

    kind: str
    value: Any
    span: Span


Child = Token | Node | Part
Children = Sequence[Child]
Take = Callable[[Children], Any]
"""Takes of the children of a rule what one field of its node holds."""


# --- what a field takes of the children ----------------------------------------------------------


def _text(place: int) -> Take:
    return lambda children: str(children[place])


def _value(place: int) -> Take:
    return lambda children: cast(Part, children[place]).value


def _if_there(place: int, beside: int) -> Take:
    """A child that is left out where there are no children but so many others beside it."""
    return lambda children: children[place] if len(children) > beside else None


def _each(kind: type[Node]) -> Take:
    return lambda children: tuple(child for child in children if isinstance(child, kind))


_nodes = _each(Node)


def _values(children: Children, kind: str) -> Iterator[Any]:
    return (child.value for child in children if isinstance(child, Part) and child.kind == kind)


def _of_part(kind: str, otherwise: Any = None) -> Take:
    return lambda children: next(_values(children, kind), otherwise)


def _flat(kind: str) -> Take:
    return lambda children: tuple(item for value in _values(children, kind) for item in value)


def _name_after(keyword: str) -> Take:
    return lambda children: str(children[children.index(cast(Token, keyword)) + 1])


def _name_and_value(children: Children) -> tuple[str, syntax.Initial | None]:
    """The name that is declared, and its initial value."""
    return str(children[0]), cast(syntax.Initial, children[2]) if len(children) > 1 else None


_first, _second, _third = itemgetter(0), itemgetter(1), itemgetter(2)

_NODES: dict[str, tuple[Callable[..., Node], *tuple[Take, ...]]] = {
    # declarations
    "model": (
        syntax.Model,
        _flat("env"),
        _each(syntax.ReactiveClass),
        _of_part("main"),
        _each(syntax.Interface),
        _each(syntax.Import),
    ),
    "library": (
        syntax.Library,
        _flat("env"),
        _each(syntax.ReactiveClass),
        lambda _: (),
        _each(syntax.Interface),
        _each(syntax.Import),
    ),
    "interface": (
        syntax.Interface,
        _text(1),
        _of_part("names", ()),
        _each(syntax.MessageServer),
    ),
    "signature": (syntax.MessageServer, _text(1), _each(syntax.Parameter), lambda _: None),
    "constructor": (syntax.Constructor, _text(0), _each(syntax.Parameter), itemgetter(-1)),
    "parameter": (syntax.Parameter, _first, _text(1)),
    "annotation": (syntax.Annotation, _text(1), _if_there(3, beside=2)),
    "type": (syntax.TypeName, _text(0), _nodes),
    "local_type": (syntax.TypeName, _text(0), _nodes),
    "class_name": (syntax.TypeName, _text(0)),
    "property_file": (PropertySection, _text(0), _each(PropertySection)),
    "property_item": (PropertyItem, _text(0), _text(1), _third),
    # statements
    "block": (syntax.Block, _nodes),
    "array_initializer": (syntax.ArrayInitializer, _nodes),
    "expression_statement": (syntax.ExpressionStatement, _first),
    "empty_statement": (syntax.EmptyStatement,),
    "if_statement": (syntax.If, _third, itemgetter(4), _if_there(6, beside=5)),
    "while_statement": (syntax.While, _third, itemgetter(4)),
    "for_statement": (syntax.For, _value(2), _value(4), _value(6), itemgetter(8)),
    "switch_statement": (syntax.Switch, _third, _each(syntax.Case)),
    "break_statement": (syntax.Break,),
    "continue_statement": (syntax.Continue,),
    "return_statement": (syntax.Return, _if_there(1, beside=2)),
    "delay_statement": (syntax.Delay, _third),
    # expressions
    "assignment": (syntax.Assignment, _first, _text(1), _third),
    "conditional": (syntax.Conditional, _first, _third, itemgetter(4)),
    "unary": (syntax.Unary, _text(0), _second),
    "prefix_increment": (syntax.Increment, _second, _text(0), lambda _: True),
    "postfix_increment": (syntax.Increment, _first, _text(1), lambda _: False),
    "name": (syntax.Name, _text(0)),
    "call": (syntax.Call, _text(0), _nodes),
}
"""The rules that become a node: which, and what its fields take of the children."""

_PARTS: dict[str, tuple[str, Take]] = {
    "base_class": ("base", _text(1)),
    "implemented": ("names", lambda children: tuple(map(str, children[1::2]))),
    "base_interfaces": ("names", lambda children: tuple(map(str, children[1::2]))),
    "class_body": ("body", lambda children: children),
    "known_rebecs": ("known rebecs", _flat("fields")),
    "state_variables": ("state variables", _flat("fields")),
    "env_declarator": ("declared", _name_and_value),
    "declarator": ("declared", _name_and_value),
    "main": ("main", _each(syntax.Instance)),
    "alternative": ("alternative", lambda children: (children[0], children[2:3])),
    "for_condition": ("condition", lambda children: children[0] if children else None),
    "for_update": ("update", _nodes),
}
"""The rules that become a part of the node above: its kind, and its value."""


class TreeBuilder:
    """The callbacks of the parser. `file` is the name that spans get."""

    def __init__(self) -> None:
        self.file = "<string>"
        for rule, (kind, *fields) in _NODES.items():
            setattr(self, rule, partial(self._node, kind, fields))
        for rule, (name, take) in _PARTS.items():
            setattr(self, rule, partial(self._part, name, take))

    def _node(self, kind: Callable[..., Node], fields: Sequence[Take], children: Children) -> Node:
        return kind(*[take(children) for take in fields], span=self.around(children))

    def _part(self, kind: str, take: Take, children: Children) -> Part:
        span = self.around(children) if children else syntax.NOWHERE
        return Part(kind, take(children), span)

    # --- spans ---------------------------------------------------------------------------------

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
        if not children:  # a file without declarations
            return Span(self.file, 1, 1, 1, 1)
        return self._span(children[0], children[-1])

    # --- declarations --------------------------------------------------------------------------

    def expression_only(self, children: Children) -> Node:
        return cast(Node, children[0])

    def import_line(self, children: Children) -> syntax.Import:
        quoted = cast(Token, children[1])
        path = text_value(str(quoted), self.token_span(quoted))
        return syntax.Import(path, span=self.token_span(quoted))

    def env_variable(self, children: Children) -> Part:
        kind, span = cast(syntax.TypeName, children[1]), self.around(children)
        declared = [syntax.EnvVariable(kind, *each, span=span) for each in _declared(children)]
        return Part("env", tuple(declared), span)

    def reactive_class(self, children: Children) -> syntax.ReactiveClass:
        opening = next((i for i, child in enumerate(children) if child == "("), None)
        members: Children = _of_part("body")(children)
        return syntax.ReactiveClass(
            _name_after("reactiveclass")(children),
            _of_part("base")(children),
            None if opening is None else cast(Expression, children[opening + 1]),
            _flat("known rebecs")(members),
            _flat("state variables")(members),
            _each(syntax.Constructor)(members),
            _each(syntax.MessageServer)(members),
            _each(syntax.Method)(members),
            _each(syntax.Annotation)(children),
            "abstract" in children,
            _of_part("names", ())(children),
            _flat("env")(members),
            span=self.around(children),
        )

    def fields(self, children: Children) -> Part:
        kind, *others = children
        declared = tuple(
            syntax.Field(cast(syntax.TypeName, kind), *each.value, span=each.span)
            for each in others
            if isinstance(each, Part)
        )
        return Part("fields", declared, self.around(children))

    def field(self, children: Children) -> Part:
        name = cast(Token, children[0])
        return Part("declared", _name_and_value(children), self.token_span(name))

    def message_server(self, children: Children) -> syntax.MessageServer:
        name = _name_after("msgsrv")(children)
        return syntax.MessageServer(
            name,
            _each(syntax.Parameter)(children),
            self._body(name, children),
            _each(syntax.Annotation)(children),
            "abstract" in children,
            span=self.around(children),
        )

    def method(self, children: Children) -> syntax.Method:
        name = next(
            str(child) for child in children if isinstance(child, Token) and child.type == "NAME"
        )
        kinds = _each(syntax.TypeName)(children)
        return syntax.Method(
            name,
            kinds[0] if kinds else None,
            _each(syntax.Parameter)(children),
            self._body(name, children),
            "abstract" in children,
            span=self.around(children),
        )

    def _body(self, name: str, children: Children) -> syntax.Block | None:
        """The body of a message server or method, which abstract ones do not have."""
        body = children[-1] if isinstance(children[-1], syntax.Block) else None
        if ("abstract" in children) == (body is not None):
            code = "body-missing" if body is None else "abstract-with-body"
            raise syntax_error(code, self.around(children), name=name)
        return body

    def instance(self, children: Children) -> syntax.Instance:
        colon = children.index(cast(Token, ":"))
        kind, name = (each for each in children if isinstance(each, Token) and each.type == "NAME")
        annotations = _each(syntax.Annotation)(children)
        return syntax.Instance(
            str(kind),
            str(name),
            _nodes(children[len(annotations) : colon]),
            _nodes(children[colon:]),
            annotations,
            span=self.around(children),
        )

    def property_section(self, children: Children) -> PropertySection:
        keyword = cast(Token, children[0])
        items = _each(PropertyItem)(children)
        return PropertySection(str(keyword), items, span=self.token_span(keyword))

    # --- statements ----------------------------------------------------------------------------

    def local_declaration(self, children: Children) -> syntax.LocalDeclaration:
        kind = self._type_of_local(children[0])
        return syntax.LocalDeclaration(kind, _declared(children), span=self.around(children))

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

    def declaration_statement(self, children: Children) -> syntax.LocalDeclaration:
        return replace(cast(syntax.LocalDeclaration, children[0]), span=self.around(children))

    def for_init(self, children: Children) -> Part:
        declared = bool(children) and isinstance(children[0], syntax.LocalDeclaration)
        return self._part("init", _first if declared else _nodes, children)

    def switch_case(self, children: Children) -> syntax.Case:
        colon = children.index(cast(Token, ":"))
        value = cast(Expression, children[1]) if colon == 2 else None
        return syntax.Case(value, _nodes(children[colon:]), span=self.around(children))

    def assertion_statement(self, children: Children) -> syntax.Assertion:
        text = None
        if len(children) > 5:
            quoted = cast(Token, children[4])
            text = text_value(str(quoted), self.token_span(quoted))
        return syntax.Assertion(cast(Expression, children[2]), text, span=self.around(children))

    def prob(self, children: Children) -> Part:
        return Part("prob", (children[2], children[5]), self.around(children))

    def p_alt(self, children: Children) -> syntax.PAlt:
        return syntax.p_alt(tuple(_values(children, "prob")), self.around(children))

    # --- expressions ---------------------------------------------------------------------------

    def choice(self, children: Children) -> syntax.Choice:
        span, found = self.around(children), tuple(_values(children, "alternative"))
        weights = tuple(first for first, behind in found if behind)
        if weights and len(weights) < len(found):
            raise syntax_error("choice-mixed", span)
        return syntax.Choice(
            tuple(behind[0] if behind else first for first, behind in found), weights, span=span
        )

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

    def member(self, children: Children) -> Expression:
        target, name, span = cast(Expression, children[0]), str(children[2]), self.around(children)
        if isinstance(target, syntax.Name) and target.identifier == "self":
            return syntax.OwnVariable(name, span=span)
        return syntax.Member(target, name, span=span)

    def send(self, children: Children) -> syntax.Send:
        receiver, *arguments = _nodes(children)
        return syntax.Send(
            receiver,
            str(children[2]),
            tuple(arguments),
            **_timings(children),
            span=self.around(children),
        )

    def timed_call(self, children: Children) -> syntax.Call:
        name, timings = str(children[0]), _timings(children)
        return syntax.Call(name, _nodes(children), **timings, span=self.around(children))

    def timing(self, children: Children) -> Part:
        return Part(str(children[0]), children[2], self.around(children))

    def element(self, children: Children) -> syntax.Index:
        array, _, index, _ = children
        if isinstance(array, Token):
            array = syntax.Name(str(array), span=self.token_span(array))
        return syntax.Index(
            cast(Expression, array), cast(Expression, index), span=self.around(children)
        )

    named_element = element

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
            return syntax.IntLiteral(ord(text_value(str(token), span)), span=span)
        if token == "null":
            return syntax.NullLiteral(span=span)
        return syntax.BoolLiteral(token == "true", span=span)


def _declared(children: Children) -> tuple[Any, ...]:
    """The names that are declared, with their initial values."""
    return tuple(_values(children, "declared"))


def _timings(children: Children) -> dict[str, Expression]:
    """Give what `after` and `deadline` say, by these words."""
    given: dict[str, Expression] = {}
    for child in children:
        if isinstance(child, Part):
            if child.kind in given:
                raise syntax_error("timing-twice", child.span, word=child.kind)
            given[child.kind] = child.value
    return given
