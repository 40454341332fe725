"""Probabilities up to a time, also of rare events, from runs in which orders and choices are drawn.

Replication r draws from streams of its own, and numbers of runs at which it is looked are laid down
before; so what comes out depends neither on how many workers there are nor on the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rebecsim.actors import ChoiceLaw, Step, Streams, System
from rebecsim.actors.randomness import key_of
from rebecsim.actors.system import Choose
from rebecsim.actors.watchdog import Watchdog
from rebecsim.clusters.model.run import laid_out
from rebecsim.clusters.model.variants import ModelText, Opened, open_text
from rebecsim.errors import ArgumentError, UserError
from rebecsim.exploration.orders import Levels, Quantity, SplitRuns
from rebecsim.lang.properties import check_condition
from rebecsim.native.engines import Engine
from rebecsim.simulation import OUTCOMES, VIOLATIONS, Outcome, Tracer, simulate
from rebecsim.simulation.montecarlo import EngineError, native_for
from rebecsim.simulation.simulator import RANDOM, scheduler_for
from rebecsim.studies.estimates import Looks, Proportion, looks_for, require_level, student_estimate

if TYPE_CHECKING:
    from rebecsim.clusters.model.expressions import Expression
    from rebecsim.native.layout import NativeModel
    from rebecsim.studies.executors import Executor

_RUNS_PER_TASK = 250
_NATIVE_RUNS_PER_TASK = 20_000


@dataclass(frozen=True)
class ChanceQuestion:
    """What may happen in a run of a model, and how runs are done.

    Attributes:
        source: the model.
        quantity: of the kind `reached` or `goes wrong`.
        until: the time up to which messages are served.
        law: how choices are drawn.
        deadlines: whether a missed deadline ends a run.
        seed: of everything that is drawn.
        engine: who is to run the model. Conditions are looked at by the Python engine only.
    """

    source: ModelText
    quantity: Quantity
    until: int
    law: ChoiceLaw = "fair"
    deadlines: bool = True
    seed: int = 0
    engine: Engine = "auto"

    @property
    def may_be_native(self) -> bool:
        """Whether compiled code can tell what happens."""
        reads_states = self.quantity.kind == "reached"
        return self.deadlines and not reads_states and not self.source.is_python


@dataclass(frozen=True)
class Chance:
    """How likely something is.

    Attributes:
        question: what was asked.
        found: the probability, with its interval.
        is_precise: whether the error is as small as it was to be.
    """

    question: ChanceQuestion
    found: Proportion
    is_precise: bool

    def to_json(self) -> dict[str, Any]:
        """Give plain values."""
        found, quantity = self.found, self.question.quantity
        return {
            "kind": quantity.kind,
            "expression": quantity.text,
            "probability": found.value,
            "low": found.low,
            "high": found.high,
            "hits": found.hits,
            "runs": found.runs,
            "is_precise": self.is_precise,
        }


@dataclass(frozen=True)
class Chances:
    """How likely several things are, in runs of one model.

    Attributes:
        each: what was found of every question.
        level: of each interval.
        error: how small the error of each was to be.
    """

    each: tuple[Chance, ...]
    level: float
    error: float

    @property
    def question(self) -> ChanceQuestion:
        """What was asked first; the others differ in their quantities only."""
        return self.each[0].question

    @property
    def model(self) -> str:
        """The name of the model."""
        return open_text(self.question.source).model.name

    @property
    def is_precise(self) -> bool:
        """Whether every error is as small as it was to be."""
        return all(each.is_precise for each in self.each)

    @property
    def heading(self) -> str:
        """What was run, for people."""
        law = self.question.law
        choices = "" if law == "fair" else f", choices by the law {law}"
        return f"{self.model} up to time {self.question.until}, to within {self.error:g}{choices}"

    @property
    def rows(self) -> list[tuple[Quantity, Proportion]]:
        """What was asked, and what was found."""
        return [(each.question.quantity, each.found) for each in self.each]

    def to_json(self) -> dict[str, Any]:
        """Give plain values."""
        question = self.question
        return {
            "model": self.model,
            "until": question.until,
            "law": question.law,
            "seed": question.seed,
            "level": self.level,
            "error": self.error,
            "quantities": [each.to_json() for each in self.each],
        }


def looks_of(error: float, level: float, most: int | None = None) -> Looks:
    """Plan runs to within an error at a level, no more than `most`. Raises ArgumentError."""
    if not 0 < error < 0.5:
        raise ArgumentError("error", "must be between 0 and 0.5")
    require_level(level)
    if most is not None and most < 1:
        raise ArgumentError("max_runs", f"must be 1 or more, not {most}")
    looks = looks_for(error, level)
    return looks if most is None or most >= looks.runs[-1] else looks.at_most(most)


def chances(
    questions: Sequence[ChanceQuestion],
    looks: Looks,
    level: float,
    executor: Executor,
    progress: Callable[[int], None] = lambda runs: None,
) -> Chances:
    """Answer several questions about one model, each with an interval at the level.

    `progress` is told how many runs are done. Raises as `chance`.
    """
    for each in questions:
        require_sense(each)
    found = [chance(each, looks, executor, progress) for each in questions]
    return Chances(tuple(found), level, looks.error)


def chance(
    question: ChanceQuestion,
    looks: Looks,
    executor: Executor,
    progress: Callable[[int], None] = lambda runs: None,
) -> Chance:
    """Run a model until a probability is known to within the error that `looks` are for.

    `progress` is told how many runs are done. Raises UserError for a run in which time stands
    still, EngineError where the native engine is asked for and cannot run it, EndlessError for a
    message server that does not end.
    """
    hits = done = 0
    for number in looks.runs:
        for task, some in _counted(question, range(done, number), executor):
            hits += some
            progress(task.stop)
        done = number
        found = looks.at(hits, number)
        if found.error <= looks.error:
            break
    return Chance(question, found, found.error <= looks.error)


def require_sense(question: ChanceQuestion) -> None:
    """Raise UserError for a question that does not fit its model, or RebecaError for the model."""
    opened = open_text(question.source)
    model, quantity = opened.model, question.quantity
    if model.core:
        raise UserError(f"{model.name}: is Core Rebeca, so no time passes; use Timed Rebeca")
    if quantity.kind not in ("reached", "goes wrong"):
        raise UserError(
            f"{quantity}: is not a probability; for a mean, use `rebecsim simulate --runs`"
        )
    if quantity.kind == "reached":
        check_condition(quantity.text, "<reach>", opened.checked)
    if question.engine == "native" and not question.may_be_native:
        raise EngineError(
            "the native engine supports only whether and how a run of a Rebeca model ends; "
            "use python or auto"
        )


def _counted(
    question: ChanceQuestion, runs: range, executor: Executor
) -> Iterator[tuple[range, int]]:
    size = _NATIVE_RUNS_PER_TASK if question.may_be_native else _RUNS_PER_TASK
    tasks = [runs[first : first + size] for first in range(0, len(runs), size)]
    yield from zip(tasks, executor.map(partial(hits_of, question), tasks), strict=True)


def hits_of(question: ChanceQuestion, replications: range) -> int:
    """Count the replications in which it happens: what worker processes do. Raises as `chance`."""
    if question.may_be_native:
        work = len(replications) * (question.until + 1)
        native = native_for(question.engine, work, partial(laid_out, question.source))
        if native is not None:
            return _native_hits(native, question, replications)
    opened, key = open_text(question.source), key_of(question.seed)
    tracer = None
    if question.quantity.kind == "reached":
        tracer = _Lookout(opened.expression(question.quantity.text))
    with Watchdog() as watchdog:
        return sum(
            _happens(question, opened, Streams(key, each), tracer, watchdog)
            for each in replications
        )


def _native_hits(native: NativeModel, question: ChanceQuestion, replications: range) -> int:
    from rebecsim.simulation.native import run_native

    runs = run_native(
        native,
        key=key_of(question.seed),
        replications=replications,
        until=question.until,
        choice_law=question.law,
    )
    ends = runs.ends[:, 0]
    for outcome in np.unique(ends):
        _require_end(native.model.name, question, OUTCOMES[outcome])
    return int(np.isin(ends, [OUTCOMES.index(each) for each in VIOLATIONS]).sum())


def _happens(
    question: ChanceQuestion,
    opened: Opened,
    streams: Streams,
    lookout: _Lookout | None,
    watchdog: Watchdog,
) -> bool:
    try:
        result = simulate(
            opened.model,
            scheduler_for(RANDOM, streams, question.law),
            until=question.until,
            tracer=lookout,
            watchdog=watchdog,
            deadlines=question.deadlines,
        )
    except _SeenError:
        return True
    if result.system is None:
        raise UserError(f"{opened.model.name}: {result.outcome} in a constructor: there is no run")
    _require_end(opened.model.name, question, result.outcome)
    if lookout is None or result.is_violation:  # a step that violates leads to no state
        return lookout is None and result.is_violation
    return lookout.sees(result.system)


def _require_end(model: str, question: ChanceQuestion, outcome: Outcome) -> None:
    if outcome == "time stands still":
        raise UserError(
            f"{model}: time need not advance, so some runs never reach time "
            f"{question.until}; `rebecsim explore` shows such a loop"
        )


class _SeenError(Exception):
    """The condition is true: nothing that comes later can change the answer."""


class _Lookout(Tracer):
    """Ends a run as soon as a condition is true; notes nothing else."""

    def __init__(self, condition: Expression) -> None:
        super().__init__()
        self._read = condition.read

    def sees(self, system: System) -> bool:
        """Whether the condition is true."""
        return bool(self._read(system))

    def choosing(self, choose: Choose) -> Choose:
        """Draw as ever."""
        return choose

    def before(self, step: Step) -> None:
        """Look at the state that the last step has led to."""
        if self._read(step.rebec._system):
            raise _SeenError

    def after(self, step: Step) -> None:
        """Do nothing: whether the step went wrong is not known yet."""


@dataclass(frozen=True)
class Effort:
    """How much is run: so many times, with so many runs on each level."""

    repetitions: int = 30
    runs: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        if self.repetitions < 2 or self.runs < 1:
            raise UserError("an interval needs two repetitions or more, and runs in each of them")


@dataclass(frozen=True)
class RareChance:
    """How likely something rare is.

    Attributes:
        quantity: what was asked.
        levels: where runs were split.
        each: what every repetition came to.
        effort: how much was run.
        value: the probability.
        low, high: the ends of its interval, which is Student's: it relies on many repetitions.
        level: the probability that the interval covers the truth, nearly.
        cut: of each distribution, which values stood for all.
    """

    quantity: Quantity
    levels: Levels
    each: tuple[float, ...]
    effort: Effort
    value: float
    low: float
    high: float
    level: float
    cut: tuple[str, ...] = ()

    @property
    def runs(self) -> int:
        """The most runs that were begun: those of all repetitions and levels."""
        return self.effort.repetitions * self.effort.runs * (len(self.levels.thresholds) + 1)

    @property
    def was_seen(self) -> bool:
        """Whether any run came to the event; else there is no interval."""
        return self.value > 0

    @property
    def heading(self) -> str:
        """What was done, for people."""
        values = ", ".join(f"{each:g}" for each in self.levels.thresholds)
        done = (
            f"split where {self.levels.expression} comes to {values}: "
            f"{self.effort.repetitions} times, {self.effort.runs:,} runs on each level"
        )
        return "\n".join([done, *self.cut])

    def to_json(self) -> dict[str, Any]:
        """Give plain values."""
        return {
            "kind": self.quantity.kind,
            "expression": self.quantity.text,
            "split": self.levels.expression,
            "at": list(self.levels.thresholds),
            "repetitions": self.effort.repetitions,
            "runs_per_level": self.effort.runs,
            "seed": self.effort.seed,
            "level": self.level,
            "probability": self.value,
            "low": self.low if self.was_seen else None,
            "high": self.high if self.was_seen else None,
            "each": list(self.each),
            **({"cut": list(self.cut)} if self.cut else {}),
        }


@dataclass(frozen=True)
class RareQuestion:
    """What may happen in a run of a model, and how near to it runs are.

    Attributes:
        source: the model.
        quantity: of the kind `reached` or `goes wrong`.
        levels: where runs are split.
        until: the time up to which messages are served.
        law: how choices are drawn.
        deadlines: whether a missed deadline ends a run.
    """

    source: ModelText
    quantity: Quantity
    levels: Levels
    until: int
    law: ChoiceLaw = "fair"
    deadlines: bool = True


def repetitions(question: RareQuestion, effort: Effort, executor: Executor) -> list[float]:
    """Have all repetitions done; what each comes to does not depend on who does it.

    Raises UserError or RebecaError for what does not fit the model, or where time stands still.
    """
    return list(executor.map(partial(_repetition, question, effort), range(effort.repetitions)))


def _repetition(question: RareQuestion, effort: Effort, place: int) -> float:
    return walks_of(question).estimate(effort.runs, effort.seed, place)


@lru_cache(maxsize=1)
def walks_of(question: RareQuestion) -> SplitRuns:
    """Give runs of a model; what is known of its states is kept for the next repetition.

    Raises UserError or RebecaError for what does not fit.
    """
    opened = open_text(question.source)
    return SplitRuns(
        opened.model,
        question.quantity,
        question.levels,
        question.until,
        checked=opened.checked,
        law=question.law,
        deadlines=question.deadlines,
    )


def rare_chance(
    each: Sequence[float], quantity: Quantity, levels: Levels, effort: Effort, level: float = 0.95
) -> RareChance:
    """Give a probability with its interval from what all repetitions came to."""
    error = float(np.std(each, ddof=1)) / len(each) ** 0.5
    found = student_estimate(float(np.mean(each)), error, len(each) - 1, level, (0.0, 1.0))
    low, high = found.low, found.high
    assert low is not None, "there are two repetitions at least"
    assert high is not None, "for the same reason"
    return RareChance(quantity, levels, tuple(each), effort, found.value, low, high, level)
