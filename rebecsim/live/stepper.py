"""Step through a model by hand: one transition at a time, and back again.

The transitions are those of `rebecsim.exploration`; nothing is decided here but what a person asks
for, and what is drawn at random when a run goes on by itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rebecsim.actors import Model, Run, Streams
from rebecsim.actors.randomness import ORDER_STREAM, key_of
from rebecsim.actors.watchdog import Watchdog
from rebecsim.arithmetic import shares_of
from rebecsim.errors import UserError
from rebecsim.exploration import (
    NO_MESSAGE_LEFT,
    Breach,
    Mode,
    Neighbourhood,
    Outcome,
    Path,
    PathStep,
    Question,
    QueuedMessage,
    RebecState,
    Recorded,
    State,
    StateSpace,
    Successor,
    neighbourhood_of,
    path_along,
    pose,
    step_of,
)
from rebecsim.lang import CheckedModel
from rebecsim.wording import suggestion


@dataclass(frozen=True)
class Alternative:
    """A transition: what happens under certain choices, and the breach it ends in, if it does.

    `sent` are the messages that are then new in the bags: the receiver, and the message with
    arrival and deadline in absolute time. `likelihood` is that of the choices, which may
    have weights.
    """

    ordinal: int
    step: PathStep
    breach: Breach | None
    sent: tuple[tuple[str, QueuedMessage], ...]
    likelihood: float
    is_weighted: bool


@dataclass(frozen=True)
class Turn:
    """Something that may happen next, mostly a message that may be served; at least one way."""

    alternatives: tuple[Alternative, ...]

    @property
    def step(self) -> PathStep:
        """What it is, the same for all alternatives but for choices and changes."""
        return self.alternatives[0].step


@dataclass(frozen=True)
class Breakpoint:
    """Where a run stops by itself.

    kind "message": when a message `rebec.server`, or `server` of any rebec, becomes enabled.
    "condition": when an expression over the variables of rebecs becomes true.
    """

    kind: Literal["message", "condition"]
    text: str

    def __str__(self) -> str:
        return self.text if self.kind == "message" else f"if {self.text}"


@dataclass(frozen=True)
class Stop:
    """Why a run has stopped; "time" and "steps" are those that were asked for."""

    reason: Literal["breakpoint", "time", "steps", "end", "interrupted"]
    breakpoint: Breakpoint | None = None


@dataclass(frozen=True)
class _Position:
    """A state on the way: with its time, and the transition by which it was left."""

    state: State
    time: int
    ordinal: int


class Stepper:
    """A run of a model, from the initial state to where it is now.

    `mode` as for `explore`; `seed` starts the choices of `run`. Raises Violation if a constructor
    does, UserError for a model that cannot be explored.
    """

    def __init__(
        self,
        model: Model,
        *,
        checked: CheckedModel | None = None,
        mode: Mode | None = None,
        seed: int = 0,
    ) -> None:
        self.model = model
        self._problem = pose(model, mode=mode, checked=checked)
        self._system = system = self._problem.system
        self._random = Streams(key_of(seed), replication=0)[ORDER_STREAM]
        self._behind: list[_Position] = []
        self._state: State = system.initial
        self.time = system.start_time
        self._last: int | None = None
        self._turns: list[Turn] | None = None
        self._breakpoints: dict[Breakpoint, Callable[[State], bool] | None] = {}

    # --- where it is ---------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._behind) + (self._last is not None)

    @property
    def ordinals(self) -> tuple[int, ...]:
        """The transition taken in each state so far, as `follow` takes them."""
        taken = tuple(position.ordinal for position in self._behind)
        return taken if self._last is None else (*taken, self._last)

    @property
    def mode(self) -> Mode:
        """The transition system that is walked."""
        return self._system.mode

    @property
    def breach(self) -> Breach | None:
        """The violation that the run has ended with; None if there is none."""
        return None if self._last is None else self.path().breach

    @property
    def has_ended(self) -> bool:
        """Whether nothing more can happen, and nothing is wrong: no message is left."""
        return self._last is None and not self.turns()

    def turns(self) -> list[Turn]:
        """Give what may happen next; nothing after a violation, and at an end."""
        if self._turns is None:
            self._turns = [] if self._last is not None else self._enabled()
        return self._turns

    def _enabled(self) -> list[Turn]:
        groups: list[list[Alternative]] = []
        likely = 1.0, False
        before = self._bags(self._state, self.time)
        for ordinal, (cause, target, units) in enumerate(self._expanded()):
            step = step_of(self._system, self._state, cause, self.time)
            # The first alternative of a message takes the first value of every choice.
            if not any(index for index, _ in step.choices):
                groups.append([])
            if isinstance(cause, Outcome):
                likely = cause.effect.likelihood("fair"), cause.effect.is_weighted
            if isinstance(target, Breach):
                groups[-1].append(Alternative(ordinal, step, target, (), *likely))
                continue
            sent = self._bags(target, self.time + units) - before
            groups[-1].append(Alternative(ordinal, step, None, tuple(sent.elements()), *likely))
        return [Turn(tuple(group)) for group in groups]

    def rebecs(self) -> list[RebecState]:
        """Describe the rebecs as they are; times in bags count from `time`."""
        return self._described(self._state)

    def _described(self, state: State) -> list[RebecState]:
        return StateSpace(self._system, (state,), (), {}, complete=True).rebecs(0)

    def _bags(self, state: State, time: int) -> Counter[tuple[str, QueuedMessage]]:
        """Give all messages of a state with their receivers, in absolute time."""
        return Counter(
            (
                rebec.rebec,
                message._replace(
                    arrival=message.arrival + time,
                    deadline=message.deadline + time,
                    arguments=tuple(map(_hashable, message.arguments)),
                ),
            )
            for rebec in self._described(state)
            for message in rebec.bag
        )

    def path(self) -> Path:
        """Give the way to where it is now."""
        ordinals = [position.ordinal for position in self._behind]
        if self._last is not None:
            return path_along(self._system, [*ordinals, self._last])
        return path_along(self._system, ordinals)

    def ahead(
        self, most: int, interrupted: Callable[[], bool] = lambda: False, condition: str = ""
    ) -> tuple[Neighbourhood, frozenset[int]]:
        """Give the nearest states from here on, and in which of them a condition is true.

        Raises UserError after a violation, RebecaError for a condition that is wrong.
        """
        if self._last is not None:
            raise UserError("the run has ended; there is no next step")
        holds = self._condition(condition) if condition else None
        with Watchdog(self._system.runner.system):
            found = neighbourhood_of(self._system, self._state, most, interrupted)
        states = enumerate(found.space.states)
        return found, frozenset(
            number for number, state in states if holds is not None and holds(state)
        )

    # --- forward and back ----------------------------------------------------------------------

    def take(self, alternative: Alternative) -> None:
        """Take one of the alternatives of `turns`."""
        self.follow((alternative.ordinal,))

    def follow(self, ordinals: Sequence[int]) -> None:
        """Go on with transitions by their ordinals, one after another.

        Raises UserError at the first one that there is not; those before it are then taken.
        """
        for ordinal in ordinals:
            found = [] if self._last is not None else self._expanded()
            if not 0 <= ordinal < len(found):
                raise UserError(f"there is no transition {ordinal} after {len(self)} steps")
            _, target, units = found[ordinal]
            self._turns = None
            if isinstance(target, Breach):
                self._last = ordinal
                continue
            self._behind.append(_Position(self._state, self.time, ordinal))
            self.time += units
            self._state = target

    def _expanded(self) -> list[Successor]:
        with Watchdog(self._system.runner.system):
            return list(self._system.expand(self._state))

    def undo(self, steps: int = 1) -> int:
        """Take steps back, and give how many there were to take back."""
        taken = 0
        while taken < steps and len(self):
            self._turns = None
            if self._last is not None:
                self._last = None
            else:
                position = self._behind.pop()
                self._state, self.time = position.state, position.time
            taken += 1
        return taken

    def run(
        self,
        *,
        steps: int,
        until: int | None = None,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> Stop:
        """Go on at random, at most so many steps.

        Stops at a breakpoint, at the first state of time `until` or later, at the end, and when
        `interrupted`, which is asked before each step.
        """
        for _ in range(steps):
            if interrupted():
                return Stop("interrupted")
            if until is not None and self.time >= until:
                return Stop("time")
            turns = self.turns()
            if not turns:
                return Stop("end")
            turn = turns[self._random.below(len(turns))]
            alternative = self._drawn(turn.alternatives)
            before, enabled = self._state, {_named(each.step) for each in turns if each != turn}
            self.take(alternative)
            hit = self._hit(before, enabled)
            if hit is not None:
                return Stop("breakpoint", hit)
        if until is not None and self.time >= until:
            return Stop("time")
        return Stop("steps") if self.turns() else Stop("end")

    def _drawn(self, alternatives: tuple[Alternative, ...]) -> Alternative:
        """Draw one: by the weights of the choices where there are any, else evenly."""
        if any(each.is_weighted for each in alternatives):
            likely = tuple(each.likelihood for each in alternatives)
            return alternatives[self._random.weighted(shares_of(likely))]
        return alternatives[self._random.below(len(alternatives))]

    def go_to(
        self, time: int, *, steps: int, interrupted: Callable[[], bool] = lambda: False
    ) -> Stop:
        """Go to the first state of this time or later: back if it lies behind, else forward.

        Breakpoints do stop it on the way forward. Raises UserError for a core model.
        """
        if self.model.core:
            raise UserError("a core model has no time")
        if self.time < time:
            return self.run(steps=steps, until=time, interrupted=interrupted)
        while self._behind and (self._last is not None or self._behind[-1].time >= time):
            self.undo()
        return Stop("time")

    # --- breakpoints ---------------------------------------------------------------------------

    @property
    def breakpoints(self) -> list[Breakpoint]:
        """The breakpoints, in the order in which they were set."""
        return list(self._breakpoints)

    def stop_at(self, breakpoint: Breakpoint) -> None:
        """Set a breakpoint.

        Raises UserError for a message that the model does not have; RebecaError, with the position,
        for a condition that is wrong.
        """
        if breakpoint.kind == "condition":
            self._breakpoints[breakpoint] = self._condition(breakpoint.text)
            return
        rebec, _, server = breakpoint.text.rpartition(".")
        there = [
            f"{instance.name}.{each.name}"
            for instance in self.model.instances
            for each in instance.reactive_class.__servers__.values()
        ]
        wanted = re.escape(breakpoint.text) if rebec else rf"[^.]+\.{re.escape(server)}"
        if not any(re.fullmatch(wanted, name) for name in there):
            known = there if rebec else [name.partition(".")[2] for name in there]
            hint = suggestion(breakpoint.text, known, f"there are {', '.join(there)}")
            raise UserError(f"there is no message {breakpoint.text!r}; {hint}")
        self._breakpoints[breakpoint] = None

    def clear(self, breakpoint: Breakpoint) -> None:
        """Remove a breakpoint."""
        self._breakpoints.pop(breakpoint, None)

    def _condition(self, text: str) -> Callable[[State], bool]:
        return self._problem.expression(text, "<condition>", True)

    def _hit(self, before: State, enabled: set[str]) -> Breakpoint | None:
        """Give a breakpoint that the last step has reached."""
        if self._last is not None:
            return None
        new = {_named(turn.step) for turn in self.turns()} - enabled
        for each, holds in self._breakpoints.items():
            if holds is not None:
                if holds(self._state) and not holds(before):
                    return each
            elif any(each.text in (name, name.rpartition(".")[2]) for name in new):
                return each
        return None

    # --- for files -----------------------------------------------------------------------------

    def recorded(self) -> Recorded | None:
        """Give the run for `rebecsim replay`, if it shows something.

        That is a violation, an end, which is a counterexample to that runs go on, or that the
        condition of a breakpoint, which is true now, can be reached: a counterexample to its
        contrary. None otherwise.
        """
        path = self.path()
        if path.breach is not None:
            return Recorded.of(path, Question(self.mode))
        if self.has_ended:
            ended = path_along(self._system, self.ordinals, NO_MESSAGE_LEFT)
            return Recorded.of(ended, Question(self.mode, deadlock=True))
        for each, holds in self._breakpoints.items():
            if holds is not None and self._behind and holds(self._state):
                never = f"!({each.text})"
                breach = Breach("property violated", never)
                ordinals = [position.ordinal for position in self._behind]
                shown = path_along(self._system, ordinals, breach)
                return Recorded.of(shown, Question(self.mode, invariants=(never,)))
        return None

    def choices(self) -> Run | None:
        """Give the run for `rebecsim simulate --replay`; None in the timed transition system."""
        return self.path().run

    def to_json(self) -> tuple[dict[str, Any], Literal["replay", "simulate"]]:
        """Give plain values for a file, and the command that reads them.

        Raises UserError for a run that neither command can do again.
        """
        recorded = self.recorded()
        if recorded is not None:
            return recorded.to_json(), "replay"
        run = self.choices()
        if run is None:
            raise UserError(
                "this run cannot be saved: in the timed transition system, only a run to a "
                "violation or to the condition of a breakpoint can be replayed"
            )
        return run.to_json(), "simulate"


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _named(step: PathStep) -> str:
    return f"{step.rebec}.{step.server}"
