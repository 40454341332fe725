"""Symmetry reduction: explore one state for all that differ by a symmetry of the model.

Every state is replaced by the smallest of its images under the symmetries of the model. Whatever
can go wrong in the model can go wrong in the reduced system, as often and as soon, since a symmetry
takes runs to runs (docs/background/reduction.md). A path through the reduced system need not be a
run; `SymmetricSystem.unfolded` gives the run that it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from rebecsim.errors import UserError
from rebecsim.exploration.analysis.relabelling import relabellings_of
from rebecsim.exploration.partial_order import PartialOrder
from rebecsim.exploration.states.local import Local
from rebecsim.exploration.states.outcome import Breach, Outcome
from rebecsim.exploration.states.transitions import Cause, State, TransitionSystem
from rebecsim.exploration.symmetry import Renaming, symmetries
from rebecsim.lang import CheckedModel

Transition = tuple[Cause, State | Breach]


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
        self._serials: dict[Local, int] = {}

    def expand(self, state: State) -> list[Transition]:
        """Give every transition of a state, as TransitionSystem does, to representatives."""
        return [
            (cause, target if isinstance(target, Breach) else self.representative(target)[0])
            for cause, target in super().expand(state)
        ]

    def elapsed(self, before: State, cause: Cause, after: State) -> int:
        """Give how many time units lie between two states, of which the second follows."""
        return self.full.elapsed(before, cause, after)

    def orbit(self, owner: int, number: int) -> tuple[int, int]:
        """Give what stands for a rebec and one of its message servers, and for all its images."""
        return min(each.place(owner, number) for each in self.group)

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
        for ordinal in ordinals:
            back = next(each for each in self.group if each.state(state) == real)
            found = super().expand(state)[ordinal]
            taken = self.full.expand(real)
            place = next(
                place
                for place, other in enumerate(taken)
                if self._is_image(real, other, state, found, back)
            )
            yield place
            end = taken[place][1]
            if isinstance(end, Breach):
                return
            state, real = next(states), end

    def _is_image(
        self, real: State, taken: Transition, state: State, found: Transition, under: Renaming
    ) -> bool:
        """Whether a symmetry that takes one state to another takes a transition to another.

        There may be several such, by different choices; they lead to the same state after the same
        time, or to the same verdict.
        """
        (cause, end), (other, target) = taken, found
        assert isinstance(cause, Outcome)
        assert isinstance(other, Outcome)
        effect, of = cause.effect, other.effect
        if effect.owner != under.images[of.owner]:
            return False
        if effect.message != under.message(of.owner, of.message):
            return False
        if isinstance(end, Breach) or isinstance(target, Breach):
            return isinstance(end, Breach) and isinstance(target, Breach) and end[0] == target[0]
        elapsed = self.full.elapsed
        return end == under.state(target) and elapsed(real, cause, end) == elapsed(
            state, other, target
        )


def reduced(
    full: TransitionSystem,
    named: Set[str],
    checked: CheckedModel | None,
    left_out: Sequence[str],
    order: PartialOrder | None = None,
) -> SymmetricSystem:
    """Give the same system with its symmetries used, and with an order of rebecs if there is one.

    The rebecs and variables `named` in properties are not exchanged. `left_out` are variables that
    are no part of the state. Raises UserError where the reduction is not known to be sound: in the
    timed transition system, with variables left out, and for rebecs written in Python, which may
    tell themselves apart by their names.
    """
    if full.mode == "TTS":
        raise UserError("symmetry reduction does not work in the timed transition system")
    if left_out:
        raise UserError("symmetry reduction does not work with variables left out of the state")
    if checked is None:
        raise UserError("symmetry reduction needs a model in Rebeca, not in Python")
    begun = {(local.owner, each.number) for local in _locals(full) for each in local.bag}
    ways = relabellings_of(checked, begun, frozenset(named))
    group = symmetries(full, _named_in(checked, named), ways)
    if order is not None:
        group = tuple(each for each in group if order.is_kept(each.images, each.place))
    return SymmetricSystem(full, group, order)


def _locals(system: TransitionSystem) -> Sequence[Local]:
    return system.initial[: len(system.runner.rebecs)]


def _named_in(checked: CheckedModel, named: Set[str]) -> frozenset[int]:
    """Give the rebecs that properties name, also as one that another of these knows."""
    instances = [each for each in checked.instances if each.name in named]
    found = {each.name for each in instances}
    for each in instances:
        known = checked.classes[each.class_name].known_rebecs
        found |= {
            bound for one, bound in zip(known, each.bindings, strict=True) if one.name in named
        }
    return frozenset(place for place, each in enumerate(checked.instances) if each.name in found)
