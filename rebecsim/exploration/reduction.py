"""Exploring one state for all that differ by an exchange of interchangeable rebecs.

Every state is replaced by the smallest of its images under the symmetries of the model. Whatever
can go wrong in the model can go wrong in the reduced system, as often and as soon, since a symmetry
takes runs to runs (docs/background/reduction.md). A path through the reduced system need not be a
run; `SymmetricSystem.unfolded` gives the run that it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from rebecsim.errors import UserError
from rebecsim.exploration.partial_order import PartialOrder
from rebecsim.exploration.states.local import Local
from rebecsim.exploration.states.outcome import Breach, Outcome
from rebecsim.exploration.states.transitions import Cause, State, TransitionSystem
from rebecsim.exploration.symmetry import Permutation, Renaming, symmetries
from rebecsim.lang import CheckedModel


class SymmetricSystem(TransitionSystem):
    """A transition system in which states stand for their images under symmetries.

    `group` must be closed, and begin with the identity. Everything but the states is shared with
    the full system, so that what is compiled for one can be used with the other. Where an `order`
    says who may go first, that leaves out transitions of states that stand for others; the full
    system has them all.
    """

    def __init__(
        self,
        full: TransitionSystem,
        group: Sequence[Renaming],
        order: PartialOrder | None = None,
    ) -> None:
        vars(self).update(vars(full))
        self.full = full
        self.partial_order = order
        self.group = tuple(group)
        self._by_images = {renaming.images: renaming for renaming in group}
        self._serials: dict[Local, int] = {}

    def expand(self, state: State) -> list[tuple[Cause, State | Breach]]:
        """Give every transition of a state, as TransitionSystem does, to representatives."""
        return [
            (cause, target if isinstance(target, Breach) else self.representative(target)[0])
            for cause, target in super().expand(state)
        ]

    def elapsed(self, before: State, cause: Cause, after: State) -> int:
        """Give how many time units lie between two states, of which the second follows."""
        return self.full.elapsed(before, cause, after)

    def representative(self, state: State) -> tuple[State, Renaming]:
        """Give the state that stands for a state, and the symmetry that takes it there."""
        images = [(renaming.state(state), renaming) for renaming in self.group]
        return min(images, key=lambda each: self._key(each[0]))

    def _key(self, state: State) -> tuple[int, ...]:
        """Order states: by when their parts were first met, so that any two images compare."""
        serials = self._serials
        return tuple(
            [serials.setdefault(local, len(serials)) for local in state[: len(self.runner.rebecs)]]
        )

    def unfolded(self, ordinals: Sequence[int], states: Iterable[State]) -> tuple[int, ...]:
        """Give the transitions of the full system that a path of this one stands for.

        `states` are those that the path leads through, behind the initial one. A search may have
        chosen other representatives than `representative` does.
        """
        return tuple(self._unfold(ordinals, iter(states)))

    def _unfold(self, ordinals: Sequence[int], states: Iterator[State]) -> Iterator[int]:
        state = real = self.initial  # the initial state is its own image
        back = self._by_images[tuple(range(len(self.runner.rebecs)))]  # takes state to real
        for ordinal in ordinals:
            cause, target = super().expand(state)[ordinal]
            taken = self.full.expand(real)
            place = next(
                place for place, (other, _) in enumerate(taken) if _is_image(other, cause, back)
            )
            yield place
            end = taken[place][1]
            if isinstance(target, Breach) or isinstance(end, Breach):
                return
            state = next(states)
            there = next(each for each in self.group if each.state(target) == state)
            back, real = self._by_images[_after_inverse(back.images, there.images)], end


def _is_image(cause: Cause, of: Cause, under: Renaming) -> bool:
    if not (isinstance(cause, Outcome) and isinstance(of, Outcome)):
        return False
    image, effect = cause.effect, of.effect
    return (
        image.owner == under.images[effect.owner]
        and image.choices == effect.choices
        and image.message == under.message(effect.message)
    )


def _after_inverse(after: Permutation, inverted: Permutation) -> Permutation:
    """Compose: first back along one permutation, then along the other."""
    composed = [0] * len(after)
    for position, image in enumerate(inverted):
        composed[image] = after[position]
    return tuple(composed)


def reduced(
    full: TransitionSystem,
    named: Set[str],
    checked: CheckedModel | None,
    left_out: Sequence[str],
    order: PartialOrder | None = None,
) -> SymmetricSystem:
    """Give the same system with its symmetries used, and with an order of rebecs if there is one.

    The rebecs `named` in properties are not exchanged. `left_out` are variables that are no part
    of the state. Raises UserError where the reduction is not known to be sound: in the timed
    transition system, with variables left out, and for rebecs written in Python, which may tell
    themselves apart by their names.
    """
    if full.mode == "TTS":
        raise UserError("the reduction is not for the timed transition system")
    if left_out:
        raise UserError("the reduction does not go with variables left out of the state")
    if checked is None:
        raise UserError("the reduction needs a model in Rebeca, not in Python")
    fixed = frozenset(
        position for position, rebec in enumerate(full.runner.rebecs) if str(rebec) in named
    )
    return SymmetricSystem(full, symmetries(full, fixed), order)
