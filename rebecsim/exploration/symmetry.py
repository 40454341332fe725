"""Symmetries of a model: exchanges of rebecs that change nothing it does.

A symmetry is a permutation of the rebecs that keeps class, priority and initial variables and
messages, and takes the known rebecs of each rebec to those of its image. Names within classes may
be exchanged if the code stays the same: left becomes right then. A symmetry takes every transition
to a transition; docs/background/reduction.md has the proof.

Only code that can be reached counts: constructors have run before anything is explored, and a
message server that no rebec sends to makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import islice
from typing import Any, NamedTuple

from rebecsim.actors import Constant
from rebecsim.exploration.analysis.automorphisms import (
    CodeAutomorphisms,
    Named,
    Names,
    TooLongError,
)
from rebecsim.exploration.analysis.footprints import ANY_RECEIVER, SELF, AreDistinct, methods_called
from rebecsim.exploration.states.rebec_states import (
    NO_SENDER,
    Bag,
    Local,
    Reference,
    Waiting,
    rank,
)
from rebecsim.exploration.states.structures import Structure
from rebecsim.exploration.states.transitions import State, TransitionSystem
from rebecsim.lang import CheckedModel, syntax
from rebecsim.lang.checked import CheckedClass, CheckedServer, RebecType
from rebecsim.lang.traversal import walk

MOST_RELABELLINGS = 120
"""A model with more ways to exchange names is explored without exchanging any."""


class NameImages(NamedTuple):
    """What becomes of the names of a class, by positions.

    `variables` and, for each server, `arguments` say whose value each variable or argument of the
    image has. `servers` are the images of message servers, `known` pairs of a known rebec that is
    made use of and its image.
    """

    variables: tuple[int, ...]
    servers: tuple[int, ...]
    arguments: tuple[tuple[int, ...], ...]
    known: tuple[tuple[int, int], ...]


Relabelling = tuple[NameImages, ...]
"""For each rebec what becomes of the names of its class."""


class _Reachable(NamedTuple):
    """What can be reached of a class: message servers and methods."""

    servers: tuple[CheckedServer, ...]
    bodies: tuple[syntax.Block, ...]


def relabellings_of(
    checked: CheckedModel, initial: Set[tuple[int, int]], kept: frozenset[str]
) -> tuple[Relabelling, ...]:
    """Give the ways to exchange names, a group, first the one that changes none.

    `initial` are the first messages, as rebecs and numbers of message servers. The variables `kept`
    stay.
    """
    reached = _reached(checked, initial)
    related = _related(checked)
    free = {name: each.servers for name, each in reached.items() if name not in related}
    fixed = [
        (checked.classes[name], body)
        for name, each in reached.items()
        if name in related
        for body in each.bodies
    ]
    code = CodeAutomorphisms(checked, free, kept, lambda own: _distinct_receivers(checked, own))
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


def _relabelling(
    checked: CheckedModel, reached: dict[str, _Reachable], names: Names
) -> Relabelling:
    by_class = {
        name: _labels(checked, checked.classes[name], each.bodies, names)
        for name, each in reached.items()
    }
    return tuple(by_class[each.class_name] for each in checked.instances)


def _labels(
    checked: CheckedModel, own: CheckedClass, bodies: Sequence[syntax.Block], names: Names
) -> NameImages:
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
    return NameImages(
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


def _reached(checked: CheckedModel, initial: Set[tuple[int, int]]) -> dict[str, _Reachable]:
    """Follow messages and calls from the first messages, for each class that has rebecs."""
    instances = checked.instances
    classes = {each.class_name: checked.classes[each.class_name] for each in instances}
    pending = [(instances[rebec].class_name, number) for rebec, number in sorted(initial)]
    seen = set(pending)
    bodies: dict[str, dict[int, syntax.Block]] = {name: {} for name in classes}
    while pending:
        name, number = pending.pop()
        own = classes[name]
        server = next(each for each in own.servers if each.number == number)
        called = methods_called(own, server.tree)
        for body in filter(None, (server.tree.body, *(method.body for method in called))):
            bodies[name][id(body)] = body
            for send in walk(body):
                if isinstance(send, syntax.Send):
                    new = set(_receiving(checked, classes.values(), send)) - seen
                    seen |= new
                    pending += new
    return {
        name: _Reachable(
            tuple(each for each in own.servers if (name, each.number) in seen),
            tuple(bodies[name].values()),
        )
        for name, own in classes.items()
    }


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


def _distinct_receivers(checked: CheckedModel, own: CheckedClass) -> AreDistinct:
    """Say which known rebecs of a class are different rebecs, in all its instances."""
    known = [each.name for each in own.known_rebecs]  # a class that extends it may know more
    bound = [
        {SELF: each.name, **dict(zip(known, each.bindings, strict=False))}
        for each in checked.instances
        if checked.classes[each.class_name].is_a(own.name)
    ]

    def are_distinct(one: str, other: str) -> bool:
        if ANY_RECEIVER in (one, other):
            return False
        return all(each[one] != each[other] for each in bound)

    return are_distinct


Permutation = tuple[int, ...]
"""The image of each rebec, by positions."""

MOST_SYMMETRIES = 5040
"""Only a part of a larger group is used, as each new state is compared under every symmetry."""


class Symmetry:
    """Applies one symmetry to values, states of rebecs and states of the system.

    `images` says what becomes of each rebec, `labels` what becomes of the names of its class.
    """

    def __init__(self, system: TransitionSystem, images: Permutation, labels: Relabelling) -> None:
        self.images = images
        self.labels = labels
        self._system = system
        self._references = system.runner.values.references
        self._origins = [_unless_same(each.variables) for each in labels]
        self._known: dict[Local, Local] = {}
        messages: dict[NameImages, dict[Waiting, Waiting]] = {}
        self._messages = [messages.setdefault(each, {}) for each in labels]

    def state(self, state: State) -> State:
        """Give the image of a state."""
        renamed = list(state)
        for position, image in enumerate(self.images):
            renamed[image] = self.local(state[position])
        return tuple(renamed)

    def local(self, local: Local) -> Local:
        """Give the image of a state of one rebec, which is the state of another."""
        known = self._known.get(local)
        if known is None:
            store = self._system.locals
            known = self._known[local] = store.intern(
                self.images[local.owner],
                self.variables(local.owner, local.variables),
                local.clock,
                None,
                self.bag(local.owner, local.bag),
            )
        return known

    def variables(self, owner: int, variables: tuple[Any, ...]) -> tuple[Any, ...]:
        """Give the variables of the image of a rebec."""
        origins = self._origins[owner]
        if origins is not None:
            variables = tuple([variables[origin] for origin in origins])
        return tuple(map(self._value, variables))

    def bag(self, owner: int, bag: Bag) -> Bag:
        """Give the bag of the image of a rebec."""
        return self._system.locals.arrange(tuple([self.message(owner, each) for each in bag]))

    def message(self, owner: int, message: Waiting) -> Waiting:
        """Give the image of a message to a rebec."""
        messages = self._messages[owner]
        known = messages.get(message)
        if known is None:
            known = messages[message] = self._renamed(self.labels[owner], message)
        return known

    def place(self, owner: int, number: int) -> tuple[int, int]:
        """Give the image of a rebec and one of its message servers."""
        return self.images[owner], self.labels[owner].servers[number]

    def _renamed(self, labels: NameImages, message: Waiting) -> Waiting:
        values = tuple(map(self._value, message.arguments))
        arguments = tuple([values[origin] for origin in labels.arguments[message.number]])
        sender = message.sender
        return message._replace(
            number=labels.servers[message.number],
            sender=sender if sender == NO_SENDER else self.images[sender],
            order=tuple(map(rank, arguments)),
            arguments=arguments,
        )

    def _value(self, value: Any) -> Any:
        if isinstance(value, Reference):
            return self._references[self.images[value.index]]
        if isinstance(value, Structure):
            return value.mapped(self._value)
        if isinstance(value, tuple) and not isinstance(
            value, Constant
        ):  # keeps the kinds of tuples apart
            return type(value)(map(self._value, value))
        return value


def _unless_same(places: tuple[int, ...]) -> tuple[int, ...] | None:
    return None if places == tuple(range(len(places))) else places


def symmetries(
    system: TransitionSystem,
    fixed: frozenset[int] = frozenset(),
    relabellings: Sequence[Relabelling] = (),
) -> tuple[Symmetry, ...]:
    """Give the symmetries of a model, a group, first the identity.

    The rebecs at the positions `fixed` are not exchanged; if there are too many symmetries,
    further ones are not either. Names are exchanged as the `relabellings` say, a group; without
    any, not at all.
    """
    ways = relabellings or (_unlabelled(system),)
    found = tuple(
        islice(
            (each for labels in ways for each in _search(system, fixed, labels)),
            MOST_SYMMETRIES + 1,
        )
    )
    if len(found) <= MOST_SYMMETRIES:
        return found
    moved = {one for each in found for one, image in enumerate(each.images) if one != image}
    return symmetries(system, fixed | {min(moved)}, relabellings)


def _unlabelled(system: TransitionSystem) -> Relabelling:
    """Let all names be what they are."""
    classes = [instance.reactive_class for instance in system.model.instances]
    found = []
    for names, each in zip(system.runner.names, classes, strict=True):
        servers = each.__servers__.values()
        found.append(
            NameImages(
                tuple(range(len(names))),
                tuple(range(len(servers))),
                tuple(tuple(range(len(server.parameters))) for server in servers),
                tuple((place, place) for place in range(len(each.__known_rebecs__))),
            )
        )
    return tuple(found)


def _search(
    system: TransitionSystem, fixed: frozenset[int], labels: Relabelling
) -> Iterator[Symmetry]:
    """Extend partial permutations rebec by rebec, as long as known rebecs agree."""
    rebecs = system.runner.rebecs
    classes = [instance.reactive_class for instance in system.model.instances]
    knows = [
        tuple(vars(rebec)[known.name]._index for known in reactive_class.__known_rebecs__)
        for rebec, reactive_class in zip(rebecs, classes, strict=True)
    ]

    def exchangeable(one: int, other: int) -> bool:
        if one == other:
            return True
        return (
            one not in fixed
            and other not in fixed
            and classes[one] is classes[other]
            and rebecs[one]._priority == rebecs[other]._priority
        )

    def agrees(images: list[int]) -> bool:
        position = len(images) - 1
        return all(
            images[knows[one][place]] == knows[images[one]][image]
            for one in range(position + 1)
            for place, image in labels[one].known
            if knows[one][place] <= position
        )

    pending: list[list[int]] = [[]]
    while pending:
        images = pending.pop()
        if len(images) == len(rebecs):
            renaming = Symmetry(system, tuple(images), labels)
            if renaming.state(system.initial) == system.initial:
                yield renaming
            continue
        position = len(images)
        pending += [
            [*images, image]
            for image in reversed(range(len(rebecs)))
            if image not in images and exchangeable(position, image) and agrees([*images, image])
        ]
