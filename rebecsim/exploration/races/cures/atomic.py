"""The cure "atomic": a message to oneself is not sent, but done where it was sent.

It would be served at once anyway if nothing came between. So it stands at the end of the message
server, or constructor, that sent it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from rebecsim.exploration.races.cures.cure import Change, DoesNotApplyError, Proposal
from rebecsim.exploration.races.cures.editing import (
    OF_A_MESSAGE,
    class_of,
    concrete,
    edited_class,
    fresh,
    identifiers,
    locals_of,
    methods_called,
    names_read,
    renamed,
    server_of,
)
from rebecsim.exploration.races.result import Contender
from rebecsim.lang import CheckedClass, CheckedModel, CheckedServer, syntax, walk

_Host = syntax.MessageServer | syntax.Constructor


def at_once(checked: CheckedModel, contender: Contender) -> Proposal:
    """Propose to do a message that a rebec sends to itself where it sends it."""
    name = f"{contender.rebec}.{contender.server}"
    title = f"atomic: {name} done at once by what sends it"
    return Proposal("atomic", f"atomic-{name}", title, lambda: _done(checked, contender))


def _done(checked: CheckedModel, contender: Contender) -> Change:
    if contender.sender != contender.rebec:
        raise DoesNotApplyError(f"it is sent by {contender.sender}, not by the rebec itself")
    owner = class_of(checked, contender.rebec)
    server = server_of(checked, contender.rebec, contender.server)
    _can_be_moved(owner, server)
    hosts = _hosts(checked, owner, server)
    if not hosts:
        raise DoesNotApplyError(f"{owner.name} sends it with `after` or `deadline` only")
    tree = checked.tree
    for of_class, host in hosts:
        _same_for_all(checked, of_class, host, server)
        moved = _Moving(checked, server, host).body()
        tree = edited_class(tree, of_class, partial(_with_body, host, moved))
    merged = {host.name for _, host in hosts if isinstance(host, syntax.MessageServer)}
    return Change(tree, frozenset({server.name, *merged}))


def _can_be_moved(owner: CheckedClass, server: CheckedServer) -> None:
    if any(isinstance(node, syntax.Return) for node in walk(server.tree)):
        raise DoesNotApplyError(f"{server.name} has a `return`")
    words = OF_A_MESSAGE & names_read(owner, server.tree)
    if words:
        raise DoesNotApplyError(f"{server.name} reads `{min(words)}`")
    for method in methods_called(owner, server.tree):
        if "sender" in names_read(owner, method):
            raise DoesNotApplyError(f"{server.name} calls {method.name}, which reads `sender`")


def _hosts(
    checked: CheckedModel, owner: CheckedClass, server: CheckedServer
) -> list[tuple[str, _Host]]:
    """Give what sends the message at once, each with the class that its text stands in."""
    lineage = [checked.classes[name] for name in (owner.name, *owner.ancestors)]
    bodies: list[tuple[str, _Host]] = [(each.owner, each.tree) for each in owner.servers]
    bodies += [(each.name, one) for each in lineage for one in each.constructors]
    for method in owner.methods.values():
        if _sends(checked, method, server):
            raise DoesNotApplyError(f"it is sent in the method {method.name}")
    if _sends(checked, server.tree, server):
        raise DoesNotApplyError(f"{server.name} sends it itself, so it would never end")
    found = [(name, body) for name, body in bodies if _sends(checked, body, server)]
    for _, body in found:
        if isinstance(body, syntax.Constructor) and any(
            isinstance(node, syntax.Delay) for node in walk(server.tree)
        ):
            raise DoesNotApplyError(f"{server.name} has a delay and is sent by the constructor")
    return found


def _sends(checked: CheckedModel, body: syntax.Node, server: CheckedServer) -> bool:
    return any(_is_send(checked, node, server) for node in walk(body))


def _is_send(checked: CheckedModel, node: syntax.Node, server: CheckedServer) -> bool:
    """Whether a node sends the message to the rebec itself, to be served at once."""
    return (
        isinstance(node, syntax.Send)
        and node.server == server.name
        and isinstance(node.receiver, syntax.Name)
        and node.receiver.identifier == "self"
        and (node.after is None or checked.constants.get(id(node.after)) == 0)
        and node.deadline is None
    )


def _same_for_all(checked: CheckedModel, of_class: str, host: _Host, server: CheckedServer) -> None:
    """Refuse if some class does this but has another message server of the name."""
    for each in concrete(checked):
        trees = {id(one.tree) for one in each.servers}
        does_it = isinstance(host, syntax.Constructor) or id(host) in trees
        if each.is_a(of_class) and does_it and id(server.tree) not in trees:
            raise DoesNotApplyError(f"{each.name} has a {server.name} of its own")


def _with_body(host: _Host, body: syntax.Block, tree: syntax.ReactiveClass) -> syntax.ReactiveClass:
    """Give another body to a constructor or message server of a class."""
    new = replace(host, body=body)
    of = "constructors" if isinstance(host, syntax.Constructor) else "message_servers"
    changed: Any = {of: tuple(new if each is host else each for each in getattr(tree, of))}
    return replace(tree, **changed)


class _Moving:
    """Moves what a message server does to the end of a body that sends its message."""

    def __init__(self, checked: CheckedModel, server: CheckedServer, host: _Host) -> None:
        assert server.tree.body is not None
        assert host.body is not None
        self._checked, self._server = checked, server
        self._what: syntax.Block = server.tree.body
        self._host = host
        self._into: syntax.Block = host.body
        self._all = set(identifiers(checked.tree))
        self._here = set(identifiers(host))

    def body(self) -> syntax.Block:
        """Give the body of the host, changed."""
        return replace(self._into, statements=self._list(self._into.statements))

    def _list(self, statements: Sequence[syntax.Statement]) -> tuple[syntax.Statement, ...]:
        """Change statements behind which the body ends."""
        done: list[syntax.Statement] = []
        at_end: list[syntax.Statement] = []
        for place, each in enumerate(statements):
            rest = statements[place + 1 :]
            if not _sends(self._checked, each, self._server):
                done.append(each)
            elif isinstance(each, syntax.ExpressionStatement):
                if any(isinstance(node, syntax.Return) for one in rest for node in walk(one)):
                    raise self._no_end()
                assert isinstance(each.expression, syntax.Send)
                declared, moved = self._copy(each.expression)
                done += declared
                at_end += moved
            elif rest or at_end:
                raise self._no_end()
            else:
                done.append(self._nested(each))
        return (*done, *at_end)

    def _no_end(self) -> DoesNotApplyError:
        return DoesNotApplyError(f"{self._host.name} goes on after sending it in a branch or loop")

    def _nested(self, node: syntax.Statement) -> syntax.Statement:
        if isinstance(node, syntax.Block):
            return replace(node, statements=self._list(node.statements))
        if isinstance(node, syntax.If):
            otherwise = None if node.otherwise is None else self._branch(node.otherwise)
            return replace(node, then=self._branch(node.then), otherwise=otherwise)
        raise self._no_end()

    def _branch(self, node: syntax.Statement) -> syntax.Statement:
        if isinstance(node, syntax.ExpressionStatement) and _sends(
            self._checked, node, self._server
        ):
            return syntax.Block(self._list((node,)))
        return self._nested(node) if _sends(self._checked, node, self._server) else node

    def _copy(
        self, send: syntax.Send
    ) -> tuple[list[syntax.Statement], tuple[syntax.Statement, ...]]:
        """Give the parameters as local variables, and what is done with them."""
        names = {}
        for name in locals_of(self._server.tree):
            names[name] = fresh(name, self._all) if name in self._here else name
            self._here.add(names[name])
            self._all.add(names[name])
        parameters = zip(self._server.tree.parameters, send.arguments, strict=True)
        declared: list[syntax.Statement] = [
            syntax.LocalDeclaration(each.type, ((names[each.name], value),))
            for each, value in parameters
        ]
        return declared, renamed(self._checked, self._what, names, "self").statements
