"""The cure "atomic": two steps become one.

A message that a rebec sends to itself is not sent: it would be served at once anyway if nothing
came between, so its server's work is done at the end of the server, or constructor, that sent it.
And two messages sent in a row to one rebec become one message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from rebecsim.exploration.analysis.footprints import methods_called
from rebecsim.exploration.races.cures.change import (
    OF_A_MESSAGE,
    Change,
    DoesNotApplyError,
    Proposal,
    class_of,
    concrete,
    edited_class,
    fresh,
    identifiers,
    locals_of,
    names_read,
    renamed,
    server_of,
)
from rebecsim.exploration.races.result import Contender
from rebecsim.lang import CheckedClass, CheckedModel, CheckedServer, syntax, walk
from rebecsim.lang.checked import RebecType
from rebecsim.lang.traversal import rewritten

_Host = syntax.MessageServer | syntax.Constructor


def inline_self_sends(checked: CheckedModel, contender: Contender) -> Proposal:
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


_Pair = tuple[CheckedServer, CheckedServer]


def merge_sends(checked: CheckedModel, one: Contender, two: Contender) -> Proposal:
    """Propose one message for two that the same rebec sends one behind the other."""
    rebec = one.rebec
    title = f"atomic: one message for {rebec}.{one.server} and {rebec}.{two.server}"
    name = f"atomic-{rebec}.{one.server}-and-{two.server}"
    return Proposal("atomic", name, title, lambda: _joined(checked, one, two))


def _joined(checked: CheckedModel, one: Contender, two: Contender) -> Change:
    servers = [server_of(checked, each.rebec, each.server) for each in (one, two)]
    first, second = servers
    if first.tree is second.tree:
        raise DoesNotApplyError(f"{first.owner}.{first.name} is one message server")
    if one.sender != two.sender or all(each.name != one.sender for each in checked.instances):
        raise DoesNotApplyError(f"they are sent by {one.sender} and {two.sender}")
    owner = class_of(checked, one.rebec)
    for server in servers:
        words = OF_A_MESSAGE & names_read(owner, server.tree)
        if words:
            raise DoesNotApplyError(f"{server.name} reads `{min(words)}`")
    joining = _Joining(checked, one.rebec, {each.name: each for each in servers})
    sender = class_of(checked, one.sender)
    tree = checked.tree
    for name in (sender.name, *sender.ancestors):
        tree = edited_class(tree, name, joining.sends)
    if not joining.made:
        raise DoesNotApplyError(f"{one.sender} does not send them one directly after the other")
    for name, pair in joining.made.items():
        tree = _with_server(checked, tree, name, pair)
    return Change(tree, frozenset({first.name, second.name, *joining.made}))


@dataclass
class _Joining:
    """Finds two sends, one behind the other, and makes one of them."""

    checked: CheckedModel
    rebec: str
    servers: dict[str, CheckedServer]
    made: dict[str, _Pair] = field(default_factory=dict)

    def sends(self, tree: syntax.ReactiveClass) -> syntax.ReactiveClass:
        """Change the bodies of a class."""
        changed = rewritten(tree, self._change)
        assert isinstance(changed, syntax.ReactiveClass)
        return changed

    def _change(self, node: syntax.Node) -> syntax.Node:
        if not isinstance(node, syntax.Block | syntax.Case):
            return node
        statements = tuple(self._statements(node.statements))
        if len(statements) == len(node.statements):
            return node
        return replace(node, statements=statements)

    def _statements(self, statements: tuple[syntax.Statement, ...]) -> Iterator[syntax.Statement]:
        place = 0
        while place < len(statements):
            here = statements[place]
            both = (
                self._one_of(here, statements[place + 1]) if place + 1 < len(statements) else None
            )
            yield here if both is None else both
            place += 1 if both is None else 2

    def _one_of(
        self, here: syntax.Statement, behind: syntax.Statement
    ) -> syntax.ExpressionStatement | None:
        one, two = _sent(here), _sent(behind)
        if one is None or two is None or {one.server, two.server} != self.servers.keys():
            return None
        times = (one.receiver, one.after, one.deadline)
        is_drawn = any(isinstance(node, syntax.Choice) for node in walk(one))
        if times != (two.receiver, two.after, two.deadline) or is_drawn:
            return None
        if not self._is_for_these(one):
            return None
        pair = self.servers[one.server], self.servers[two.server]
        name = self._name_of(pair)
        arguments = (*one.arguments, *two.arguments)
        return syntax.ExpressionStatement(replace(one, server=name, arguments=arguments))

    def _is_for_these(self, send: syntax.Send) -> bool:
        """Whether all that may receive a message serve it by these message servers."""
        receiver = self.checked.type_of(send.receiver)
        if not isinstance(receiver, RebecType) or receiver.name not in self.checked.classes:
            return False
        classes = [each for each in concrete(self.checked) if each.is_a(receiver.name)]
        ours = class_of(self.checked, self.rebec)
        return ours in classes and all(
            any(one.tree is server.tree for one in each.servers)
            for each in classes
            for server in self.servers.values()
        )

    def _name_of(self, pair: _Pair) -> str:
        for name, known in self.made.items():
            if known == pair:
                return name
        first, second = (each.name for each in pair)
        wanted = f"{first}And{second[0].upper()}{second[1:]}"
        name = fresh(wanted, identifiers(self.checked.tree) | self.made.keys())
        self.made[name] = pair
        return name


def _sent(node: syntax.Statement) -> syntax.Send | None:
    if isinstance(node, syntax.ExpressionStatement) and isinstance(node.expression, syntax.Send):
        return node.expression
    return None


def _with_server(checked: CheckedModel, tree: syntax.Model, name: str, pair: _Pair) -> syntax.Model:
    """Add the message server of both messages, to the class that knows all they use."""
    first, second = pair
    if any(isinstance(node, syntax.Return) for node in walk(first.tree)):
        raise DoesNotApplyError(f"{first.name} has a `return`")
    one = _with_fresh_names(checked, first.tree, identifiers(second.tree))
    two = _with_fresh_names(checked, second.tree, identifiers(one))
    assert one.body is not None
    assert two.body is not None
    server = syntax.MessageServer(
        name,
        (*one.parameters, *two.parameters),
        syntax.Block((*one.body.statements, *two.body.statements)),
        first.tree.annotations,
    )
    is_above = first.owner in checked.classes[second.owner].ancestors
    return edited_class(
        tree,
        second.owner if is_above else first.owner,
        lambda each: replace(each, message_servers=(*each.message_servers, server)),
    )


def _with_fresh_names(
    checked: CheckedModel, server: syntax.MessageServer, others: frozenset[str]
) -> syntax.MessageServer:
    """Give parameters and local variables names that the other message server does not use."""
    taken = identifiers(checked.tree) | others
    names = {name: fresh(name, taken) for name in locals_of(server) if name in others}
    assert server.body is not None
    parameters = tuple(
        replace(each, name=names.get(each.name, each.name)) for each in server.parameters
    )
    return replace(server, parameters=parameters, body=renamed(checked, server.body, names))
