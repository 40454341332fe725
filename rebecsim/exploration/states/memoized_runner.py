"""Run message servers once for each state of a rebec, and check that this is sound.

What a message server does depends on the variables of its rebec and on the message, and on the
other messages in the bag only as far as they leave too few places for what it sends to its own
rebec. So a message server is run once for all bags that leave enough.

A model in Python could draw random numbers, read a clock, or use what something else changes. A
search would then remember what was true once, and its verdict would be worthless. So the first
message servers of a search and a sample of the others are run twice at once, and some of them once
more at the end, when whatever they depend on has had time to change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from typing import Any, Literal

from rebecsim.actors import Model, ModelCodeError
from rebecsim.exploration.states.effects import Breach, Effect, Outcome, Sending
from rebecsim.exploration.states.rebec_states import Local, LocalStore, Waiting
from rebecsim.exploration.states.runner import Choices, Rules, Runner, Situation
from rebecsim.files import CHOICES, LimitError
from rebecsim.steps.repeatable import NotRepeatableError

Repeats = Literal["never", "sample", "all"]
"""Which message servers are run again: none, as those generated from Rebeca need, some, or all."""

_FIRST = 64
"""Message servers that are run again at the beginning, where mistakes show."""

_EVERY = 61
"""Later, every 61st is run again: a prime, so that no pattern of the search escapes."""

_KEPT = 512
"""The most message servers that are run once more at the end."""


_FEWEST = 128
"""The fewest runs at the end, as a random draw may give one value twice."""


class DeterminismCheck:
    """Runs message servers again, `everything` or a sample, and compares what they do."""

    def __init__(self, runner: Runner, *, everything: bool) -> None:
        self._runner = runner
        self._everything = everything
        self._count = 0
        self._kept: list[tuple[Situation, Effect]] = []

    def compare_constructors(self, other: Runner) -> None:
        """Compare the first states with those of a runner made anew. Raises NotRepeatableError."""
        runner = self._runner
        for owner, rebec in enumerate(runner.rebecs):
            difference = _changed(
                runner.names[owner], runner.initial_variables[owner], other.initial_variables[owner]
            )
            if not difference and list(map(repr, runner.initial_bags[owner])) != list(
                map(repr, other.initial_bags[owner])
            ):
                difference = "other messages are sent"
            if difference:
                raise NotRepeatableError.of(rebec, "__init__", difference)

    def check(self, start: Situation, effect: Effect) -> None:
        """Perhaps run again what has just had this effect.

        Raises NotRepeatableError if it has another one now.
        """
        self._count = count = self._count + 1
        if not self._everything and count > _FIRST and count % _EVERY:
            return
        self._compare(start, effect)
        if self._everything or len(self._kept) < _KEPT:
            self._kept.append((start, effect))
        else:
            self._kept[count // _EVERY % _KEPT] = start, effect

    def finish(self) -> None:
        """Run the kept message servers once more, at the end of a search; few ones more often.

        Raises as `check`.
        """
        for _ in range(max(1, _FEWEST // max(len(self._kept), 1))):
            for start, effect in self._kept:
                self._compare(start, effect)

    def _compare(self, start: Situation, effect: Effect) -> None:
        runner = self._runner
        try:
            rerun = runner.run(start, effect.choices)
            difference = _difference(runner.names[start.owner], effect, rerun)
        except ModelCodeError as error:
            difference = f"it raises {error.reason}"
        if difference:
            rebec, server = runner.rebecs[start.owner], runner.server_of(start.owner, start.message)
            raise NotRepeatableError.of(rebec, server.name, difference)


def _difference(names: tuple[str, ...], one: Effect, other: Effect) -> str:
    """Say how two effects differ; nothing if they are the same."""
    if (one.choices, one.shares) != (other.choices, other.shares):
        return "other choices are drawn"
    if one.breach != other.breach:
        return f"{_breach_text(one.breach)} and then {_breach_text(other.breach)}"
    changed = _changed(names, one.variables, other.variables)
    if changed:
        return changed
    if _ending(one) != _ending(other):
        return "it takes another time"
    return "" if _sent(one) == _sent(other) else "other messages are sent"


def _breach_text(breach: Breach | None) -> str:
    return "nothing wrong" if breach is None else f"{breach.verdict}: {breach.text}"


def _changed(names: tuple[str, ...], one: tuple[Any, ...], other: tuple[Any, ...]) -> str:
    for name, before, after in zip(names, one, other, strict=True):
        if before != after and repr(before) != repr(after):  # a NaN equals nothing
            return f"`{name}` becomes {_shown(before)} and then {_shown(after)}"
    return ""


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _ending(effect: Effect) -> object:
    suspension = effect.suspension
    return effect.clock, None if suspension is None else suspension.identity


def _sent(effect: Effect) -> object:
    return repr((effect.own, [(each.receiver, each.message) for each in effect.sendings]))


Place = tuple[int, int]
"""A rebec and the number of one of its message servers."""

SentAtOnce = tuple[Place, Place]
"""A message that arrives at once, sent while one was served that had arrived at once: both.

A message server that waits without time passing, in a `delay(0)`, counts as one that sends itself.
"""


class MemoizedRunner(Runner):
    """Serves messages in states of rebecs, and puts messages into their bags.

    It `memoizes` what message servers do, which must be false if they can read the absolute
    time, and `repeats` some of them or all, to see that they always do the same. `store` is set
    when it is known. The other arguments are those of `Runner`.
    """

    store: LocalStore
    check_limits: Callable[[], None]
    """Called from time to time while message servers are run: a search ends itself by it."""
    check_every: int = 0
    """The runs of message servers between two such calls; 0: it is not called."""

    def __init__(
        self,
        model: Model,
        rules: Rules,
        *,
        memoizes: bool,
        repeats: Repeats = "never",
    ) -> None:
        super().__init__(model, rules)
        self._memoizes = memoizes
        self.sent_at_once: set[SentAtOnce] = set()
        """The message servers that have sent messages which may be served at the same time."""
        self.runs = 0
        """How many times a message server has been run."""
        self._most_ways = CHOICES.most
        self._memo: list[dict[tuple[Any, ...], tuple[Effect, ...]]] = [{} for _ in self.rebecs]
        self._determinism: DeterminismCheck | None = None
        if repeats != "never":
            self._determinism = DeterminismCheck(self, everything=repeats == "all")
            self._determinism.compare_constructors(Runner(model, Rules(rules.splits)))

    def finish(self) -> None:
        """Run message servers once more at the end of a search; see `DeterminismCheck.finish`."""
        if self._determinism is not None:
            self._determinism.finish()

    def tables(self) -> Iterator[Sized]:
        """Give the dictionaries that grow with what message servers do."""
        yield from super().tables()
        yield from self._memo

    def outcomes(self, local: Local, time: int) -> tuple[Outcome, ...]:
        """Give every outcome of every message that the rebec may serve; it must be its turn.

        `time` is the absolute time of the state. The order is that of the bag, then of the
        choices, the last one drawn moving fastest.
        """
        suspension, bag = local.suspension, local.bag
        if suspension is not None:
            return self._message_outcomes(local, suspension.message, bag, time)
        if len(bag) == 1:
            return self._message_outcomes(local, bag[0], (), time)
        return tuple(
            outcome
            for place, message in enumerate(self.store.first_of(bag))
            for outcome in self._message_outcomes(
                local, message, bag[:place] + bag[place + 1 :], time
            )
        )

    def rerun(self, local: Local, effect: Effect, time: int) -> Effect:
        """Serve a message with an effect that it has in this state, at another absolute time."""
        owner, suspension = local.owner, local.suspension
        room = self.capacities[owner] - len(local.bag) + (suspension is None)
        start = Situation(owner, local.variables, effect.message, suspension, time, room)
        return self.run(start, effect.choices)

    def receive(self, local: Local, sending: Sending) -> Local | None:
        """Give the receiver's state with the message in its bag; None if the bag is full."""
        taken = len(local.bag) + (local.suspension is not None)
        after = None
        if taken < self.capacities[local.owner]:
            bag = self.store.arrange((*local.bag, sending.message))
            after = self.store.intern(
                local.owner, local.variables, local.clock, local.suspension, bag
            )
        local.add_received(sending, after)
        return after

    def _message_outcomes(
        self, local: Local, message: Waiting, others: tuple[Waiting, ...], time: int
    ) -> tuple[Outcome, ...]:
        owner = local.owner
        all_room = self.capacities[owner]
        start = Situation(owner, local.variables, message, local.suspension, time, all_room)
        effects = self._known_effects(start) if self._memoizes else None
        room = all_room - len(others)
        if effects is None or (others and any(effect.places > room for effect in effects)):
            effects = self._run_all(start._replace(room=room))
        arrange, intern = self.store.arrange, self.store.intern
        outcomes = []
        for effect in effects:
            after = None
            if effect.breach is None:
                bag = arrange((*others, *effect.own)) if effect.own else others
                after = intern(owner, effect.variables, effect.clock, effect.suspension, bag)
            outcomes.append(Outcome(effect, after))
        return tuple(outcomes)

    def effects(self, start: Situation) -> tuple[Effect, ...]:
        """Give what comes of serving a message, in the order of `outcomes`.

        It is not remembered: this is for those who ask once.
        """
        known = None
        if start.room == self.capacities[start.owner]:
            known = self._memo[start.owner].get(_key(start))
        return self._run_all(start) if known is None else known

    def _note_sent_at_once(self, effect: Effect) -> None:
        place = effect.owner, effect.message.number
        waits = effect.suspension
        if waits is not None and not waits.resume:
            self.sent_at_once.add((place, place))  # it goes on at once, perhaps to wait again
        if effect.message.arrival:
            return
        for message in effect.own:
            if not message.arrival:
                self.sent_at_once.add((place, (effect.owner, message.number)))
        for sending in effect.sendings:
            if not sending.message.arrival:
                self.sent_at_once.add((place, (sending.receiver, sending.message.number)))

    def _known_effects(self, start: Situation) -> tuple[Effect, ...]:
        """Give what comes of serving a message with an empty bag, which is remembered."""
        memo, key = self._memo[start.owner], _key(start)
        known = memo.get(key)
        if known is None:
            known = memo[key] = self._run_all(start)
        return known

    def _run_all(self, start: Situation) -> tuple[Effect, ...]:
        """Run a message server with all choices. Raises LimitError if they are too many."""
        fixed: Choices = () if start.suspended is None else start.suspended.recipe.choices
        prefix: Choices | None = fixed
        found = []
        while prefix is not None:
            effect = self.run(start, prefix)
            self.runs += 1
            if self.check_every and not self.runs % self.check_every:
                self.check_limits()
            if self._determinism is not None:
                self._determinism.check(start, effect)
            found.append(effect)
            if len(found) > self._most_ways:
                raise self._too_many_ways(start)
            self._note_sent_at_once(effect)
            prefix = _next_choices(effect.choices, len(fixed))
        return tuple(found)

    def _too_many_ways(self, start: Situation) -> LimitError:
        """Make the error for a message that can be served in too many ways."""
        served = self.decode(start.owner, start.message, start.time)
        where = f"{self.rebecs[start.owner]}.{served.server.name}"
        return CHOICES.exceeded(where, f"more than {self._most_ways:,}")


def _key(start: Situation) -> tuple[Any, ...]:
    """Give the identity of a situation of a rebec with an empty bag."""
    suspended = start.suspended
    return start.variables, start.message, None if suspended is None else suspended.identity


def _next_choices(taken: Choices, fixed: int) -> Choices | None:
    """Turn the odometer: the last choice that has another alternative takes it.

    The first `fixed` choices stay. None if there is nothing left.
    """
    for position in range(len(taken) - 1, fixed - 1, -1):
        index, count = taken[position]
        if index + 1 < count:
            return (*taken[:position], (index + 1, count))
    return None
