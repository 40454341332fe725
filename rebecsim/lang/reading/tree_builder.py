"""Build the syntax tree from the rules of grammar.lark: declarations and property files."""

# ruff: noqa: D102  (a method is named after the grammar rule that it builds)

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from lark import Token

from rebecsim.lang import syntax
from rebecsim.lang.errors import syntax_error
from rebecsim.lang.reading.body_builder import (
    BodyBuilder,
    Children,
    Part,
    expressions_of,
    nodes_of,
)
from rebecsim.lang.syntax import Expression, Node


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


class TreeBuilder(BodyBuilder):
    """All callbacks of the parser."""

    # --- declarations --------------------------------------------------------------------------

    def model(self, children: Children) -> syntax.Model:
        return syntax.Model(
            _flat(children, "env"),
            nodes_of(children, syntax.ReactiveClass),
            _value_of(children, "main"),
            nodes_of(children, syntax.Interface),
            span=self.around(children),
        )

    def expression_only(self, children: Children) -> Node:
        return cast(Node, children[0])

    def env_variable(self, children: Children) -> Part:
        kind = cast(syntax.TypeName, children[1])
        span = self.around(children)
        declared = tuple(
            syntax.EnvVariable(kind, *child.value, span=span)
            for child in children
            if isinstance(child, Part)
        )
        return self.part("env", declared, children)

    def env_declarator(self, children: Children) -> Part:
        name, _, value = children
        return self.part("env declarator", (str(name), value), children)

    def reactive_class(self, children: Children) -> syntax.ReactiveClass:
        name = _name_after(children, "reactiveclass")
        opening = next((i for i, child in enumerate(children) if child == "("), None)
        members: Children = _value_of(children, "body")
        return syntax.ReactiveClass(
            name,
            _value_of(children, "base", None),
            None if opening is None else cast(Expression, children[opening + 1]),
            _flat(members, "known rebecs"),
            _flat(members, "state variables"),
            nodes_of(members, syntax.Constructor),
            nodes_of(members, syntax.MessageServer),
            nodes_of(members, syntax.Method),
            nodes_of(children, syntax.Annotation),
            "abstract" in children,
            _value_of(children, "names", ()),
            span=self.around(children),
        )

    def base_class(self, children: Children) -> Part:
        return self.part("base", str(children[1]), children)

    def implemented(self, children: Children) -> Part:
        return self.part("names", tuple(map(str, children[1::2])), children)

    def interface(self, children: Children) -> syntax.Interface:
        bases = _value_of(children, "names", ())
        servers = nodes_of(children, syntax.MessageServer)
        return syntax.Interface(str(children[1]), bases, servers, span=self.around(children))

    base_interfaces = implemented

    def signature(self, children: Children) -> syntax.MessageServer:
        return syntax.MessageServer(
            str(children[1]),
            nodes_of(children, syntax.Parameter),
            None,
            span=self.around(children),
        )

    def class_body(self, children: Children) -> Part:
        return self.part("body", children, children)

    def known_rebecs(self, children: Children) -> Part:
        return self.part("known rebecs", _flat(children, "fields"), children)

    def state_variables(self, children: Children) -> Part:
        return self.part("state variables", _flat(children, "fields"), children)

    def fields(self, children: Children) -> Part:
        kind = cast(syntax.TypeName, children[0])
        declared = tuple(
            syntax.Field(kind, *child.value, span=child.span)
            for child in children
            if isinstance(child, Part)
        )
        return self.part("fields", declared, children)

    def field(self, children: Children) -> Part:
        name = cast(Token, children[0])
        value = cast(syntax.Initial, children[2]) if len(children) > 1 else None
        return Part("field", (str(name), value), self.token_span(name))

    def constructor(self, children: Children) -> syntax.Constructor:
        return syntax.Constructor(
            str(children[0]),
            nodes_of(children, syntax.Parameter),
            cast(syntax.Block, children[-1]),
            span=self.around(children),
        )

    def message_server(self, children: Children) -> syntax.MessageServer:
        name = _name_after(children, "msgsrv")
        parameters = nodes_of(children, syntax.Parameter)
        annotations = nodes_of(children, syntax.Annotation)
        body = children[-1] if isinstance(children[-1], syntax.Block) else None
        abstract = "abstract" in children
        self._body_fits(name, body, abstract, children)
        return syntax.MessageServer(
            name, parameters, body, annotations, abstract, span=self.around(children)
        )

    def method(self, children: Children) -> syntax.Method:
        name = next(
            str(child) for child in children if isinstance(child, Token) and child.type == "NAME"
        )
        kinds = nodes_of(children, syntax.TypeName)
        body = children[-1] if isinstance(children[-1], syntax.Block) else None
        abstract = "abstract" in children
        self._body_fits(name, body, abstract, children)
        return syntax.Method(
            name,
            kinds[0] if kinds else None,
            nodes_of(children, syntax.Parameter),
            body,
            abstract,
            span=self.around(children),
        )

    def _body_fits(
        self, name: str, body: syntax.Block | None, abstract: bool, children: Children
    ) -> None:
        if abstract and body is not None:
            raise syntax_error("abstract-with-body", self.around(children), name=name)
        if not abstract and body is None:
            raise syntax_error("body-missing", self.around(children), name=name)

    def parameter(self, children: Children) -> syntax.Parameter:
        kind, name = children
        return syntax.Parameter(cast(syntax.TypeName, kind), str(name), span=self.around(children))

    def annotation(self, children: Children) -> syntax.Annotation:
        value = cast(Expression, children[3]) if len(children) > 2 else None
        return syntax.Annotation(str(children[1]), value, span=self.around(children))

    def type(self, children: Children) -> syntax.TypeName:
        dimensions = tuple(cast(Expression, child) for child in children if isinstance(child, Node))
        return syntax.TypeName(str(children[0]), dimensions, span=self.around(children))

    local_type = type

    def main(self, children: Children) -> Part:
        return self.part("main", nodes_of(children, syntax.Instance), children)

    def instance(self, children: Children) -> syntax.Instance:
        colon = next(i for i, child in enumerate(children) if child == ":")
        names = [child for child in children if isinstance(child, Token) and child.type == "NAME"]
        annotations = nodes_of(children, syntax.Annotation)
        return syntax.Instance(
            str(names[0]),
            str(names[1]),
            expressions_of(children[len(annotations) : colon]),
            expressions_of(children[colon:]),
            annotations,
            span=self.around(children),
        )

    # --- property files ------------------------------------------------------------------------

    def property_file(self, children: Children) -> PropertySection:
        sections = nodes_of(children, PropertySection)
        return PropertySection(str(children[0]), sections, span=self.around(children))

    def property_section(self, children: Children) -> PropertySection:
        items = nodes_of(children, PropertyItem)
        span = self.token_span(cast(Token, children[0]))
        return PropertySection(str(children[0]), items, span=span)

    def property_item(self, children: Children) -> PropertyItem:
        name, separator, expression, _ = children
        return PropertyItem(
            str(name), str(separator), cast(Expression, expression), span=self.around(children)
        )


def _values(children: Children, kind: str) -> Iterator[Any]:
    return (child.value for child in children if isinstance(child, Part) and child.kind == kind)


def _value_of(children: Children, kind: str, otherwise: Any = None) -> Any:
    return next(_values(children, kind), otherwise)


def _flat(children: Children, kind: str) -> tuple[Any, ...]:
    return tuple(item for value in _values(children, kind) for item in value)


def _name_after(children: Children, keyword: str) -> str:
    position = next(i for i, child in enumerate(children) if child == keyword)
    return str(children[position + 1])
