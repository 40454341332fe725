"""Running message servers on given states of rebecs, to find out what they do.

The rebecs of one `rebecsim.actors.System` are used again and again: a rebec is given the variables,
clock and bag of a state, `rebecsim.actors.execute` serves a message, and what has changed is read
off. Bags of other rebecs catch what is sent to them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NamedTuple

from rebecsim.actors import (
    Message,
    MessageServer,
    Model,
    ModelError,
    QueueOverflowError,
    Rebec,
    Step,
    System,
    Violation,
    execute,
)
from rebecsim.explore.isolation import hidden_class
from rebecsim.explore.local import NEVER, NO_DEADLINE, Local, LocalStore, Waiting
from rebecsim.explore.outcome import Breach, Outcome, Sending
from rebecsim.explore.suspension import Recipe, Suspended, Suspension, place_of
from rebecsim.explore.values import PLAIN, UnsuitableValueError, Values, rank

__all__ = ["Runner"]

_ENGINE = frozenset({"_system", "_bag", "_now", "_name", "_index", "_priority", "delay"})

Choices = tuple[tuple[int, int], ...]


class _Stopped(NamedTuple):
    """A message server that has come to a delay: the rebec then, and what it has sent."""

    local: Local
    sendings: tuple[Sending, ...]


class Runner:
    """Runs the message servers of one model.

    `splits`: a delay ends the run of a message server, as in the timed transition system;
    otherwise it only moves the clock of the rebec. `deadlines` and `overflows` say whether these
    are checked; without the second, bags have no bounds. `start_matters` holds the rebecs that
    ask how long their message had waited, which is counted to the start of the message server.

    Raises Violation if a constructor does, ModelError for a model that cannot be explored.
    """

    def __init__(
        self,
        model: Model,
        *,
        splits: bool,
        deadlines: bool = True,
        overflows: bool = True,
        start_matters: frozenset[int] = frozenset(),
    ) -> None:
        self.system = system = System(model)
        self.rebecs = system.rebecs
        self.values = Values(self.rebecs)
        self.names = tuple(_variable_names(rebec) for rebec in self.rebecs)
        self.store: LocalStore
        self._deadlines = deadlines
        self._start_matters = start_matters
        self._floating = not (splits or model.core)
        self._shown = tuple(type(rebec) for rebec in self.rebecs)
        self._hidden = tuple(
            hidden_class(shown, names) for shown, names in zip(self._shown, self.names, strict=True)
        )
        self._servers = tuple(tuple(shown.__servers__.values()) for shown in self._shown)
        self._numbers = {
            server: number for servers in self._servers for number, server in enumerate(servers)
        }
        self._capacities = tuple(
            rebec._bag.capacity if overflows else NEVER for rebec in self.rebecs
        )
        self._bags = tuple(rebec._bag for rebec in self.rebecs)
        self._known = tuple(
            {known.name: getattr(rebec, known.name) for known in type(rebec).__known_rebecs__}
            for rebec in self.rebecs
        )
        self._sendings: dict[tuple[int, Waiting], Sending] = {}
        self.initial_bags = tuple(tuple(bag.messages) for bag in self._bags)
        self.initial_variables = tuple(self._variables(rebec._index) for rebec in self.rebecs)
        system.choose = self._choose
        self._orders: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        # of the message server that runs:
        self._taken: list[tuple[int, int]] = []
        self._prefix: Choices = ()
        self._delays = 0
        self._recipe: Recipe | None = None
        self._started_with: tuple[Any, ...] = ()
        self._elapsed = 0
        self._time = 0
        self._own: Local
        self._serving: Waiting
        self._stopped: _Stopped | None = None
        for rebec in self.rebecs:
            if splits:
                rebec.__dict__["delay"] = self._splitting_delay(rebec)
            self._leave(rebec._index)

    # --- what comes of a state -----------------------------------------------------------------

    def outcomes(self, local: Local, time: int) -> tuple[Outcome, ...]:
        """Give every outcome of every message that the rebec may serve; it must be its turn.

        `time` is the absolute time of the state. The order is that of the bag, then of the
        choices, the last one drawn moving fastest.
        """
        if local.suspension is not None:
            return tuple(self._of_message(local, local.suspension.message, time))
        return tuple(
            outcome
            for message in self.store.alternatives(local)
            for outcome in self._of_message(local, message, time)
        )

    def _of_message(self, local: Local, message: Waiting, time: int) -> Iterator[Outcome]:
        suspension = local.suspension
        fixed: Choices = () if suspension is None else suspension.recipe.choices
        prefix: Choices | None = fixed
        while prefix is not None:
            outcome = self.run(local, message, prefix, time)
            yield outcome
            prefix = _next_choices(outcome.choices, len(fixed))

    def run(self, local: Local, message: Waiting, prefix: Choices, time: int) -> Outcome:
        """Serve a message, or go on with a suspended one, with these choices and then first ones.

        Raises ModelError if the message server does what exploration cannot follow.
        """
        owner, suspension = local.owner, local.suspension
        rebec = self.rebecs[owner]
        taken: list[tuple[int, int]] = []
        self._taken, self._prefix, self._delays = taken, prefix, 0
        self._own, self._serving, self._time = local, message, time
        self._stopped = None
        if suspension is None:
            self._started_with, self._elapsed = local.variables, 0
            self._recipe = None
        else:
            self._recipe = suspension.recipe
            self._started_with, self._elapsed = self._recipe.variables, self._recipe.elapsed
        served = self._decode(owner, message, 0, time)
        self._enter(local, served)
        sendings: tuple[Sending, ...]
        breach = None
        try:
            execute(self.system, Step(rebec, served), self._deadlines)
        except Suspended:
            pass
        except QueueOverflowError as violation:
            text = str(QueueOverflowError(violation.message, self._capacities[owner]))
            breach = Breach(violation.verdict, text)
        except Violation as violation:
            breach = Breach(violation.verdict, str(violation))
        stopped: _Stopped | None = self._stopped
        if stopped is not None:  # also if a `finally` of the model raised something after it
            after: Local | None = stopped.local
            sendings, breach = stopped.sendings, None
        else:
            sendings = self._sent(owner)
            after = self._read(owner) if breach is None else None
        variables = self._variables(owner) if after is None else after.variables
        self._leave(owner)
        return Outcome(
            owner,
            message,
            tuple(taken),
            0 if suspension is None else len(suspension.recipe.choices),
            suspension is not None,
            after,
            sendings,
            breach,
            variables,
        )

    def overflow(self, receiver: int, message: Waiting, time: int) -> Breach:
        """Give the breach of a message that finds the receiver's bag full."""
        capacity = self._capacities[receiver]
        error = QueueOverflowError(self._decode(receiver, message, 0, time), capacity)
        return Breach("queue overflow", str(error))

    def receive(self, local: Local, sending: Sending) -> Local | None:
        """Give the receiver's state with the message in its bag; None if the bag is full."""
        taken = len(local.bag) + (local.suspension is not None)
        after = None
        if taken < self._capacities[local.owner]:
            bag = self.store.put(local.bag, sending.message)
            after = self.store.intern(
                local.owner, local.variables, local.clock, local.suspension, bag
            )
        local.add_received(sending, after)
        return after

    # --- choices and delays ----------------------------------------------------------------------

    def _choose(self, rebec: Rebec, count: int, site: int) -> int:
        position = len(self._taken)
        index = self._prefix[position][0] if position < len(self._prefix) else 0
        self._taken.append((index, count))
        return index

    def _splitting_delay(self, rebec: Rebec) -> Callable[[int], None]:
        """Make the `delay` of a rebec whose message servers stop there."""
        advance = type(rebec).delay

        def delay(duration: int) -> None:
            advance(rebec, duration)
            self._delays += 1
            recipe = self._recipe
            if recipe is not None and self._delays <= recipe.delays:
                if self._delays == recipe.delays:
                    self._forget_sendings()
                return
            self._stop(rebec, sys._getframe(1))
            raise Suspended

        return delay

    def _forget_sendings(self) -> None:
        """Drop what the part before the delay has sent: it was sent when that part ran."""
        for bag in self._bags:
            bag.messages.clear()
        self._bags[self._own.owner].capacity = self._room(self._own)

    def _stop(self, rebec: Rebec, caller: FrameType) -> None:
        """Note the rebec as it is now, before `finally` clauses of the model can change it."""
        owner = rebec._index
        held = [rebec.__dict__[name] for name in self.names[owner]]
        elapsed = rebec._now - self.system.started
        recipe = Recipe(self._started_with, tuple(self._taken), self._delays, elapsed)
        place = place_of(caller, execute.__code__, held, self.values)
        if place is None:
            place = recipe  # its whole history tells it apart, if nothing less can
        elif owner in self._start_matters:
            place = (place, elapsed)
        suspension = Suspension(rebec._now - self._time, self._serving, place, recipe)
        sendings = self._sent(owner)
        self._stopped = _Stopped(self._read(owner, suspension), sendings)

    # --- states of rebecs in and out -----------------------------------------------------------

    def _enter(self, local: Local, served: Message) -> None:
        """Make a rebec be at the start of a message server, and able to see its variables.

        Its bag holds the message to serve only; the others just take their places.
        """
        owner = local.owner
        rebec = self.rebecs[owner]
        rebec.__class__ = self._shown[owner]
        attributes = rebec.__dict__
        decode = self.values.decode
        for name, value in zip(self.names[owner], self._started_with, strict=True):
            attributes[name] = value if type(value) in PLAIN else decode(value)
        rebec._now = self._time + local.clock - self._elapsed
        bag = self._bags[owner]
        bag.messages[:] = (served,)
        bag.capacity = self._room(local) if self._recipe is None else NEVER
        self.system.sequence = 0

    def _room(self, local: Local) -> int:
        """Give the capacity left when the waiting messages have their places."""
        waiting = len(local.bag) - (local.suspension is None)
        return self._capacities[local.owner] - waiting

    def _leave(self, owner: int) -> None:
        """Make a rebec one of the others: its variables hidden, its bag an empty outbox."""
        self.rebecs[owner].__class__ = self._hidden[owner]
        self._bags[owner].capacity = NEVER
        self._bags[owner].messages.clear()

    def _read(self, owner: int, suspension: Suspension | None = None) -> Local:
        """Give the state that a rebec has come to."""
        time, bag = self._time, self._own.bag
        if self._recipe is None:
            place = bag.index(self._serving)
            bag = bag[:place] + bag[place + 1 :]
        sent = self._bags[owner].messages
        if sent:
            bag = self.store.arrange([*bag, *(self.encode(message, time) for message in sent)])
        clock = self.rebecs[owner]._now - time if self._floating else 0
        return self.store.intern(owner, self._variables(owner), clock, suspension, bag)

    def _variables(self, owner: int) -> tuple[Any, ...]:
        """Give the variables of a rebec, encoded."""
        rebec = self.rebecs[owner]
        attributes = rebec.__dict__
        names = self.names[owner]
        self._check_attributes(rebec, len(names))
        encode = self.values.encode
        found = []
        for name in names:
            value = attributes[name]
            if type(value) not in PLAIN:
                try:
                    value = encode(value)
                except UnsuitableValueError as error:
                    raise ModelError(f"{rebec}: `{name}`: {error}") from error
            found.append(value)
        return tuple(found)

    def _check_attributes(self, rebec: Rebec, variables: int) -> None:
        attributes = rebec.__dict__
        known = self._known[rebec._index]
        engine = len(_ENGINE) - ("delay" not in attributes)
        if len(attributes) != variables + len(known) + engine:
            raise ModelError(
                f"{rebec}: a message server makes or deletes an attribute; "
                "declare it as a state variable"
            )
        for name, bound in known.items():
            if attributes[name] is not bound:
                raise ModelError(f"{rebec}: a message server changes the known rebec `{name}`")

    def _sent(self, owner: int) -> tuple[Sending, ...]:
        """Give what lies in the bags of the other rebecs, in the order of sending; empty them."""
        time = self._time
        found = [
            (message.sequence, receiver, message)
            for receiver, bag in enumerate(self._bags)
            if bag.messages and receiver != owner
            for message in bag.messages
        ]
        if not found:
            return ()
        found.sort()
        sendings = []
        for _, receiver, message in found:
            self._bags[receiver].messages.clear()
            key = receiver, self.encode(message, time)
            sending = self._sendings.get(key)
            if sending is None:
                sending = self._sendings[key] = Sending(*key)
            sendings.append(sending)
        return tuple(sendings)

    def encode(self, message: Message, time: int) -> Waiting:
        """Give a message as part of a state at that time."""
        arguments: tuple[Any, ...] = ()
        order: tuple[Any, ...] = ()
        if message.arguments:
            try:
                arguments = tuple(map(self.values.encode, message.arguments))
            except UnsuitableValueError as error:
                raise ModelError(f"an argument of {message}: {error}") from error
            known = self._orders.get(arguments)
            if known is None:
                known = self._orders[arguments] = tuple(map(rank, arguments))
            order = known
        return Waiting(
            message.arrival - time,
            message.priority,
            self._numbers[message.server],
            message.sender._index,
            NO_DEADLINE if message.deadline is None else message.deadline - time,
            order,
            arguments,
        )

    def server_of(self, owner: int, message: Waiting) -> MessageServer:
        """Give the message server of a message to that rebec."""
        return self._servers[owner][message.number]

    def _decode(self, owner: int, message: Waiting, sequence: int, time: int) -> Message:
        deadline = message.deadline
        return Message(
            message.arrival + time,
            message.priority,
            sequence,
            self._servers[owner][message.number],
            self.rebecs[message.sender],
            tuple(map(self.values.decode, message.arguments)),
            None if deadline == NO_DEADLINE else int(deadline) + time,
        )


def _variable_names(rebec: Rebec) -> tuple[str, ...]:
    """Name what a rebec remembers: declared variables first, then whatever else it was given."""
    declared = [variable.name for variable in type(rebec).__state_variables__]
    bound = {known.name for known in type(rebec).__known_rebecs__}
    others = [
        name
        for name in rebec.__dict__
        if name not in _ENGINE and name not in bound and name not in declared
    ]
    return (*declared, *others)


def _next_choices(taken: Choices, fixed: int) -> Choices | None:
    """Turn the odometer: the last choice that has another alternative takes it.

    The first `fixed` choices stay. None if there is nothing left.
    """
    for position in range(len(taken) - 1, fixed - 1, -1):
        index, count = taken[position]
        if index + 1 < count:
            return (*taken[:position], (index + 1, count))
    return None
