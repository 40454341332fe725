"""The result of an exploration, and counterexamples in files, with all that replaying takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any, Literal, get_args

from rebecsim.actors import Model, ReplayError, Run
from rebecsim.actors.schedulers import read_record
from rebecsim.actors.values import plain
from rebecsim.exploration.checks import Bound, Checks, Problem, pose
from rebecsim.exploration.paths import Path, PathStep, path_along, step_of
from rebecsim.exploration.properties import Deciding
from rebecsim.exploration.states.effects import Breach, Verdict
from rebecsim.exploration.states.transitions import MODES, Mode, State
from rebecsim.files import write_json
from rebecsim.lang import CheckedModel, parse_property
from rebecsim.native.engines import EngineUsed
from rebecsim.wording import counted

PropertyKind = Literal["assertion", "ltl", "tctl"]
PropertyWord = Literal["satisfied", "violated", "unknown"]


@dataclass(frozen=True)
class PropertyVerdict:
    """What was decided about one property of a file.

    Attributes:
        name: of the property.
        kind: assertion, or its logic.
        verdict: unknown, where a limit kept it from being decided.
        mode: the transition system in which it was judged.
        run: for a formula that is violated, a run on which it does not hold; for one that is
            satisfied, a run that shows it, if one run can.
        standing: whether it is unknown as it holds on all runs in which time advances; the run is
            one in which it does not, and on which the formula does not hold.
        note: why it is unknown, or nothing.
    """

    name: str
    kind: PropertyKind
    verdict: PropertyWord
    mode: str
    run: Path | None = None
    standing: bool = False
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Give the verdict as plain values, without the run."""
        return {name: value for name, value in vars(self).items() if name != "run"}


@dataclass(frozen=True)
class Violated:
    """Something forbidden that can happen, the path to it, and how often it was met."""

    verdict: Verdict
    message: str
    path: Path | None
    count: int


@dataclass(frozen=True)
class Ends:
    """States in which a run has ended: no message is left, and no message server is under way.

    `states` counts them, `path` is a way to the one found first, and `every_run` says whether every
    run comes to one; None if that is not decided.
    """

    states: int
    path: Path
    every_run: bool | None

    @property
    def text(self) -> str:
        """Say how runs end."""
        ended = f"{counted(self.states, 'state has', 'states have')} no message left"
        return f"{'every run ends' if self.every_run else 'a run may end'}: {ended}"


_FIGURES = (
    *("model", "mode", "strategy", "engine", "omission", "verdict", "message", "looked_for"),
    *("given_properties", "depth", "time", "states", "transitions", "frontier", "seconds"),
    *("peak_memory", "memory_per_state", "bounds", "abstraction"),
)


@dataclass(frozen=True)
class Result:
    """The verdict on a model and how it was reached.

    `transitions` counts as RMC does: the edges explored, and one for the initial state. `seconds`
    is wall time; `peak_memory` the most memory that the process has ever taken up, before the
    search too, and `memory_per_state` its growth by the search per state, both in bytes.
    `violations` are all that were found, the first one also being verdict, message and path.
    `bounds` are those that kept the search from covering everything; then `depth` is how many
    transitions lead to the state found last, and `time` its time, where states have one.
    `looked_for` names what counts as a violation; a property of the user is among
    `given_properties`, their number. `abstraction` names the
    variables left out of the state: what the verdict says, it says of the model without them.
    `deciding` are those of them that decide something, so that it may be another one with them.
    `absolute_time` is why states were not compared modulo time (a message server that reads it, or
    the horizon), otherwise None. `symmetries` is how many exchanges of rebecs and names, the
    trivial one included, were used to reduce the state space; the counts are those of the reduced.
    `growing` names what had ever new values when a search was cut off, see
    `rebecsim.exploration.cycles`. `standstill` is a cycle without time among the states that were
    expanded; None if there is none, or if that is not decided. `engine` is "native" if compiled
    code did the search, or went on with it. `omission` bounds the probability that hash compaction
    missed states; it is 0 without. `hidden_in_delays` are properties of states that may not hold
    during a `delay`, which floating time has no states of. `not_evaluated` names formulas of the
    property file that the verdict says nothing of, `properties` are the verdicts on all the others
    of the file. `ends` are the states in which runs end; None if there are none, or if something
    is violated. `finals` are a variable and the values it has there, each once, if that was asked.
    `cut` says of each distribution which values were tried, if these were not all.
    """

    model: str
    mode: Mode
    strategy: str
    verdict: Verdict
    message: str
    seconds: float
    peak_memory: int
    abstraction: tuple[str, ...]
    states: int = 0
    transitions: int = 0
    frontier: int = 0
    memory_per_state: float = 0.0
    looked_for: tuple[str, ...] = ()
    given_properties: int = 0
    depth: int | None = None
    time: int | None = None
    path: Path | None = None
    violations: tuple[Violated, ...] = ()
    bounds: tuple[Bound, ...] = ()
    absolute_time: str | None = None
    symmetries: int = 1
    growing: tuple[str, ...] = ()
    standstill: Path | None = None
    standstill_decided: bool = True
    engine: EngineUsed = "python"
    omission: float = 0.0
    deciding: tuple[Deciding, ...] = ()
    hidden_in_delays: tuple[str, ...] = ()
    not_evaluated: tuple[str, ...] = ()
    properties: tuple[PropertyVerdict, ...] = ()
    ends: Ends | None = None
    finals: tuple[str, tuple[Any, ...]] | None = None
    cut: tuple[str, ...] = ()

    @property
    def has_reservation(self) -> bool:
        """Whether nothing is wrong as far as was asked, but something left aside may be."""
        standing = any(each.standing for each in self.properties)
        return self.verdict == "satisfied" and bool(self.deciding or self.not_evaluated or standing)

    @property
    def is_violation(self) -> bool:
        """Whether the model can do what it must not."""
        return self.verdict not in ("satisfied", "undecided")

    def to_json(self) -> dict[str, Any]:
        """Give the verdict and the figures as plain values."""
        cut = {"cut": list(self.cut)} if self.cut else {}
        return (
            {name: plain(getattr(self, name)) for name in _FIGURES}
            | cut
            | {
                "deciding": list(map(vars, self.deciding)),
                "hidden_in_delays": list(self.hidden_in_delays),
                "not_evaluated": list(self.not_evaluated),
                "absolute_time": self.absolute_time,
                "growing": list(self.growing),
                "standstill_decided": self.standstill_decided,
                "ends": None
                if self.ends is None
                else {"states": self.ends.states, "every_run": self.ends.every_run},
            }
        )


FORMAT = "rebecsim counterexample 1"


@dataclass(frozen=True)
class Question:
    """What was asked of a model; `properties` is the text of a property file, named `file`."""

    mode: Mode
    deadlines: bool = True
    overflows: bool = True
    deadlock: bool = False
    terminal: tuple[str, ...] = ()
    invariants: tuple[str, ...] = ()
    file: str = ""
    properties: str = ""
    abstract: tuple[str, ...] = ()
    absolute: bool = False
    only: tuple[str, ...] = ()
    fair: bool = True

    def checks(self) -> Checks:
        """Give the checks. Raises RebecaError for a property file that is wrong."""
        return Checks(
            deadlines=self.deadlines,
            overflows=self.overflows,
            deadlock=self.deadlock,
            terminal=self.terminal,
            invariants=self.invariants,
            properties=parse_property(self.properties, self.file) if self.file else None,
            only=self.only,
            fair=self.fair,
        )

    def problem(self, model: Model, checked: CheckedModel | None = None) -> Problem:
        """Ask a model.

        Raises Violation if a constructor does, UserError or RebecaError for what does not fit.
        """
        return pose(
            model,
            mode=self.mode,
            checks=self.checks(),
            checked=checked,
            abstract=self.abstract,
            absolute=self.absolute,
        )


@dataclass(frozen=True)
class Recorded:
    """A run that violates something: what was asked, which way it goes, what it shows.

    `ordinals` is the transition taken in each state. `steps` describes each of them in plain
    values, by which a model that has changed is recognised. `loop` as in a `Path`.
    """

    model: str
    question: Question
    breach: Breach
    ordinals: tuple[int, ...]
    steps: tuple[dict[str, Any], ...]
    run: Run | None
    loop: int | None = None

    @classmethod
    def of(cls, path: Path, question: Question) -> Recorded:
        """Record a path to a breach. Raises ValueError for a path without one."""
        if path.breach is None:
            raise ValueError("the path violates nothing, so it is not a counterexample")
        steps = tuple(map(step_to_json, path.steps))
        if path.mode != question.mode:  # a formula that other states were needed for
            only = (path.breach.text,)
            question = replace(question, mode=path.mode, only=only, invariants=())
        return cls(path.model, question, path.breach, path.ordinals, steps, path.run, path.loop)

    def to_json(self) -> dict[str, Any]:
        """Give plain values.

        With a run, they are also a run that `rebecsim simulate --replay` does.
        """
        return {
            "format": FORMAT,
            "model": self.model,
            "question": {name: plain(value) for name, value in vars(self.question).items()},
            "verdict": self.breach.verdict,
            "message": self.breach.text,
            "ordinals": list(self.ordinals),
            "steps": list(self.steps),
            "loop": self.loop,
            **({} if self.run is None else self.run.to_json()),
        }

    @classmethod
    def from_json(cls, data: object) -> Recorded:
        """Read what `to_json` gave. Raises ReplayError, naming the place, for anything else."""
        match data:
            case {
                "format": str(form),
                "model": str(model),
                "question": dict(question),
                "verdict": str(verdict),
                "message": str(message),
                "ordinals": list(ordinals),
                "steps": list(steps),
            } if form == FORMAT and len(ordinals) == len(steps):
                pass
            case {"format": str(form)} if form != FORMAT:
                raise ReplayError(f"`format` is {form!r}, not {FORMAT!r}")
            case {"choices": list(), **others} if "format" not in others:
                raise ReplayError(
                    "this is a run of the simulator; use `rebecsim simulate --replay`"
                )
            case _:
                raise ReplayError(
                    "a recorded counterexample is an object with `format`, `model`, `question`, "
                    "`verdict`, `message`, and as many `ordinals` as `steps`"
                )
        if verdict not in get_args(Verdict):
            raise ReplayError(f"`verdict`: there is no verdict {verdict!r}")
        for place, (ordinal, step) in enumerate(zip(ordinals, steps, strict=True), 1):
            if type(ordinal) is not int or ordinal < 0 or not isinstance(step, dict):
                raise ReplayError(f"step {place}: must be the number of a transition and an object")
        loop = data.get("loop") if isinstance(data, dict) else None
        if loop is not None and (type(loop) is not int or not 0 <= loop <= len(steps)):
            raise ReplayError("`loop`: must be the number of a step")
        run = Run.from_json(data) if isinstance(data, dict) and "choices" in data else None
        return cls(
            model,
            _question(question),
            Breach(verdict, message),  # type: ignore[arg-type]  # looked at above
            tuple(ordinals),
            tuple(steps),
            run,
            loop,
        )


def _question(data: dict[Any, Any]) -> Question:
    defaults = vars(Question("FTTS"))
    for name, value in data.items():
        if name not in defaults:
            raise ReplayError(f"`question`: there is no key {name!r}")
        wanted = defaults[name]
        if isinstance(wanted, tuple):
            fits = isinstance(value, list) and all(isinstance(each, str) for each in value)
        else:
            fits = isinstance(value, type(wanted))
        if not fits:
            raise ReplayError(f"`question`: {name!r} cannot be {value!r}")
    if data.get("mode") not in MODES:
        raise ReplayError(f"`question`: the mode must be one of {', '.join(MODES)}")
    fields: dict[str, Any] = {
        str(name): tuple(value) if isinstance(value, list) else value
        for name, value in data.items()
    }
    return Question(**fields)


# --- files ---------------------------------------------------------------------------------------


def save_recorded(path: FilePath, recorded: Recorded) -> None:
    """Write a counterexample as JSON. Raises OSError."""
    write_json(path, recorded.to_json(), indent=1)


def load_recorded(path: FilePath) -> Recorded:
    """Read a counterexample. Raises ReplayError, naming the file, when it is none."""
    return read_record(path, Recorded.from_json)


_WRITTEN = (
    *("kind", "time", "finished", "sender", "rebec", "server", "arguments"),
    *("arrival", "deadline", "choices"),
)


def step_to_json(step: PathStep) -> dict[str, Any]:
    """Give a step as plain values."""
    written = {name: plain(getattr(step, name)) for name in _WRITTEN}
    return written | {"changed": {name: plain(value) for name, value in step.changed}}


# --- doing it again ------------------------------------------------------------------------------


def replay(recorded: Recorded, model: Model, checked: CheckedModel | None = None) -> Path:
    """Go the recorded way through a model, checking every step.

    Raises ReplayError, naming the step, where the model does something else, and when the
    violation does not come; UserError or RebecaError if the question does not fit the model.
    """
    problem = recorded.question.problem(model, checked)
    states, breach = _follow(recorded, problem)
    if breach is None and _is_of_formula(recorded, problem):
        if recorded.loop is not None and states[recorded.loop] != states[-1]:
            raise ReplayError(
                f"after step {len(recorded.steps)}, the last one: the model is not as it was "
                f"before step {recorded.loop + 1}, where the record goes on; has it been changed?"
            )
        breach = _rejudged(recorded, model, checked)
    path = path_along(problem.system, recorded.ordinals, breach, recorded.loop)
    if path.breach != recorded.breach:
        found = "nothing" if path.breach is None else _shown(path.breach)
        raise ReplayError(
            f"after step {len(path)}, the last one: the record ends with "
            f"{_shown(recorded.breach)}, the model with {found}; has the model been changed?"
        )
    return path


def recurring(
    recorded: Recorded, model: Model, checked: CheckedModel | None = None
) -> Breach | None:
    """Serve the recorded messages in a model that may have changed, and give what goes wrong.

    The same messages are served in the same order, with the same choices, whatever else has
    become of them; a formula is judged again on all runs. None if that is no longer possible, or
    violates something else or nothing.
    Raises UserError or RebecaError if the question does not fit the model any more.
    """
    problem = recorded.question.problem(model, checked)
    if _is_of_formula(recorded, problem):
        return _rejudged(recorded, model, checked)
    system = problem.system
    states = {system.initial}
    for place, step in enumerate(recorded.steps, 1):
        reached: set[State] = set()
        for state in states:
            for cause, target, _ in system.expand(state):
                if not _is_alike(step, step_to_json(step_of(system, state, cause, 0))):
                    continue
                if not isinstance(target, Breach):
                    reached.add(target)
                elif place == len(recorded.steps) and target.verdict == recorded.breach.verdict:
                    return target
        states = reached
    for state in states:
        if recorded.breach in problem.wrong_with(state):
            return recorded.breach
    return None


_ALIKE = ("kind", "rebec", "server", "sender", "arguments", "choices")


def _is_alike(recorded: dict[str, Any], found: dict[str, Any]) -> bool:
    return all(recorded.get(name) == found[name] for name in _ALIKE)


def _follow(recorded: Recorded, problem: Problem) -> tuple[list[State], Breach | None]:
    """Take every recorded step; give the states, and what is wrong in the last step or state."""
    system, steps = problem.system, len(recorded.steps)
    states, time = [system.initial], system.start_time
    for place, (ordinal, step) in enumerate(zip(recorded.ordinals, recorded.steps, strict=True), 1):
        found = system.expand(states[-1])
        if ordinal >= len(found):
            raise ReplayError(
                f"step {place} of {steps}: the record takes transition "
                f"{ordinal + 1}, the model has {len(found)}; is it a run of this model?"
            )
        cause, target, units = found[ordinal]
        if isinstance(target, Breach) and place < steps:
            raise ReplayError(
                f"step {place} of {steps}: the model ends here with {_shown(target)}; "
                "has it been changed?"
            )
        here = step_to_json(step_of(system, states[-1], cause, time))
        for name, value in here.items():
            if name not in step or step[name] != value:
                raise ReplayError(
                    f"step {place} of {steps}: the record has {name} {step.get(name)!r} in "
                    f"{_named(step)}, the model {value!r} in {_named(here)}; "
                    "is it a run of this model?"
                )
        if isinstance(target, Breach):
            return states, target
        time += units
        states.append(target)
    wrong = problem.wrong_with(states[-1])
    if recorded.breach in wrong:
        return states, recorded.breach
    return states, wrong[0] if wrong else None


def _is_of_formula(recorded: Recorded, problem: Problem) -> bool:
    """Whether it is a formula that does not hold on the recorded run."""
    of_formula = any(each.name == recorded.breach.text for each in problem.formulas)
    return recorded.breach.verdict == "property violated" and of_formula


def _rejudged(recorded: Recorded, model: Model, checked: CheckedModel | None) -> Breach | None:
    """Judge the formula of a run again; give the breach if it still does not hold."""
    from rebecsim.exploration.exploring import explore

    question = replace(recorded.question, only=(recorded.breach.text,))
    result = explore(
        model,
        mode=question.mode,
        checks=question.checks(),
        checked=checked,
        abstract=question.abstract,
    )
    return recorded.breach if result.properties[-1].verdict == "violated" else None


def _named(step: dict[str, Any]) -> str:
    return f"{step.get('rebec') or 'time'}.{step.get('server') or 'passes'}"


def _shown(breach: Breach) -> str:
    return f"{breach.verdict} ({breach.text})"
