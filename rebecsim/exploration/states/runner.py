"""Run message servers on given states of rebecs, to find out what they do.

The rebecs of one `rebecsim.actors.System` are used again and again: a rebec is given the variables
of a state, `rebecsim.actors.serve` serves a message, and the changes are read off. Outboxes in
place of the bags catch what is sent.

A message server may affect other rebecs only by messages. Exploration relies on that, so it is
enforced: while one rebec acts, the state variables of the others cannot be read or written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence, Sized
from operator import itemgetter
from types import FrameType
from typing import Any, NamedTuple

from rebecsim.actors import (
    Message,
    MessageServer,
    Model,
    ModelError,
    PlainMessage,
    QueueOverflowError,
    Rebec,
    System,
    Timer,
    Violation,
    serve,
)
from rebecsim.actors.rebec import INITIAL_SENDER
from rebecsim.actors.system import refuse_attributes
from rebecsim.distributions import Distribution, Weighted
from rebecsim.exploration.states.effects import Breach, Effect, Outbox, Sending, Sent
from rebecsim.exploration.states.rebec_states import (
    NEVER,
    NO_DEADLINE,
    NO_SENDER,
    PLAIN,
    UnsuitableValueError,
    Values,
    Waiting,
    earlier,
    rank,
)
from rebecsim.exploration.states.suspension import (
    Recipe,
    Suspended,
    Suspension,
    place_of,
)


def hidden_class(shown: type[Rebec], names: tuple[str, ...]) -> type[Rebec]:
    """Give a subclass whose instances do not let those attributes be read or written.

    A rebec changes into it by assigning its `__class__`; its attributes are kept meanwhile.
    Touching one raises ModelError.
    """
    members: dict[str, Any] = {name: _Hidden(name) for name in names}
    members["__module__"] = shown.__module__
    members["__qualname__"] = shown.__qualname__
    return type(shown.__name__, (shown,), members)


class _Hidden:
    """A data descriptor, which Python asks before it looks into the instance."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, rebec: Rebec | None, owner: type[Rebec]) -> Any:
        if rebec is None:
            return self
        raise self._refused(rebec)

    def __set__(self, rebec: Rebec, value: object) -> None:
        raise self._refused(rebec)

    def _refused(self, rebec: Rebec) -> ModelError:
        actor = rebec._system.actor
        return ModelError(
            f"{type(actor).__name__}.{rebec._system.message[3].name} of {actor} uses "
            f"`{self._name}` of {rebec}: rebecs share nothing, so ask by a message"
        )


_ENGINE = frozenset({"delay"})

Choices = tuple[tuple[int, int], ...]


class Situation(NamedTuple):
    """What a message server is run with.

    If it is `suspended`, it is run again up to where it stopped. It must be the rebec's turn at the
    absolute `time`. `room` is how many places the other waiting messages leave.
    """

    owner: int
    variables: tuple[Any, ...]
    message: Waiting
    suspended: Suspension | None
    time: int
    room: int


class Rules(NamedTuple):
    """How message servers are run.

    `splits`: a delay ends the run of a message server, as in the timed transition system;
    otherwise it only moves the clock of the rebec. `deadlines` and `overflows` say whether these
    are checked; without the second, bags have no bounds. `start_matters` holds the rebecs that
    ask how long their message had waited, which is counted to the start of the message server,
    `times_matter` the message servers that may ask for times of their message.
    """

    splits: bool
    deadlines: bool = True
    overflows: bool = True
    start_matters: frozenset[int] = frozenset()
    times_matter: frozenset[tuple[int, int]] = frozenset()


class Runner:
    """Runs the message servers of one model.

    Raises Violation if a constructor does, ModelError for a model that cannot be explored.
    """

    def __init__(self, model: Model, rules: Rules) -> None:
        self.system = system = System(model)
        self.rebecs = system.rebecs
        self.values = Values(self.rebecs)
        self.names = tuple(_variable_names(rebec) for rebec in self.rebecs)
        self.timers = tuple(map(_timers, self.rebecs))
        """The positions of the variables that are timers."""
        self.capacities = tuple(
            rebec._bag.capacity if rules.overflows else NEVER for rebec in self.rebecs
        )
        self._rules = rules
        self._floating = not (rules.splits or model.core)
        self._shown = tuple(type(rebec) for rebec in self.rebecs)
        self._hidden = tuple(
            hidden_class(shown, names) for shown, names in zip(self._shown, self.names, strict=True)
        )
        self._servers = tuple(tuple(shown.__servers__.values()) for shown in self._shown)
        self._numbers = {
            server: number for servers in self._servers for number, server in enumerate(servers)
        }
        known = [[each.name for each in shown.__known_rebecs__] for shown in self._shown]
        self._get_variables = tuple(map(_getter, self.names))
        self._get_known = tuple(map(_getter, known))
        self._known = tuple(
            get(vars(rebec)) for get, rebec in zip(self._get_known, self.rebecs, strict=True)
        )
        engine = len(_ENGINE) - (not rules.splits)
        self._attributes = tuple(
            len(names) + len(bound) + engine
            for names, bound in zip(self.names, self._known, strict=True)
        )
        self._same: list[dict[tuple[Any, ...], tuple[Any, ...]]] = [{} for _ in self.rebecs]
        self._present: list[tuple[Any, ...] | None] = [None for _ in self.rebecs]
        """The variables that the attributes of rebecs still are, as nothing has run since."""
        self._sendings: dict[tuple[int, Waiting], Sending] = {}
        self._orders: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self.initial_bags = tuple(tuple(rebec._bag) for rebec in self.rebecs)
        self._sent: Sent = []
        self._outboxes = tuple(Outbox(rebec._index, NEVER, self._sent) for rebec in self.rebecs)
        system.choose = self._choose
        # of the message server that runs:
        self._start: Situation
        self._taken: list[tuple[int, int]] = []
        self.drawn: dict[Distribution, None] = {}
        self._values: list[Any] = []
        self._shares: list[float | None] = []
        self._prefix: Choices = ()
        self._delays = 0
        self._stopped: Effect | None = None
        for rebec, outbox in zip(self.rebecs, self._outboxes, strict=True):
            rebec._bag = outbox
            if rules.splits:
                rebec.__dict__["delay"] = self._splitting_delay(rebec)
        self.initial_variables = tuple(self._variables(rebec._index) for rebec in self.rebecs)
        for rebec, hidden in zip(self.rebecs, self._hidden, strict=True):
            rebec.__class__ = hidden

    def run(self, start: Situation, prefix: Choices) -> Effect:
        """Serve a message, or go on with a suspended one, with these choices and then first ones.

        Raises ModelError if the message server does what exploration cannot follow.
        """
        owner, _, message, suspended, time, _ = self._start = start
        rebec = self.rebecs[owner]
        self._taken, self._values, self._shares = [], [], []
        self._prefix, self._delays, self._stopped = prefix, 0, None
        self._sent.clear()  # of a run that a limit has stopped
        self._restore(start)
        began = time if suspended is None else suspended.began
        served = self.decode(owner, message, began)
        breach = None
        try:
            serve(self.system, rebec, served, self._rules.deadlines)
        except Suspended:
            pass
        except QueueOverflowError as violation:
            breach = self._overflow(owner, violation.message)
        except Violation as violation:
            breach = Breach(violation.verdict, str(violation), (str(rebec), served.server.name))
        effect: Effect | None = self._stopped
        if effect is None:  # otherwise a `finally` of the model may have raised something after it
            effect = self._captured(rebec._now, None)
            effect.breach = breach
            if not self.timers[owner]:  # which run on
                self._present[owner] = effect.variables
        effect.choices, effect.values = tuple(self._taken), tuple(self._values)
        effect.shares = tuple(self._shares)
        rebec.__class__ = self._hidden[owner]
        return effect

    def tables(self) -> Iterator[Sized]:
        """Give the dictionaries that grow with what message servers do."""
        yield from self._same
        yield self._sendings
        yield self._orders

    def overflow(self, receiver: int, message: Waiting, time: int) -> Breach:
        """Give the breach of a message that finds the receiver's bag full."""
        return self._overflow(receiver, self.decode(receiver, message, time))

    def _overflow(self, receiver: int, message: Message) -> Breach:
        error = QueueOverflowError(message, self.capacities[receiver])
        return Breach(error.verdict, str(error), (str(self.rebecs[receiver]), message.server.name))

    # --- choices and delays ----------------------------------------------------------------------

    def _choose(self, rebec: Rebec, alternatives: Sequence[Any], site: int) -> int:
        position = len(self._taken)
        index = self._prefix[position][0] if position < len(self._prefix) else 0
        if type(alternatives) is Distribution:
            self.drawn[alternatives] = None
        self._taken.append((index, len(alternatives)))
        self._values.append(_plain(alternatives[index]))
        self._shares.append(
            alternatives.shares[index] if isinstance(alternatives, Weighted) else None
        )
        return index

    def _splitting_delay(self, rebec: Rebec) -> Callable[[int], None]:
        """Make the `delay` of a rebec whose message servers stop there."""
        advance = type(rebec).delay

        def delay(duration: int) -> None:
            advance(rebec, duration)
            self._delays += 1
            suspended = self._start.suspended
            if suspended is not None and self._delays <= suspended.recipe.delays:
                self._skip_delay(rebec, suspended.recipe)
                return
            self._suspend(rebec, sys._getframe(1))
            raise Suspended

        return delay

    def _skip_delay(self, rebec: Rebec, recipe: Recipe) -> None:
        """Go on behind a delay that is over.

        The next part is run at the time at which it was run before, or now if it is the one to be
        run. What the parts before that one have sent is dropped: it was sent when they were run.
        """
        is_last = self._delays == recipe.delays
        system, message = self.system, Message(*self.system.message)
        units = (self._start.time if is_last else recipe.times[self._delays]) - rebec._now
        rebec._now += units
        system.started += units
        for place in self.timers[rebec._index]:
            name = self.names[rebec._index][place]
            setattr(rebec, name, earlier(getattr(rebec, name), -units))
        deadline = message.deadline
        system.message = message._replace(
            arrival=message.arrival + units,
            deadline=None if deadline is None else deadline + units,
        )
        if is_last:
            self._sent.clear()
            outbox = self._outboxes[self._start.owner]
            outbox.tried, outbox.capacity = 0, self._start.room

    def _suspend(self, rebec: Rebec, caller: FrameType) -> None:
        """Note the rebec as it is now, before `finally` clauses of the model can change it."""
        owner, variables, message, suspended, time, _ = self._start
        held = [rebec.__dict__[name] for name in self.names[owner]]
        before: tuple[int, ...] = ()
        if suspended is not None:
            variables, before = suspended.recipe.variables, suspended.recipe.times
        elapsed = rebec._now - self.system.started
        recipe = Recipe(variables, tuple(self._taken), (*before, time), elapsed)
        place, repeats = place_of(caller, serve.__code__, held, self.values)
        timed = (suspended is None or suspended.timed) and (
            place is None or (owner, message.number) in self._rules.times_matter or not repeats
        )
        if place is None:
            place = recipe  # identified by its whole history, if nothing less will do
        elif owner in self._rules.start_matters:
            place = (place, elapsed)
        suspension = Suspension(rebec._now - time, message, place, recipe, timed=timed)
        self._stopped = self._captured(time, suspension)

    # --- states of rebecs in and out -----------------------------------------------------------

    def _restore(self, start: Situation) -> None:
        """Make a rebec be at the start of a message server, and able to see its variables."""
        owner, variables, _, suspended, time, room = start
        rebec = self.rebecs[owner]
        rebec.__class__ = self._shown[owner]
        outbox = self._outboxes[owner]
        outbox.tried = 0
        if suspended is None:
            outbox.capacity = room
            rebec._now = self.values.time = time
        else:
            variables = suspended.recipe.variables
            outbox.capacity = NEVER
            rebec._now = self.values.time = suspended.recipe.times[0]
        if self._present[owner] is not variables:
            attributes = rebec.__dict__
            decode = self.values.decode
            for name, value in zip(self.names[owner], variables, strict=True):
                attributes[name] = value if type(value) in PLAIN else decode(value)
        self._present[owner] = None
        self.values.time = time

    def _captured(self, now: int, suspension: Suspension | None) -> Effect:
        """Read off the variables and messages of the rebec."""
        owner, _, message, suspended, time, _ = self._start
        own: tuple[Waiting, ...] = ()
        sendings: tuple[Sending, ...] = ()
        if self._sent:
            sent = [(receiver, self.encode(each, time)) for receiver, each in self._sent]
            own = tuple([each for receiver, each in sent if receiver == owner])
            sendings = tuple([self._sending(each) for each in sent if each[0] != owner])
        return Effect(
            owner,
            message,
            0 if suspended is None else len(suspended.recipe.choices),
            suspended is not None,
            self._variables(owner),
            now - time if self._floating else 0,
            suspension,
            own,
            1 + self._outboxes[owner].tried,
            sendings,
        )

    def _sending(self, sent: tuple[int, Waiting]) -> Sending:
        """Give the one object for a message to a rebec."""
        known = self._sendings.get(sent)
        if known is None:
            known = self._sendings[sent] = Sending(*sent)
        return known

    def _variables(self, owner: int) -> tuple[Any, ...]:
        """Give the variables of a rebec, encoded."""
        attributes = self.rebecs[owner].__dict__
        if (
            len(attributes) != self._attributes[owner]
            or self._get_known[owner](attributes) != self._known[owner]
        ):
            refuse_attributes(self.rebecs[owner], self._known[owner])
        found = self._get_variables[owner](attributes)
        encode = self.values.encode
        try:
            if not PLAIN.issuperset(map(type, found)):
                found = tuple([value if type(value) in PLAIN else encode(value) for value in found])
            return self._same[owner].setdefault(found, found)
        except UnsuitableValueError:
            for name, value in zip(self.names[owner], found, strict=True):
                self._check_suitable(owner, name, value)
            raise

    def _check_suitable(self, owner: int, name: str, value: object) -> None:
        try:
            self.values.encode(value)
        except UnsuitableValueError as error:
            raise ModelError(f"{self.rebecs[owner]}: `{name}`: {error}") from error

    def encode(self, message: PlainMessage, time: int) -> Waiting:
        """Give a message as part of a state at that time."""
        arrival, priority, _, server, sender, values, deadline = message
        arguments: tuple[Any, ...] = ()
        order: tuple[Any, ...] = ()
        if values:
            try:
                arguments = tuple(map(self.values.encode, values))
            except UnsuitableValueError as error:
                raise ModelError(f"an argument of {Message(*message)}: {error}") from error
            known = self._orders.get(arguments)
            if known is None:
                known = self._orders[arguments] = tuple(map(rank, arguments))
            order = known
        return Waiting(
            arrival - time,
            priority,
            self._numbers[server],
            NO_SENDER if sender is None else sender._index,
            NO_DEADLINE if deadline is None else deadline - time,
            order,
            arguments,
        )

    def server_of(self, owner: int, message: Waiting) -> MessageServer:
        """Give the message server of a message to that rebec."""
        return self.server_at(owner, message.number)

    def server_at(self, owner: int, number: int) -> MessageServer:
        """Give a message server of that rebec by its number."""
        return self._servers[owner][number]

    def place_of(self, owner: int, variable: str) -> int:
        """Give the position of a state variable of a rebec by its name in Rebeca."""
        declared = type(self.rebecs[owner]).__state_variables__
        (name,) = (each.name for each in declared if each.rebeca_name == variable)
        return self.names[owner].index(name)

    def name_of(self, position: int) -> str:
        """Name a rebec by its position, or the sender of initial messages."""
        return INITIAL_SENDER if position == NO_SENDER else str(self.rebecs[position])

    def decode(self, owner: int, message: Waiting, time: int) -> Message:
        """Give a message that is part of a state at that time."""
        deadline = message.deadline
        return Message(
            message.arrival + time,
            message.priority,
            0,
            self._servers[owner][message.number],
            None if message.sender == NO_SENDER else self.rebecs[message.sender],
            tuple(map(self.values.decode, message.arguments)),
            None if deadline == NO_DEADLINE else int(deadline) + time,
        )


def _variable_names(rebec: Rebec) -> tuple[str, ...]:
    """Name the variables of a rebec: declared ones first, then other attributes."""
    declared = [variable.name for variable in type(rebec).__state_variables__]
    bound = {known.name for known in type(rebec).__known_rebecs__}
    others = [
        name
        for name in rebec.__dict__
        if name not in _ENGINE and name not in bound and name not in declared
    ]
    return (*declared, *others)


def _timers(rebec: Rebec) -> tuple[int, ...]:
    kinds = [variable.kind for variable in type(rebec).__state_variables__]
    return tuple(
        place for place, kind in enumerate(kinds) if kind.name.partition("[")[0] == Timer.name
    )


def _getter(names: Sequence[str]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """Make a function that gives the values of these names as a tuple, quickly."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda attributes: tuple([attributes[name] for name in names])


def _plain(alternative: Any) -> Any:
    """Give an alternative of a choice as it is shown; one that is no plain value becomes text."""
    plain = alternative is None or type(alternative) in (bool, int, float, str)
    return alternative if plain else str(alternative)
