"""Symmetries of a model: ways to exchange rebecs such that nobody could tell.

A symmetry is a permutation of the rebecs that keeps class, priority and initial variables and
messages, and takes the rebecs that one knows to those that its image knows, in the same order.
Then it takes every transition to a transition; docs/background/reduction.md has the proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from rebecsim.exploration.states.local import NOBODY_INDEX, Bag, Local, Waiting
from rebecsim.exploration.states.transitions import State, TransitionSystem
from rebecsim.exploration.states.values import Reference, rank

Permutation = tuple[int, ...]
"""The image of each rebec, by positions."""

MOST_SYMMETRIES = 5040
"""Of larger groups a part is used: each new state is compared under every symmetry."""


class Renaming:
    """Applies one permutation to values, states of rebecs and states of the system."""

    def __init__(self, system: TransitionSystem, images: Permutation) -> None:
        self.images = images
        self._system = system
        self._references = system.runner.values.references
        self._known: dict[Local, Local] = {}
        self._messages: dict[Waiting, Waiting] = {}

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
                self.variables(local.variables),
                local.clock,
                None,
                self.bag(local.bag),
            )
        return known

    def variables(self, variables: tuple[Any, ...]) -> tuple[Any, ...]:
        """Give the variables of the image of a rebec."""
        return tuple(map(self._value, variables))

    def bag(self, bag: Bag) -> Bag:
        """Give the bag of the image of a rebec."""
        return self._system.locals.arrange(tuple([self.message(message) for message in bag]))

    def message(self, message: Waiting) -> Waiting:
        """Give the image of a message."""
        known = self._messages.get(message)
        if known is None:
            known = self._messages[message] = self._renamed(message)
        return known

    def _renamed(self, message: Waiting) -> Waiting:
        arguments = tuple(map(self._value, message.arguments))
        sender = message.sender
        return message._replace(
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


def symmetries(
    system: TransitionSystem, fixed: frozenset[int] = frozenset()
) -> tuple[Renaming, ...]:
    """Give the symmetries of a model, a group, first the identity.

    The rebecs at the positions `fixed` are exchanged with nobody; if there are too many symmetries,
    further ones are not either.
    """
    found = tuple(islice(_search(system, fixed), MOST_SYMMETRIES + 1))
    if len(found) <= MOST_SYMMETRIES:
        return found
    moved = {one for each in found for one, image in enumerate(each.images) if one != image}
    return symmetries(system, fixed | {min(moved)})


def _search(system: TransitionSystem, fixed: frozenset[int]) -> Iterator[Renaming]:
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
            image == images[known]
            for one in range(position + 1)
            for known, image in zip(knows[one], knows[images[one]], strict=True)
            if known <= position
        )

    pending: list[list[int]] = [[]]
    while pending:
        images = pending.pop()
        if len(images) == len(rebecs):
            renaming = Renaming(system, tuple(images))
            if renaming.state(system.initial) == system.initial:
                yield renaming
            continue
        position = len(images)
        pending += [
            [*images, image]
            for image in reversed(range(len(rebecs)))
            if image not in images and alike(position, image) and agrees([*images, image])
        ]
