"""Symmetries of a model: exchanges of rebecs that change nothing it does.

A symmetry is a permutation of the rebecs that keeps class, priority and initial variables and
messages, and takes the rebecs that one knows to those that its image knows. Names may be exchanged
within classes, if their code stays the same: what was to the left is to the right then. A symmetry
takes every transition to a transition; docs/background/reduction.md has the proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from rebecsim.exploration.analysis.relabelling import Labels, Relabelling
from rebecsim.exploration.states.local import NOBODY_INDEX, Bag, Local, Waiting
from rebecsim.exploration.states.transitions import State, TransitionSystem
from rebecsim.exploration.states.values import Reference, rank

Permutation = tuple[int, ...]
"""The image of each rebec, by positions."""

MOST_SYMMETRIES = 5040
"""Of larger groups a part is used: each new state is compared under every symmetry."""


class Renaming:
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
        messages: dict[Labels, dict[Waiting, Waiting]] = {}
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

    def _renamed(self, labels: Labels, message: Waiting) -> Waiting:
        values = tuple(map(self._value, message.arguments))
        arguments = tuple([values[origin] for origin in labels.arguments[message.number]])
        sender = message.sender
        return message._replace(
            number=labels.servers[message.number],
            sender=sender if sender == NOBODY_INDEX else self.images[sender],
            order=tuple(map(rank, arguments)),
            arguments=arguments,
        )

    def _value(self, value: Any) -> Any:
        if isinstance(value, Reference):
            return self._references[self.images[value.index]]
        if isinstance(value, tuple):  # keeps the kinds of tuples apart
            return type(value)(map(self._value, value))
        return value


def _unless_same(places: tuple[int, ...]) -> tuple[int, ...] | None:
    return None if places == tuple(range(len(places))) else places


def symmetries(
    system: TransitionSystem,
    fixed: frozenset[int] = frozenset(),
    relabellings: Sequence[Relabelling] = (),
) -> tuple[Renaming, ...]:
    """Give the symmetries of a model, a group, first the identity.

    The rebecs at the positions `fixed` are exchanged with nobody; if there are too many symmetries,
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
            Labels(
                tuple(range(len(names))),
                tuple(range(len(servers))),
                tuple(tuple(range(len(server.parameters))) for server in servers),
                tuple((place, place) for place in range(len(each.__known_rebecs__))),
            )
        )
    return tuple(found)


def _search(
    system: TransitionSystem, fixed: frozenset[int], labels: Relabelling
) -> Iterator[Renaming]:
    """Extend partial permutations rebec by rebec, as long as known rebecs agree."""
    rebecs = system.runner.rebecs
    classes = [instance.reactive_class for instance in system.model.instances]
    knows = [
        tuple(vars(rebec)[known.name]._index for known in reactive_class.__known_rebecs__)
        for rebec, reactive_class in zip(rebecs, classes, strict=True)
    ]

    def alike(one: int, other: int) -> bool:
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
            renaming = Renaming(system, tuple(images), labels)
            if renaming.state(system.initial) == system.initial:
                yield renaming
            continue
        position = len(images)
        pending += [
            [*images, image]
            for image in reversed(range(len(rebecs)))
            if image not in images and alike(position, image) and agrees([*images, image])
        ]
