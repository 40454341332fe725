"""Leave out orders of messages that make no difference (partial-order reduction).

What several rebecs do at one moment can mostly be done in any order, and comes to the same. Where
one of them can get no message before its turn, whatever the others do, it goes first, alone; the
other orders are left out. In core models, where messages wait in the order of coming, nobody else
may send to where it sends either. docs/background/reduction.md says under which condition that
keeps what can go wrong, and why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from graphlib import CycleError, TopologicalSorter

from rebecsim.errors import UserError
from rebecsim.exploration.analysis.sendings import Sendings, Service, sendings_of
from rebecsim.exploration.states.local import Bag, Local
from rebecsim.exploration.states.transitions import TransitionSystem
from rebecsim.lang import CheckedModel
from rebecsim.lang.checked import CheckedClass

MOST_REBECS = 62
"""Sets of rebecs are integers with a bit for each."""

Kind = tuple[str, int]
"""A class and the number of one of its message servers."""


class PartialOrder:
    """Says which rebec may go first."""

    def __init__(
        self, sent: Mapping[Service, int], alone: Mapping[Service, int], is_core: bool
    ) -> None:
        """Take what is sent, as sets of rebecs.

        `sent` is to whom a service, and all that may follow it, leads to sending what makes a
        difference; `alone` to whom nobody else may, if it is to go first. What is in `sent` only
        may not go first.
        """
        self._sent = sent
        self._alone = alone
        self._is_core = is_core
        self._known: dict[tuple[int, Bag], tuple[int, int]] = {}

    def leader(self, due: Sequence[Local]) -> int | None:
        """Give the first of these rebecs that may go first, alone, while all of them are due."""
        known = [self.of_bag(local.owner, local.bag) for local in due]
        for place, local in enumerate(due):
            sent = [each for other, (each, _) in enumerate(known) if other != place]
            alone = known[place][1]
            if alone and not any(each & alone for each in sent):
                return local.owner
        return None

    def is_kept(self, images: Sequence[int], place: Callable[[int, int], Service]) -> bool:
        """Whether an exchange of rebecs and message servers takes what is said to the same."""

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

        Gives the rebecs, as a set, to which it may lead to sending what makes a difference, and
        those to which nobody else may, if it is to go first; none if it may not.
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


def _sent_in_the_end(sendings: Sendings, overflows: bool) -> dict[Service, int]:
    """Give the rebecs that get what makes a difference by a service and all that follows at once.

    That is what arrives at once, and where queues have bounds everything.
    """
    found = {
        service: _set_of(receivers if overflows else ())
        | _set_of(receiver for receiver, _ in sendings.at_once[service])
        for service, receivers in sendings.ever.items()
    }
    grows = True
    while grows:  # services may follow each other and round
        grows = False
        for service, following in sendings.at_once.items():
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


def _without_rounds(
    sendings: Sendings, classes: Sequence[CheckedClass], services: Set[Service]
) -> set[Service]:
    """Leave out services so that those that are left cannot follow each other for ever.

    Those of all rebecs of a class are left out together, so that symmetries keep what is left.
    From each round goes what sends to the most rebecs, which hardly ever could go first.
    """
    left = set(services)
    while True:
        follows: dict[Kind, set[Kind]] = {}
        for service in left:
            kinds = follows.setdefault(_kind(classes, service), set())
            kinds |= {_kind(classes, each) for each in sendings.at_once[service] if each in left}
        try:
            TopologicalSorter(follows).prepare()
        except CycleError as error:
            reach = {
                kind: max(len(sendings.ever[each]) for each in left if _kind(classes, each) == kind)
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
    """Read in a model who may go first; the rebecs `named` in properties may not.

    Raises UserError where that is not known to be sound: for the timed transition system, for
    rebecs written in Python, with variables left out of the state, for rebecs of different
    priorities, more rebecs than `MOST_REBECS`, and in timed models messages that may go round
    without time.
    """
    obstacle = _obstacle(system, checked, left_out)
    if obstacle:
        raise UserError(f"the partial-order reduction {obstacle}")
    assert checked is not None
    sendings = sendings_of(checked)
    classes = [checked.classes[each.class_name] for each in checked.instances]
    is_core = system.mode == "core"
    if sendings.cycle and not is_core:
        names = [
            f"{classes[rebec].name}.{server.name}"
            for rebec, number in sendings.cycle
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
    leading = {
        service
        for service, sent in sendings.at_once.items()
        if service[0] not in watched and not any(receiver in fragile for receiver, _ in sent)
    }
    if is_core:
        leading = _without_rounds(sendings, classes, leading)
    alone = {
        service: 1 << service[0] | (_set_of(sendings.ever[service]) if is_core else 0)
        for service in leading
    }
    return PartialOrder(_sent_in_the_end(sendings, overflows), alone, is_core)


def _obstacle(
    system: TransitionSystem, checked: CheckedModel | None, left_out: Sequence[str]
) -> str:
    """Say what stands in the way, if anything does."""
    rebecs = system.runner.rebecs
    if system.mode == "TTS":
        return "does not work in the timed transition system"
    if checked is None:
        return "needs a model in Rebeca, not in Python"
    if left_out:
        return "does not work with variables left out of the state"
    if system.model.uses_global_priority or len({each._priority for each in rebecs}) > 1:
        return "does not work where rebecs have different priorities"
    if len(rebecs) > MOST_REBECS:
        return f"works for at most {MOST_REBECS} rebecs"
    return ""
