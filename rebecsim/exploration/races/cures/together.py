"""The cure "together": a rebec sends one message where it sent two in a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rebecsim.exploration.races.cures.cure import Change, DoesNotApplyError, Proposal
from rebecsim.exploration.races.cures.editing import (
    OF_A_MESSAGE,
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
from rebecsim.lang import CheckedModel, CheckedServer, syntax, walk
from rebecsim.lang.traversal import rewritten
from rebecsim.lang.types import RebecType

_Pair = tuple[CheckedServer, CheckedServer]


def together(checked: CheckedModel, one: Contender, two: Contender) -> Proposal:
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
    one = _apart(checked, first.tree, identifiers(second.tree))
    two = _apart(checked, second.tree, identifiers(one))
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


def _apart(
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
