"""Answer an editor's questions: what a name means, where it is declared, what is in the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from rebecsim.lang import CheckedModel, print_expression, syntax, walk
from rebecsim.lang.checked import RebecType
from rebecsim.lang.printer import print_parameters, print_type
from rebecsim.lang.syntax import Node, Span

Owner = syntax.MessageServer | syntax.Method | syntax.Constructor
"""What has parameters and a body."""

Declared = (
    Owner
    | syntax.ReactiveClass
    | syntax.Interface
    | syntax.Field
    | syntax.Parameter
    | syntax.EnvVariable
    | syntax.Instance
    | syntax.LocalDeclaration
)


_Named = syntax.Field | syntax.Parameter | syntax.EnvVariable | syntax.Instance


@dataclass(frozen=True)
class Entry:
    """A line of the outline."""

    name: str
    detail: str
    kind: Literal["class", "interface", "constructor", "server", "method", "variable", "constant"]
    span: Span
    entries: tuple[Entry, ...] = ()


# --- what stands here ----------------------------------------------------------------------------


def nodes_at(tree: syntax.Model, line: int, column: int) -> list[Node]:
    """Give the nodes around a place, the innermost one last; lines and columns count from 1."""
    own = tree.span.file
    return [node for node in walk(tree) if _holds(node.span, own, (line, column))]


def _holds(span: Span, file: str, place: tuple[int, int]) -> bool:
    begins, ends = (span.line, span.column), (span.end_line, span.end_column)
    return span.file == file and begins <= place < ends


def hover(checked: CheckedModel, line: int, column: int) -> tuple[str, Span] | None:
    """Say what stands at a place, in Rebeca, and how far it reaches; None where nothing does."""
    around = nodes_at(checked.tree, line, column)
    for node in reversed(around):
        text = _described(checked, node, around)
        if text is not None:
            return text, node.span
        if isinstance(node, syntax.Statement | Declared):
            return None
    return None


def _described(checked: CheckedModel, node: Node, around: list[Node]) -> str | None:
    if isinstance(node, syntax.Name) and id(node) in checked.symbols:
        symbol = checked.symbol_of(node)
        value = "" if symbol.value is None or symbol.kind != "env" else f" = {symbol.value}"
        return f"{symbol.type} {symbol.name}{value}  // {_KINDS[symbol.kind]}"
    if isinstance(node, syntax.Member) or not isinstance(node, syntax.Expression):
        found = declaration(checked, around[: around.index(node) + 1])
        return None if found is None else signature(found)
    if isinstance(node, syntax.Send | syntax.Call):
        found = _called(checked, node, around)
        return None if found is None else signature(found)
    if id(node) in checked.types:
        return f"{checked.type_of(node)}  // type of {print_expression(node)}"
    return None


_KINDS = {
    "env": "a constant of the model",
    "state": "a state variable",
    "known": "a known rebec",
    "local": "a variable of this message server",
    "parameter": "a parameter",
    "builtin": "of the language",
    "definition": "of the property file",
}


def signature(node: Declared) -> str:
    """Write a declaration without what is inside."""
    match node:
        case syntax.ReactiveClass():
            base = f" extends {node.base}" if node.base else ""
            size = "" if node.queue_size is None else f"({print_expression(node.queue_size)})"
            return f"reactiveclass {node.name}{base}{size}"
        case syntax.Interface():
            return f"interface {node.name}"
        case syntax.Instance():
            return f"{node.class_name} {node.name}  // a rebec of main"
        case syntax.LocalDeclaration():
            names = ", ".join(name for name, _ in node.variables)
            return f"{print_type(node.type)} {names}  // a variable of this message server"
        case syntax.Field() | syntax.Parameter():
            return f"{print_type(node.type)} {node.name}"
        case syntax.EnvVariable():
            return f"env {print_type(node.type)} {node.name}"
    head = f"{node.name}{print_parameters(node)}"
    if isinstance(node, syntax.MessageServer):
        return f"msgsrv {head}"
    if isinstance(node, syntax.Constructor):
        return head
    return f"{'void' if node.return_type is None else print_type(node.return_type)} {head}"


# --- where it is declared ------------------------------------------------------------------------


def declaration(checked: CheckedModel, around: list[Node]) -> Declared | None:
    """Give what declares the innermost of these nodes; None if nothing in the text does."""
    node = around[-1]
    if isinstance(node, Declared):
        return node
    if isinstance(node, syntax.TypeName):
        return _class_of(checked, node.name)
    if isinstance(node, syntax.Send | syntax.Call):
        return _called(checked, node, around)
    if isinstance(node, syntax.Name):
        return next(_declarations(checked, node, around), None)
    return None


def _class_of(checked: CheckedModel, name: str) -> Declared | None:
    if name in checked.classes:
        return checked.classes[name].tree
    return checked.interfaces[name].tree if name in checked.interfaces else None


def _called(
    checked: CheckedModel, node: syntax.Send | syntax.Call, around: list[Node]
) -> Declared | None:
    if isinstance(node, syntax.Send):
        receiver = checked.types.get(id(node.receiver))
        return checked.server_of(node).tree if isinstance(receiver, RebecType) else None
    for owner in around:
        if isinstance(owner, syntax.ReactiveClass):
            return checked.classes[owner.name].methods.get(node.method)
    return None


def _declarations(
    checked: CheckedModel, name: syntax.Name, around: list[Node]
) -> Iterator[Declared]:
    """Give all declarations of a name that are seen from there, the nearest one first."""
    for node in reversed(around):
        if isinstance(node, Owner) and not isinstance(name, syntax.OwnVariable):
            before = [
                each
                for each in walk(node)
                if isinstance(each, syntax.LocalDeclaration)
                and (each.span.line, each.span.column) <= (name.span.line, name.span.column)
                and any(variable == name.identifier for variable, _ in each.variables)
            ]
            yield from reversed(before)
            yield from _named(node.parameters, name.identifier)
        elif isinstance(node, syntax.ReactiveClass):
            for kind in (node.name, *checked.classes[node.name].ancestors):
                tree = checked.classes[kind].tree
                yield from _named((*tree.state_variables, *tree.known_rebecs), name.identifier)
    yield from _named((*checked.tree.env_variables, *checked.tree.instances), name.identifier)


def _named(nodes: Iterable[_Named], name: str) -> Iterator[Declared]:
    return (each for each in nodes if each.name == name)


# --- what is in the text -------------------------------------------------------------------------


def outline(tree: syntax.Model) -> list[Entry]:
    """Give constants, interfaces, classes with what they have, and the rebecs of main."""
    return [
        *(Entry(each.name, signature(each), "constant", each.span) for each in tree.env_variables),
        *(_interface(each) for each in tree.interfaces),
        *(_class(each) for each in tree.classes),
        *(Entry(each.name, each.class_name, "variable", each.span) for each in tree.instances),
    ]


def _interface(node: syntax.Interface) -> Entry:
    servers = (Entry(each.name, "", "server", each.span) for each in node.message_servers)
    return Entry(node.name, signature(node), "interface", node.span, tuple(servers))


def _class(node: syntax.ReactiveClass) -> Entry:
    fields = (*node.known_rebecs, *node.state_variables)
    entries = [
        *(Entry(each.name, signature(each), "constant", each.span) for each in node.constants),
        *(Entry(each.name, print_type(each.type), "variable", each.span) for each in fields),
        *(
            Entry(each.name, signature(each), "constructor", each.span)
            for each in node.constructors
        ),
        *(Entry(each.name, signature(each), "server", each.span) for each in node.message_servers),
        *(Entry(each.name, signature(each), "method", each.span) for each in node.methods),
    ]
    entries.sort(key=lambda each: (each.span.line, each.span.column))
    return Entry(node.name, signature(node), "class", node.span, tuple(entries))
