"""Find the services of one rebec behind a race between two rebecs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from rebecsim.exploration.races.cures.editing import class_of, methods_called, server_of
from rebecsim.exploration.races.result import Contender, RaceGroup
from rebecsim.exploration.races.witness import WitnessOrder
from rebecsim.lang import CheckedModel, syntax, walk

Pair = tuple[Contender, Contender]


def at_one_rebec(checked: CheckedModel, race: RaceGroup) -> list[Pair]:
    """Give the pairs of services of one rebec whose order the race may decide.

    That is the race itself if it is at one rebec. Otherwise it is what changes places in the orders
    shown, and what its two services are or send to, as far as the text says to whom.
    """
    one, two = race.contenders
    if one.rebec == two.rebec:
        return [(one, two)]
    pairs = swapped(race)
    for first, second in product(_served_for(checked, one), _served_for(checked, two)):
        if first.rebec == second.rebec and first.server != second.server:
            pairs.append((first, second))
    return list({_places(pair): pair for pair in reversed(pairs)}.values())[::-1]


def _places(pair: Pair) -> frozenset[tuple[str, str]]:
    return frozenset((each.rebec, each.server) for each in pair)


def _served_for(checked: CheckedModel, contender: Contender) -> Iterator[Contender]:
    """Give a service and those of the messages that it sends to itself or to known rebecs."""
    yield contender
    owner = class_of(checked, contender.rebec)
    (instance,) = (each for each in checked.instances if each.name == contender.rebec)
    names = (each.name for each in owner.known_rebecs)
    rebecs = dict(zip(names, instance.bindings, strict=True)) | {"self": contender.rebec}
    server = server_of(checked, contender.rebec, contender.server)
    for body in (server.tree, *methods_called(owner, server.tree)):
        for node in walk(body):
            if isinstance(node, syntax.Send) and isinstance(node.receiver, syntax.Name):
                rebec = rebecs.get(node.receiver.identifier)
                if rebec is not None:
                    yield Contender(rebec, node.server, contender.rebec)


def swapped(race: RaceGroup) -> list[Pair]:
    """Give the services of one rebec that change places in the two orders of a race.

    One that an order does not come to, as something goes wrong before, comes last in it.
    """
    one, other = race.witness.orders
    pairs = [*_overtaken(one, other), *(pair[::-1] for pair in _overtaken(other, one))]
    return list({frozenset(pair): pair for pair in reversed(pairs)}.values())[::-1]


def _overtaken(one: WitnessOrder, other: WitnessOrder) -> Iterator[Pair]:
    """Give a service and one behind it, which comes first in the other order."""
    here, there = _services(one), _services(other)
    for first, second in combinations(here, 2):
        if first.rebec != second.rebec or second not in there:
            continue
        is_cut = first not in there and other.breach is not None
        if is_cut or first in there[there.index(second) :]:
            yield first, second


def _services(order: WitnessOrder) -> list[Contender]:
    steps = [each for each in order.steps if each.kind == "message"]
    return list(dict.fromkeys(Contender(each.rebec, each.server, each.sender) for each in steps))
