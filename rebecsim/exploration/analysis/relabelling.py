"""Find the names in classes that can be exchanged without changing the code of the classes.

Only code that can be reached counts: constructors have run before anything is explored, and a
message server that nobody sends to makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from rebecsim.exploration.analysis.deeds import ANYBODY, SELF, Apart
from rebecsim.exploration.analysis.same_code import Named, Names, SameCode, TooLongError
from rebecsim.lang import CheckedModel, syntax
from rebecsim.lang.checked import CheckedClass, CheckedServer
from rebecsim.lang.traversal import walk
from rebecsim.lang.types import RebecType

MOST_RELABELLINGS = 120
"""Of models with more ways to exchange names, none is used."""


class Labels(NamedTuple):
    """What becomes of the names of a class, by positions.

    `variables` and, for each server, `arguments` say whose value each variable or argument of the
    image has. `servers` are the images of message servers, `known` pairs of a known rebec that is
    made use of and its image.
    """

    variables: tuple[int, ...]
    servers: tuple[int, ...]
    arguments: tuple[tuple[int, ...], ...]
    known: tuple[tuple[int, int], ...]


Relabelling = tuple[Labels, ...]
"""For each rebec what becomes of the names of its class."""


class _Reached(NamedTuple):
    """What can be reached of a class: message servers and methods."""

    servers: tuple[CheckedServer, ...]
    bodies: tuple[syntax.Block, ...]


def relabellings_of(
    checked: CheckedModel, begun: Set[tuple[int, int]], kept: frozenset[str]
) -> tuple[Relabelling, ...]:
    """Give the ways to exchange names, a group, first the one that changes none.

    `begun` are the first messages, as rebecs and numbers of message servers; variables `kept` stay.
    """
    reached = _reached(checked, begun)
    related = _related(checked)
    free = {name: each.servers for name, each in reached.items() if name not in related}
    fixed = [
        (checked.classes[name], body)
        for name, each in reached.items()
        if name in related
        for body in each.bodies
    ]
    code = SameCode(checked, free, kept, lambda own: _apart(checked, own))
    unchanged = (_relabelling(checked, reached, Names()),)
    found: dict[Relabelling, None] = {}
    try:
        for names in code.ways(fixed):
            found[_relabelling(checked, reached, names)] = None
            if len(found) > MOST_RELABELLINGS:
                return unchanged
    except TooLongError:
        return unchanged
    return tuple(found)


def _relabelling(checked: CheckedModel, reached: dict[str, _Reached], names: Names) -> Relabelling:
    by_class = {
        name: _labels(checked, checked.classes[name], each.bodies, names)
        for name, each in reached.items()
    }
    return tuple(by_class[each.class_name] for each in checked.instances)


def _labels(
    checked: CheckedModel, own: CheckedClass, bodies: Sequence[syntax.Block], names: Names
) -> Labels:
    def image(kind: str, name: str) -> str:
        return str(names.images.get(Named(kind, own.name, name), name))

    variables = [each.name for each in own.state_variables]
    known = [each.name for each in own.known_rebecs]
    numbers = {each.name: each.number for each in own.servers}
    used = {
        checked.symbol_of(node).name
        for body in bodies
        for node in walk(body)
        if isinstance(node, syntax.Name) and checked.symbol_of(node).kind == "known"
    }
    places = [
        names.images.get(Named("places", own.name, each.name), range(len(each.parameters)))
        for each in own.servers
    ]
    return Labels(
        _inverse([variables.index(image("state", each)) for each in variables]),
        tuple(numbers[image("server", each.name)] for each in own.servers),
        tuple(map(_inverse, places)),
        tuple(
            (place, known.index(image("known", each)))
            for place, each in enumerate(known)
            if each in used
        ),
    )


def _inverse(images: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(range(len(images)), key=lambda place: images[place]))


# --- what there is ------------------------------------------------------------------------------


def _related(checked: CheckedModel) -> set[str]:
    """Name the classes whose names mean something in other classes, or come from there."""
    found = {name for own in checked.classes.values() for name in own.ancestors}
    return found | {own.name for own in checked.classes.values() if own.ancestors or own.interfaces}


def _reached(checked: CheckedModel, begun: Set[tuple[int, int]]) -> dict[str, _Reached]:
    """Follow messages and calls from the first messages, for each class that has rebecs."""
    instances = checked.instances
    classes = {each.class_name: checked.classes[each.class_name] for each in instances}
    pending = [(instances[rebec].class_name, number) for rebec, number in sorted(begun)]
    seen = set(pending)
    bodies: dict[str, dict[int, syntax.Block]] = {name: {} for name in classes}
    while pending:
        name, number = pending.pop()
        own = classes[name]
        server = next(each for each in own.servers if each.number == number)
        for body in _with_methods(checked, own, server.tree.body):
            bodies[name][id(body)] = body
            for send in walk(body):
                if isinstance(send, syntax.Send):
                    new = set(_receiving(checked, classes.values(), send)) - seen
                    seen |= new
                    pending += new
    return {
        name: _Reached(
            tuple(each for each in own.servers if (name, each.number) in seen),
            tuple(bodies[name].values()),
        )
        for name, own in classes.items()
    }


def _with_methods(
    checked: CheckedModel, own: CheckedClass, body: syntax.Block | None
) -> Iterable[syntax.Block]:
    """Give a body and those of the methods that it calls, and so on."""
    found: dict[int, syntax.Block] = {}
    pending = [body]
    while pending:
        block = pending.pop()
        if block is None or id(block) in found:
            continue
        found[id(block)] = block
        pending += [
            own.methods[node.method].body
            for node in walk(block)
            if isinstance(node, syntax.Call) and not checked.is_function(node)
        ]
    return found.values()


def _receiving(
    checked: CheckedModel, classes: Iterable[CheckedClass], send: syntax.Send
) -> Iterator[tuple[str, int]]:
    """Give the message servers that may get a message, by class and number."""
    kind = checked.type_of(send.receiver)
    for own in classes:
        if isinstance(kind, RebecType) and own.is_a(kind.name):
            for server in own.servers:
                if server.name == send.server:
                    yield own.name, server.number


def _apart(checked: CheckedModel, own: CheckedClass) -> Apart:
    """Say which of the rebecs that one of a class knows are different ones, for all of them."""
    known = [each.name for each in own.known_rebecs]  # a class that extends it may know more
    bound = [
        {SELF: each.name, **dict(zip(known, each.bindings, strict=False))}
        for each in checked.instances
        if checked.classes[each.class_name].is_a(own.name)
    ]

    def are_apart(one: str, other: str) -> bool:
        if ANYBODY in (one, other):
            return False
        return all(each[one] != each[other] for each in bound)

    return are_apart
