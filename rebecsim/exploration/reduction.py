"""Partial-order and symmetry reduction: explore fewer states, with the same verdicts.

**Partial order.** What several rebecs do at one moment can mostly be done in any order, with the
same result. Where one of them can get no message before its turn, whatever the others do, it goes
first, alone; the other orders are left out. In core models, where messages wait in the order of
arrival, no other rebec may send to the receivers of its messages either.
docs/background/reduction.md says under which condition that keeps every possible error, and why.

**Symmetry.** Every state is replaced by the smallest of its images under the symmetries of the
model. Whatever can go wrong in the model can go wrong in the reduced system, as often and as soon,
since a symmetry takes runs to runs (docs/background/reduction.md). A path through the reduced
system need not be a run; `SymmetricSystem.unfolded` gives the run that it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from graphlib import CycleError, TopologicalSorter

from rebecsim.errors import UserError
from rebecsim.exploration.analysis.footprints import SendGraph, Service, send_graph_of
from rebecsim.exploration.states.effects import Breach, Outcome
from rebecsim.exploration.states.rebec_states import Bag, Local
from rebecsim.exploration.states.transitions import State, Successor, TransitionSystem
from rebecsim.exploration.symmetry import Symmetry, relabellings_of, symmetries
from rebecsim.lang import CheckedModel
from rebecsim.lang.checked import CheckedClass

MOST_REBECS = 62
"""Sets of rebecs are integers with a bit for each."""

Kind = tuple[str, int]
"""A class and the number of one of its message servers."""


class PartialOrder:
    """Gives ample sets of one rebec: which may go first, alone."""

    def __init__(
        self, sent: Mapping[Service, int], alone: Mapping[Service, int], is_core: bool
    ) -> None:
        """Take the receivers of services, as sets of rebecs.

        `sent` are those to which a service, and all that may follow it, leads to sending messages
        that make a difference. `alone` are those to which no other rebec may, if the service is to
        go first. Services in `sent` only may not go first.
        """
        self._sent = sent
        self._alone = alone
        self._is_core = is_core
        self._known: dict[tuple[int, Bag], tuple[int, int]] = {}

    def ample_rebec(self, due: Sequence[Local]) -> int | None:
        """Give the first of these rebecs that may go first, alone, while all of them are due."""
        known = [self.of_bag(local.owner, local.bag) for local in due]
        for place, local in enumerate(due):
            sent = [each for other, (each, _) in enumerate(known) if other != place]
            alone = known[place][1]
            if alone and not any(each & alone for each in sent):
                return local.owner
        return None

    def is_kept(self, images: Sequence[int], place: Callable[[int, int], Service]) -> bool:
        """Whether an exchange of rebecs and message servers maps these sets to themselves."""

        def image(sets: Mapping[Service, int]) -> dict[Service, int]:
            return {
                place(*service): _set_of(
                    other for one, other in enumerate(images) if rebecs >> one & 1
                )
                for service, rebecs in sets.items()
            }

        return image(self._sent) == self._sent and image(self._alone) == self._alone

    def of_bag(self, owner: int, bag: Bag) -> tuple[int, int]:
        """Say what a rebec may do at this moment with what has arrived in its bag.

        Gives the rebecs, as a set, to which it may lead to sending messages that make a difference,
        and those to which no other rebec may, if it is to go first; none if it may not.
        """
        key = owner, bag
        if key not in self._known:
            services = [(owner, message.number) for message in bag if message.arrival <= 0]
            sent = 0
            for service in services:
                sent |= self._sent[service]
            next_ones = services[:1] if self._is_core else services
            alone = 0
            if all(service in self._alone for service in next_ones):
                for service in next_ones:
                    alone |= self._alone[service]
            self._known[key] = sent, alone
        return self._known[key]


def _eventual_receivers(sends: SendGraph, overflows: bool) -> dict[Service, int]:
    """Give the receivers of messages that make a difference, of a service and all that follows.

    These messages arrive without time passing; where queues are bounded, all messages count.
    """
    found = {
        service: _set_of(receivers if overflows else ())
        | _set_of(receiver for receiver, _ in sends.immediate[service])
        for service, receivers in sends.targets.items()
    }
    grows = True
    while grows:  # services may follow each other in a cycle
        grows = False
        for service, following in sends.immediate.items():
            more = found[service]
            for each in following:
                more |= found[each]
            grows |= more != found[service]
            found[service] = more
    return found


def _set_of(rebecs: Iterable[int]) -> int:
    found = 0
    for each in rebecs:
        found |= 1 << each
    return found


def _without_cycles(
    sends: SendGraph, classes: Sequence[CheckedClass], services: Set[Service]
) -> set[Service]:
    """Leave out services so that the others cannot follow each other for ever.

    Those of all rebecs of a class are left out together, so that symmetries keep what is left.
    From each cycle the service with the most receivers goes, which could hardly ever go first.
    """
    left = set(services)
    while True:
        follows: dict[Kind, set[Kind]] = {}
        for service in left:
            kinds = follows.setdefault(_kind(classes, service), set())
            kinds |= {_kind(classes, each) for each in sends.immediate[service] if each in left}
        try:
            TopologicalSorter(follows).prepare()
        except CycleError as error:
            reach = {
                kind: max(len(sends.targets[each]) for each in left if _kind(classes, each) == kind)
                for kind in error.args[1]
            }
            worst = max(sorted(reach), key=lambda kind: reach[kind])
            left = {each for each in left if _kind(classes, each) != worst}
        else:
            return left


def _kind(classes: Sequence[CheckedClass], service: Service) -> Kind:
    return classes[service[0]].name, service[1]


def partial_order(
    system: TransitionSystem,
    named: Set[str],
    checked: CheckedModel | None,
    left_out: Sequence[str],
    overflows: bool,
) -> PartialOrder:
    """Find which rebecs of a model may go first; the rebecs `named` in properties may not.

    Raises UserError where that is not known to be sound: for the timed transition system, for
    Python without a meaning in Rebeca, with variables left out of the state, for rebecs of
    different priorities, more rebecs than `MOST_REBECS`, and in timed models messages that may go
    round without time.
    """
    obstacle = _obstacle(system, checked, left_out)
    if obstacle:
        raise UserError(f"the partial-order reduction {obstacle}")
    assert checked is not None
    sends = send_graph_of(checked)
    classes = [checked.classes[each.class_name] for each in checked.instances]
    is_core = system.mode == "core"
    if sends.cycle and not is_core:
        names = [
            f"{classes[rebec].name}.{server.name}"
            for rebec, number in sends.cycle
            for server in classes[rebec].servers
            if server.number == number
        ]
        raise UserError(
            f"the partial-order reduction needs time to pass, but {' to '.join(names)} may repeat "
            "at one time"
        )
    watched = {place for place, rebec in enumerate(system.runner.rebecs) if str(rebec) in named}
    fragile = {
        place
        for place, own in enumerate(classes)
        if len({server.priority for server in own.servers}) > 1
    }
    ample = {
        service
        for service, sent in sends.immediate.items()
        if service[0] not in watched and not any(receiver in fragile for receiver, _ in sent)
    }
    if is_core:
        ample = _without_cycles(sends, classes, ample)
    alone = {
        service: 1 << service[0] | (_set_of(sends.targets[service]) if is_core else 0)
        for service in ample
    }
    return PartialOrder(_eventual_receivers(sends, overflows), alone, is_core)


def _obstacle(
    system: TransitionSystem, checked: CheckedModel | None, left_out: Sequence[str]
) -> str:
    """Say why the reduction does not apply, if so."""
    rebecs = system.runner.rebecs
    if system.mode == "TTS":
        return "does not work in the timed transition system"
    if checked is None:
        return "needs a model in Rebeca, or in Python that translates to Rebeca"
    if left_out:
        return "does not work with variables left out of the state"
    if system.model.uses_global_priority or len({each._priority for each in rebecs}) > 1:
        return "does not work where rebecs have different priorities"
    if len(rebecs) > MOST_REBECS:
        return f"works for at most {MOST_REBECS} rebecs"
    return ""


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
        group: Sequence[Symmetry],
        order: PartialOrder | None = None,
    ) -> None:
        vars(self).update(vars(full))
        self.full = full
        self.partial_order = order
        self.group = tuple(group)
        self._serials: dict[Local, int] = {}

    def expand(self, state: State) -> list[Successor]:
        """Give every transition of a state, as TransitionSystem does, to representatives."""
        return [
            (cause, target if isinstance(target, Breach) else self.representative(target)[0], units)
            for cause, target, units in super().expand(state)
        ]

    def orbit(self, owner: int, number: int) -> tuple[int, int]:
        """Give what stands for a rebec and one of its message servers, and for all its images."""
        return min(each.place(owner, number) for each in self.group)

    def representative(self, state: State) -> tuple[State, Symmetry]:
        """Give the state that stands for a state, and the symmetry that takes it there."""
        images = [(symmetry.state(state), symmetry) for symmetry in self.group]
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
                place for place, other in enumerate(taken) if self._is_image(other, found, back)
            )
            yield place
            end = taken[place][1]
            if isinstance(end, Breach):
                return
            state, real = next(states), end

    @staticmethod
    def _is_image(taken: Successor, found: Successor, under: Symmetry) -> bool:
        """Whether a symmetry that takes one state to another takes a transition to another.

        There may be several such, by different choices; they lead to the same state after the same
        time, or to the same verdict.
        """
        (cause, end, units), (other, target, lasts) = taken, found
        assert isinstance(cause, Outcome)
        assert isinstance(other, Outcome)
        effect, of = cause.effect, other.effect
        if effect.owner != under.images[of.owner]:
            return False
        if effect.message != under.message(of.owner, of.message):
            return False
        if isinstance(end, Breach) or isinstance(target, Breach):
            return isinstance(end, Breach) and isinstance(target, Breach) and end[0] == target[0]
        return units == lasts and end == under.state(target)


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
    timed transition system, with variables left out, and for Python without a meaning in
    Rebeca, where rebecs may tell themselves apart by their names.
    """
    if full.mode == "TTS":
        raise UserError("symmetry reduction does not work in the timed transition system")
    if left_out:
        raise UserError("symmetry reduction does not work with variables left out of the state")
    if checked is None:
        raise UserError(
            "symmetry reduction needs a model in Rebeca, or in Python that translates to Rebeca"
        )
    rebecs = full.initial[: len(full.runner.rebecs)]
    initial = {(local.owner, each.number) for local in rebecs for each in local.bag}
    ways = relabellings_of(checked, initial, frozenset(named))
    group = symmetries(full, _named_in(checked, named), ways)
    if order is not None:
        group = tuple(each for each in group if order.is_kept(each.images, each.place))
    return SymmetricSystem(full, group, order)


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
