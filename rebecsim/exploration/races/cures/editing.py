"""Change a syntax tree in small ways, and check before whether the change fits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from rebecsim.lang import CheckedClass, CheckedModel, CheckedServer, syntax, walk
from rebecsim.lang.traversal import rewritten

OF_A_MESSAGE = frozenset(
    {"currentMessageArrival", "currentMessageDeadline", "currentMessageWaitingTime"}
)
"""What a message server reads off the message that it serves, beside the sender."""

_Edit = Callable[[syntax.MessageServer], syntax.MessageServer]


def class_of(checked: CheckedModel, rebec: str) -> CheckedClass:
    """Give the class of a rebec of main."""
    (instance,) = (each for each in checked.instances if each.name == rebec)
    return checked.classes[instance.class_name]


def server_of(checked: CheckedModel, rebec: str, name: str) -> CheckedServer:
    """Give the message server that a rebec of main really has under a name."""
    (server,) = (each for each in class_of(checked, rebec).servers if each.name == name)
    return server


def concrete(checked: CheckedModel) -> Iterator[CheckedClass]:
    """Give the classes that can have rebecs."""
    return (each for each in checked.classes.values() if not each.abstract)


def edited_class(
    tree: syntax.Model, name: str, edit: Callable[[syntax.ReactiveClass], syntax.ReactiveClass]
) -> syntax.Model:
    """Change one class of a model."""
    classes = tuple(edit(each) if each.name == name else each for each in tree.classes)
    return replace(tree, classes=classes)


def edited_server(tree: syntax.Model, owner: str, name: str, edit: _Edit) -> syntax.Model:
    """Change a message server where its text stands."""

    def edited(each: syntax.ReactiveClass) -> syntax.ReactiveClass:
        servers = tuple(edit(one) if one.name == name else one for one in each.message_servers)
        return replace(each, message_servers=servers)

    return edited_class(tree, owner, edited)


# --- names -----------------------------------------------------------------------------------


def identifiers(root: syntax.Node) -> frozenset[str]:
    """Give all names that are used or declared in a part of the text."""
    found: set[str] = set()
    for node in walk(root):
        match node:
            case syntax.Name(identifier=name):
                found.add(name)
            case syntax.LocalDeclaration(variables=variables):
                found.update(name for name, _ in variables)
            case syntax.Call(method=name) | syntax.Send(server=name):
                found.add(name)
            case (
                syntax.Parameter(name=name)
                | syntax.Field(name=name)
                | syntax.EnvVariable(name=name)
                | syntax.MessageServer(name=name)
                | syntax.Method(name=name)
                | syntax.ReactiveClass(name=name)
                | syntax.Interface(name=name)
                | syntax.Instance(name=name)
            ):
                found.add(name)
    return frozenset(found)


def locals_of(server: syntax.MessageServer) -> tuple[str, ...]:
    """Give the names of the parameters and local variables of a message server."""
    found = [each.name for each in server.parameters]
    for node in walk(server):
        if isinstance(node, syntax.LocalDeclaration):
            found += [name for name, _ in node.variables]
    return tuple(dict.fromkeys(found))


def fresh(wanted: str, taken: Collection[str]) -> str:
    """Give a name that is not taken: the wanted one, or that with a number."""
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}{number}", number + 1
    return name


def renamed(
    checked: CheckedModel, body: syntax.Block, names: dict[str, str], sender: str | None = None
) -> syntax.Block:
    """Give parameters and local variables of a body other names; `sender` stands for the word."""

    def change(node: syntax.Node) -> syntax.Node:
        if isinstance(node, syntax.Name):
            symbol = checked.symbols.get(id(node))
            if symbol is not None and symbol.kind in ("local", "parameter"):
                return replace(node, identifier=names.get(node.identifier, node.identifier))
            if node.identifier == "sender" and sender is not None:
                return replace(node, identifier=sender)
        if isinstance(node, syntax.LocalDeclaration):
            variables = tuple((names.get(name, name), value) for name, value in node.variables)
            return replace(node, variables=variables)
        return node

    changed = rewritten(body, change)
    assert isinstance(changed, syntax.Block)
    return changed


# --- what a message server does -----------------------------------------------------------------


def methods_called(owner: CheckedClass, body: syntax.Node) -> tuple[syntax.Method, ...]:
    """Give the methods that a body calls, and those that they call."""
    found: dict[str, syntax.Method] = {}
    pending: list[syntax.Node] = [body]
    while pending:
        for node in walk(pending.pop()):
            if isinstance(node, syntax.Call) and node.method in owner.methods.keys() - found.keys():
                found[node.method] = owner.methods[node.method]
                pending.append(found[node.method])
    return tuple(found.values())


def names_read(owner: CheckedClass, body: syntax.Node) -> frozenset[str]:
    """Give the names that a body, or a method that it calls, reads or assigns."""
    parts: Iterable[syntax.Node] = (body, *methods_called(owner, body))
    return frozenset(
        node.identifier for part in parts for node in walk(part) if isinstance(node, syntax.Name)
    )
