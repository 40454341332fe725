"""Leaving out orders of messages that make no difference.

What several rebecs do at one moment can mostly be done in any order, and comes to the same. Where
one of them can get no message before its turn, whatever the others do, it goes first, alone; the
other orders are left out. docs/background/reduction.md says under which condition that keeps what
can go wrong, and why.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from graphlib import TopologicalSorter

from rebecsim.errors import UserError
from rebecsim.exploration.analysis.sendings import Sendings, Service, sendings_of
from rebecsim.exploration.states.local import Bag, Local
from rebecsim.exploration.states.transitions import TransitionSystem
from rebecsim.lang import CheckedModel

MOST_REBECS = 62
"""Sets of rebecs are integers with a bit for each."""


class PartialOrder:
    """Says which rebec may go first."""

    def __init__(
        self, sendings: Sendings, watched: Set[int], fragile: Set[int], overflows: bool
    ) -> None:
        """Take what is sent.

        `watched` rebecs are those of which properties read variables. Messages to `fragile` ones
        may be served before others that arrive at the same time. `overflows`: queues have bounds.
        """
        self._sent = _sent_in_the_end(sendings, overflows)
        self._leading = frozenset(
            service
            for service, sent in sendings.at_once.items()
            if service[0] not in watched and not any(receiver in fragile for receiver, _ in sent)
        )
        self._known: dict[tuple[int, Bag], tuple[int, bool]] = {}

    def leader(self, due: Sequence[Local]) -> int | None:
        """Give the first of these rebecs that may go first, alone, while all of them are due."""
        known = [self.of_bag(local.owner, local.bag) for local in due]
        for place, local in enumerate(due):
            sent = [each for other, (each, _) in enumerate(known) if other != place]
            if known[place][1] and not any(each >> local.owner & 1 for each in sent):
                return local.owner
        return None

    def of_bag(self, owner: int, bag: Bag) -> tuple[int, bool]:
        """Say what a rebec may do at this moment with what has arrived in its bag.

        Gives the rebecs, as a set, to which it may lead to sending what makes a difference, and
        whether it may itself go first.
        """
        key = owner, bag
        if key not in self._known:
            services = {(owner, message.number) for message in bag if message.arrival <= 0}
            sent = 0
            for service in services:
                sent |= self._sent[service]
            self._known[key] = sent, services <= self._leading
        return self._known[key]


def _sent_in_the_end(sendings: Sendings, overflows: bool) -> dict[Service, int]:
    """Give the rebecs that get what makes a difference by a service and all that follows at once.

    That is what arrives at once, and where queues have bounds everything.
    """
    found: dict[Service, int] = {}
    for service in TopologicalSorter(sendings.at_once).static_order():  # what is sent comes first
        rebecs = 0
        for receiver in sendings.ever[service] if overflows else ():
            rebecs |= 1 << receiver
        for following in sendings.at_once[service]:
            rebecs |= found[following] | 1 << following[0]
        found[service] = rebecs
    return found


def partial_order(
    system: TransitionSystem,
    named: Set[str],
    checked: CheckedModel | None,
    left_out: Sequence[str],
    overflows: bool,
) -> PartialOrder:
    """Read in a model who may go first; the rebecs `named` in properties may not.

    Raises UserError where that is not known to be sound: for other modes than floating time, for
    rebecs written in Python, with variables left out of the state, for rebecs of different
    priorities, more rebecs than `MOST_REBECS`, and messages that may go round without time.
    """
    obstacle = _obstacle(system, checked, left_out)
    if obstacle:
        raise UserError(f"the partial-order reduction {obstacle}")
    assert checked is not None
    sendings = sendings_of(checked)
    classes = [checked.classes[each.class_name] for each in checked.instances]
    if sendings.cycle:
        names = [
            f"{classes[rebec].name}.{server.name}"
            for rebec, number in sendings.cycle
            for server in classes[rebec].servers
            if server.number == number
        ]
        raise UserError(
            f"the partial-order reduction needs time to pass: {' to '.join(names)} may go round "
            "without"
        )
    watched = {place for place, rebec in enumerate(system.runner.rebecs) if str(rebec) in named}
    fragile = {
        place
        for place, own in enumerate(classes)
        if len({server.priority for server in own.servers}) > 1
    }
    return PartialOrder(sendings, watched, fragile, overflows)


def _obstacle(
    system: TransitionSystem, checked: CheckedModel | None, left_out: Sequence[str]
) -> str:
    """Say what stands in the way, if anything does."""
    rebecs = system.runner.rebecs
    if system.mode != "FTTS":
        return "is for floating time"
    if checked is None:
        return "needs a model in Rebeca, not in Python"
    if left_out:
        return "does not go with variables left out of the state"
    if system.model.uses_global_priority or len({each._priority for each in rebecs}) > 1:
        return "is not for models in which some rebecs go before others"
    if len(rebecs) > MOST_REBECS:
        return f"is for {MOST_REBECS} rebecs at most"
    return ""
