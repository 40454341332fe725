"""Find in the text of a model who may send to whom, and who at once, in any state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from rebecsim.lang import CheckedModel, syntax
from rebecsim.lang.checked import CheckedClass, CheckedInstance
from rebecsim.lang.traversal import walk
from rebecsim.lang.types import RebecType

Service = tuple[int, int]
"""A rebec, by its position, and the number of one of its message servers."""


@dataclass(frozen=True)
class Sendings:
    """What may be sent while a message is served, by rebec and message server.

    Attributes:
        ever: to which rebecs.
        at_once: what arrives when it is sent.
        cycle: services that may follow each other without time, and round; the first one comes
            last again. Empty if there are none.
    """

    ever: dict[Service, frozenset[int]]
    at_once: dict[Service, frozenset[Service]]
    cycle: tuple[Service, ...]


def sendings_of(checked: CheckedModel) -> Sendings:
    """Read the message servers and methods of a model; what cannot be told is taken to be sent."""
    ever: dict[Service, frozenset[int]] = {}
    at_once: dict[Service, frozenset[Service]] = {}
    classes = [checked.classes[each.class_name] for each in checked.instances]
    numbers = [{server.name: server.number for server in own.servers} for own in classes]
    for position, instance in enumerate(checked.instances):
        for number in numbers[position].values():
            ever[position, number] = frozenset()
            at_once[position, number] = frozenset()
        for name, send in _sends(checked, classes[position]):
            service = position, numbers[position][name]
            receivers = frozenset(_receivers(checked, instance, position, send))
            ever[service] |= receivers
            if not _takes_time(checked, send):
                at_once[service] |= {(each, numbers[each][send.server]) for each in receivers}
    return Sendings(ever, at_once, _cycle_in(at_once))


def _sends(checked: CheckedModel, own: CheckedClass) -> Iterator[tuple[str, syntax.Send]]:
    """Give each send of a class, with each message server that it may be a part of."""
    texts = [checked.classes[name].tree for name in (own.name, *own.ancestors)]
    servers = {server.name for server in own.servers}
    for tree in texts:
        for method in tree.methods:
            yield from ((server, send) for send in _sends_in(method) for server in servers)
        for each in tree.message_servers:
            yield from ((each.name, send) for send in _sends_in(each))


def _sends_in(node: syntax.Node) -> list[syntax.Send]:
    return [each for each in walk(node) if isinstance(each, syntax.Send)]


def _receivers(
    checked: CheckedModel, instance: CheckedInstance, position: int, send: syntax.Send
) -> Iterator[int]:
    """Give the positions of the rebecs that a send may go to."""
    receiver = send.receiver
    if isinstance(receiver, syntax.Name):
        symbol = checked.symbol_of(receiver)
        if symbol.kind == "builtin" and symbol.name == "self":
            yield position
            return
        if symbol.kind == "known":
            known = checked.classes[instance.class_name].known_rebecs
            place = [each.name for each in known].index(symbol.name)
            names = [each.name for each in checked.instances]
            yield names.index(instance.bindings[place])
            return
    kind = checked.type_of(receiver)
    for other, each in enumerate(checked.instances):
        if not isinstance(kind, RebecType) or checked.classes[each.class_name].is_a(kind.name):
            yield other


def _takes_time(checked: CheckedModel, send: syntax.Send) -> bool:
    """Whether a message surely arrives later than it is sent."""
    after = send.after
    choices = after.alternatives if isinstance(after, syntax.Choice) else (after,)
    return all(
        each is not None and checked.is_constant(each) and _is_positive(checked.constant_of(each))
        for each in choices
    )


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and value > 0


def _cycle_in(graph: dict[Service, frozenset[Service]]) -> tuple[Service, ...]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return tuple(reversed(error.args[1]))  # it goes from a service to what sends to it
    return ()
