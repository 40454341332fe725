"""Paths through a model, step by step: to show, and to replay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from rebecsim.actors import Choice, Constant, Rebec, Run, Since, Step, Violation, enabled, execute
from rebecsim.actors.values import call_text, drawn_text, duration, value_text
from rebecsim.exploration.states.effects import Breach, Outcome
from rebecsim.exploration.states.rebec_states import (
    NO_DEADLINE,
    Local,
    Reference,
    SpecialFloat,
    Waiting,
)
from rebecsim.exploration.states.structures import Structure
from rebecsim.exploration.states.transitions import Cause, Mode, State, TransitionSystem


class Origins:
    """Follows the messages of a path from their sending to their serving.

    Equal messages in one bag are indistinguishable; the one sent first counts as served first.
    """

    def __init__(self, system: TransitionSystem) -> None:
        self._rebecs = len(system.runner.rebecs)
        self._sent: dict[tuple[int, Waiting], list[int | None]] = {}
        self.reached(system.initial, system.start_time, None)

    def of(self, owner: int, message: Waiting, time: int) -> int | None:
        """Give the step that sent a message to this rebec; None if a constructor did."""
        found = self._sent.get((owner, message.earlier(-time)))
        return found[0] if found else None

    def reached(self, state: State, time: int, step: int | None) -> None:
        """Note what a step has put into the bags, and forget what it has taken out."""
        present = Counter(
            (local.owner, message.earlier(-time))
            for local in state[: self._rebecs]
            for message in local.bag
        )
        for key in self._sent.keys() - present.keys():
            del self._sent[key]
        for key, count in present.items():
            sent = self._sent.setdefault(key, [])
            del sent[: max(len(sent) - count, 0)]
            sent += [step] * (count - len(sent))


StepKind = Literal["message", "resume", "time"]


@dataclass(frozen=True)
class PathStep:
    """One transition. Times are absolute model time units.

    `kind`: a message is served; a message server goes on after a delay (timed transition system);
    time passes, and the rest is empty. `finished` is when the rebec is free again, or its delay
    over; None after a breach. `choices` are (index, count) of what was drawn in this step and
    `drawn` the values, `parameters` the names of the arguments, `changed` the state variables with
    new values. `sent_in` is the position on the path of the
    step in which the message was sent; None if that was in a constructor, or is not known.
    """

    kind: StepKind
    time: int
    finished: int | None
    rebec: str = ""
    server: str = ""
    sender: str = ""
    arguments: tuple[Any, ...] = ()
    arrival: int = 0
    deadline: int | None = None
    choices: tuple[tuple[int, int], ...] = ()
    changed: tuple[tuple[str, Any], ...] = ()
    sent_in: int | None = None
    drawn: tuple[Any, ...] = ()
    parameters: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.kind == "time":
            return f"{self.time:>6}  time passes"
        parts = [f"{self.time:>6}  {self.sender} -> {self.rebec}: {self.call}"]
        if self.kind == "resume":
            parts[0] = f"{self.time:>6}  {self.rebec} goes on with {self.call}"
        if self.choices:
            parts.append(f"chooses {self.drawn_text}")
        parts += [f"{name} = {value_text(value)}" for name, value in self.changed]
        return "; ".join(parts)

    @property
    def call(self) -> str:
        """The message with the names of its arguments."""
        return call_text(self.server, self.parameters, self.arguments)

    @property
    def drawn_text(self) -> str:
        """The values that were drawn in this step."""
        return drawn_text(self.drawn)


@dataclass(frozen=True)
class Path:
    """The steps from the initial state to another, and what is wrong there, if anything.

    `ordinals` is the transition taken in each state, `start` the time of the initial state. `run`
    does the same in simulation; it is None in the timed transition system, where message servers
    are interrupted, and where abstraction has left out what the run depends on. With `loop`, the
    steps from this place on are gone round for ever; if there are none, the last state stays.
    """

    model: str
    mode: Mode
    start: int
    ordinals: tuple[int, ...]
    steps: tuple[PathStep, ...]
    breach: Breach | None
    run: Run | None
    loop: int | None = None

    def __len__(self) -> int:
        return len(self.steps)

    def __str__(self) -> str:
        lines = [str(step) for step in self.steps]
        if self.loop is not None:
            lines.append(f"        {self.loop_text}")
        if self.breach is not None:
            lines.append(f"        {self.breach.verdict}: {self.breach.text}")
        return "\n".join(lines)

    @property
    def repeated(self) -> tuple[PathStep, ...]:
        """The steps that are gone round for ever."""
        return () if self.loop is None else self.steps[self.loop :]

    @property
    def goes_wrong_at_last(self) -> bool:
        """Whether the last step shows the breach, and not the endless run."""
        return self.breach is not None and self.loop is None

    @property
    def loop_text(self) -> str:
        """How it goes on for ever; nothing if it does not."""
        if self.loop is None:
            return ""
        first, last = self.loop + 1, len(self)
        if first > last:
            return "nothing happens any more: the last state stays for ever"
        steps = f"step {first}" if first == last else f"steps {first} to {last}"
        return f"and so on for ever: round {steps}"


def path_along(
    system: TransitionSystem,
    ordinals: Sequence[int],
    breach: Breach | None = None,
    loop: int | None = None,
) -> Path:
    """Follow transitions by their ordinals from the initial state.

    `breach` is what is wrong with the last state, or with the run that goes round from `loop` on;
    one of the last transition is found here.
    Raises ValueError for a transition that does not exist.
    """
    steps: list[PathStep] = []
    causes: list[tuple[Cause, int]] = []
    ends_in: Breach | None = None
    state, time = system.initial, system.start_time
    origins = Origins(system)
    for place, ordinal in enumerate(ordinals):
        found = system.expand(state)
        if not 0 <= ordinal < len(found):
            raise ValueError(f"step {place}: there is no transition {ordinal}")
        cause, target, units = found[ordinal]
        causes.append((cause, time))
        step = step_of(system, state, cause, time)
        if isinstance(cause, Outcome):
            effect = cause.effect
            step = replace(step, sent_in=origins.of(effect.owner, effect.message, time))
        steps.append(step)
        if isinstance(target, Breach):
            ends_in = target
            breach = _in_absolute_time(system, state, cause, time, target)
            break
        time += units
        state = target
        origins.reached(state, time, len(steps) - 1)
    done = _run(system, causes, ends_in)
    if done is not None and system.locals.abstracts:
        steps = [
            replace(step, changed=changed)
            for step, changed in zip(steps, done.changed, strict=True)
        ]
    return Path(
        model=system.model.name,
        mode=system.mode,
        start=system.start_time,
        ordinals=tuple(ordinals),
        steps=tuple(steps),
        breach=breach,
        run=None if done is None else done.run,
        loop=loop,
    )


def step_of(system: TransitionSystem, state: State, cause: Cause, time: int) -> PathStep:
    """Describe a transition of a state at that absolute time."""
    if not isinstance(cause, Outcome):
        return PathStep("time", time, None)
    effect = cause.effect
    owner, message = effect.owner, effect.message
    rebec = system.runner.rebecs[owner]
    server = system.runner.server_of(owner, message)
    before: Local = state[owner]
    taken = effect.clock if effect.suspension is None else effect.suspension.resume
    return PathStep(
        kind="resume" if effect.resumed else "message",
        time=time,
        finished=None if cause.local is None else time + taken,
        rebec=str(rebec),
        server=server.name,
        sender=system.runner.name_of(message.sender),
        arguments=tuple(map(shown_value, message.arguments)),
        arrival=message.arrival + time,
        deadline=None if message.deadline == NO_DEADLINE else int(message.deadline) + time,
        choices=effect.drawn,
        drawn=effect.drawn_values,
        parameters=server.parameters,
        # What is left out of states has the value of whichever state was met first.
        changed=tuple(
            _changed(
                system,
                rebec,
                durations_at(0, before.variables),
                durations_at(taken, effect.variables),
                system.locals.left_out(owner),
            )
        ),
    )


def _changed(
    system: TransitionSystem,
    rebec: Rebec,
    before: tuple[Any, ...],
    after: tuple[Any, ...],
    hidden: frozenset[int] = frozenset(),
) -> Iterator[tuple[str, Any]]:
    names = system.runner.names[rebec._index]
    for place, (name, old, new) in enumerate(zip(names, before, after, strict=True)):
        if old != new and place not in hidden:
            shown = shown_value(new)
            # A part that is shown by its name alone says nothing by it.
            if not isinstance(new, Structure) or shown != shown_value(old):
                yield written_name(rebec, name), shown


def written_name(rebec: Rebec, name: str) -> str:
    """Give a variable's name in Rebeca; one that is not declared keeps its name in Python."""
    for variable in type(rebec).__state_variables__:
        if variable.name == name:
            return variable.rebeca_name
    return name


def durations_at(now: int, variables: tuple[Any, ...]) -> tuple[Any, ...]:
    """Give the variables of a rebec with durations for timers; `now` is relative as they are."""
    return tuple([_duration_at(now, value) for value in variables])


def _duration_at(now: int, value: Any) -> Any:
    if isinstance(value, Since):
        return duration(value, now)
    if isinstance(value, tuple) and not isinstance(value, Constant):
        return type(value)(_duration_at(now, each) for each in value)
    return value


def shown_variables(local: Local) -> tuple[Any, ...]:
    """Give the variables of a rebec in a state as plain data, timers by how long they have run."""
    return tuple(map(shown_value, durations_at(local.clock, local.variables)))


def shown_value(value: Any) -> Any:
    """Give an encoded value as plain data: a rebec by its name, a list as a list."""
    match value:
        case Reference(name=name):
            return name
        case SpecialFloat():
            return float(value.value)
        case Constant():
            return value
        case tuple():
            return [shown_value(each) for each in value]
        case Structure():
            return value.text(shown_value)
        case _:
            return value


def _in_absolute_time(
    system: TransitionSystem, state: State, cause: Cause, time: int, breach: Breach
) -> Breach:
    """Give a breach with the times that a run from the start would show.

    Only what a message server does itself tells of times. A queue of another rebec that overflows
    does not, and comes before whatever the message server would have done next.
    """
    if not isinstance(cause, Outcome) or breach is not cause.effect.breach:
        return breach
    rerun = system.runner.rerun(state[cause.effect.owner], cause.effect, time)
    return breach if rerun.breach is None else rerun.breach


# --- as a run of the simulator -------------------------------------------------------------------


class _Done(NamedTuple):
    """A run that was done, and the state variables with new values in each of its steps."""

    run: Run
    changed: tuple[tuple[tuple[str, Any], ...], ...]


def _run(
    system: TransitionSystem, causes: Sequence[tuple[Cause, int]], ends_in: Breach | None
) -> _Done | None:
    """Do the same steps on fresh rebecs and note the choices that this takes.

    `ends_in` is what the last step is to violate. None: it cannot be done, as there is no such
    run, or because a check is switched off that a run always makes.
    """
    if system.mode == "TTS":
        return None
    choices: list[Choice] = []
    changed: list[tuple[tuple[str, Any], ...]] = []
    pending: list[tuple[int, int]] = []

    def choose(rebec: Rebec, alternatives: Sequence[Any], site: int) -> int:
        index, _ = pending.pop(0)
        choices.append(Choice("value", index, len(alternatives)))
        return index

    rebecs = system.model.start(choose)
    violated: str | None = None
    for cause, time in causes:
        assert isinstance(cause, Outcome)
        steps = enabled(rebecs)
        effect = cause.effect
        index = _position(system, steps, effect.owner, effect.message, time)
        if index is None or violated is not None:
            return None
        choices.append(Choice("step", index, len(steps)))
        pending[:] = effect.choices
        rebec = steps[index].rebec
        before = _variables(system, rebec) if system.locals.abstracts else ()
        try:
            execute(rebecs, steps[index], deadlines=effect.breach is not None)
        except Violation as violation:
            violated = violation.verdict
        except IndexError:  # more choices than the abstracted state had
            return None
        after = _variables(system, rebec) if system.locals.abstracts else ()
        changed.append(tuple(_changed(system, rebec, before, after)) if after else ())
    if violated != (None if ends_in is None else ends_in.verdict):
        return None
    return _Done(Run(tuple(choices)), tuple(changed))


def _variables(system: TransitionSystem, rebec: Rebec) -> tuple[Any, ...]:
    """Give what a rebec holds, as in a state."""
    attributes = rebec.__dict__
    names = system.runner.names[rebec._index]
    return tuple(system.runner.values.encode(attributes[name]) for name in names)


def _position(
    system: TransitionSystem, steps: Sequence[Step], owner: int, message: Waiting, time: int
) -> int | None:
    for position, step in enumerate(steps):
        if step.rebec._index == owner and system.runner.encode(step.message, time) == message:
            return position
    return None
