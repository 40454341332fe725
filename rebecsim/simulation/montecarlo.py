"""Run one model many times, each with random streams of its own, also in worker processes.

A worker reads, checks and lays out a model once for all tasks of a cell that come one after the
other. A model whose step lies compiled on disk is kept there laid out as well, and is not even
read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from rebecsim.actors import ChoiceLaw, Model, Streams, System
from rebecsim.actors.watchdog import Watchdog
from rebecsim.errors import UserError
from rebecsim.lang.checked import CheckedModel
from rebecsim.native import engines
from rebecsim.native.engines import RUNS_LOAD, Engine, usable
from rebecsim.simulation.simulator import OUTCOMES, RANDOM, MessageOrder, scheduler_for, simulate
from rebecsim.simulation.trace import Event, Tracer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rebecsim.native.engines import EngineUsed
    from rebecsim.native.layout import NativeModel
    from rebecsim.simulation.native import NativeRuns


@dataclass(frozen=True)
class Observation:
    """What to read when a run is over: these state variables of this rebec."""

    rebec: str
    variables: tuple[str, ...]


@dataclass(frozen=True)
class Runs:
    """Consecutive replications of a model, each served up to time `until`.

    `key` holds the two 64-bit words of the experiment cell; replication r draws from the streams
    of (key, r). `trace` asks for the events of each run as well.
    """

    observation: Observation
    key: tuple[int, int]
    replications: range
    until: int
    choice_law: ChoiceLaw = "fair"
    order: MessageOrder = RANDOM
    trace: bool = False

    @property
    def work(self) -> int:
        """How much there is to do: time units, replications together."""
        return len(self.replications) * (self.until + 1)


@dataclass(frozen=True)
class Batch:
    """The results of consecutive replications.

    `columns` has an int32 array of shape (replications,) for each observed variable, `outcomes`
    the index into `OUTCOMES` of each, uint8, same shape; `events` the traces, where wanted.
    `engine` tells which one ran; the results of both are the same.
    """

    first: int
    columns: dict[str, NDArray[np.int32]]
    outcomes: NDArray[np.uint8]
    events: tuple[tuple[Event, ...], ...] = field(default=(), repr=False)
    engine: EngineUsed = "python"


class EngineError(UserError):
    """The engine that was asked for cannot run the model."""


def require_checked(checked: CheckedModel | None, against: str = "") -> CheckedModel:
    """Give the checked tree of a model. Raises EngineError for Python that has none, and why."""
    if checked is None:
        raise EngineError(
            "the native engine runs models in Rebeca, and Python that translates to Rebeca; this "
            f"one has none: {against or 'choose the python engine'}"
        )
    return checked


def native_for(engine: Engine, work: int, lay_out: Callable[[], NativeModel]) -> NativeModel | None:
    """Give the compiled model if the native engine is to do the work; None: Python does it.

    `work` is in time units, replications together. Under `auto` the model is laid out only if that
    may pay, and compiled only if that does.

    Raises EngineError, NotNativeError or MissingPackagesError when the native engine is asked for
    and cannot run it.
    """
    engine = usable(engine)
    if engine == "python" or (engine == "auto" and work < engines.RUNS_LOAD):
        return None
    from rebecsim.actors import Violation
    from rebecsim.generate.step import NotNativeError
    from rebecsim.simulation.native import require_compiled

    try:
        native = lay_out()
        if engine == "auto" and work < engines.RUNS_COMPILE and not _is_compiled(native):
            return None
        require_compiled(native)
    except NotNativeError:
        if engine == "native":
            raise
        return None
    except Violation:  # in a constructor: there is nothing to compile for
        return None
    return native


def _is_compiled(native: NativeModel) -> bool:
    from rebecsim.native.cache import is_ready
    from rebecsim.native.loops.simulation import run_replications

    return is_ready(run_replications) and is_ready(native.step)


@dataclass(frozen=True)
class Task:
    """Some consecutive replications of one cell, whose model is the Timed Rebeca in `source`."""

    cell: str
    source: str
    runs: Runs
    engine: Engine = "auto"


def run_task(task: Task) -> Batch:
    """Run the replications of a task.

    Each draws from the streams of its key and number, so its result depends neither on the other
    replications nor on the engine. Raises KeyError or AttributeError when the model lacks what is
    to be observed, EngineError or NotNativeError when the native engine is asked for and cannot
    run the model.
    """

    # What is loaded already costs nothing more, so it pays for the smallest task.
    work = task.runs.work if _known(task) is None else max(task.runs.work, RUNS_LOAD)
    native = native_for(task.engine, work, partial(_native_of_task, task))
    if native is not None:
        return native_batch(native, task.runs)
    known = _known(task)
    model = _model(task.source, task.cell)[0] if known is None else known.model
    return python_batch(model, task.runs)


_laid_out_tasks: deque[tuple[str, str, NativeModel]] = deque(maxlen=4)
"""The models of the tasks that were run last: cell, text and layout."""


def _known(task: Task) -> NativeModel | None:
    asked = (task.cell, task.source)
    return next((native for cell, text, native in _laid_out_tasks if (cell, text) == asked), None)


def _native_of_task(task: Task) -> NativeModel:
    """Give the model of a task, from memory, from disk or from its text."""
    from rebecsim.simulation.native import kept_model

    native = _known(task)
    if native is None:
        native = kept_model(task.source, f"{task.cell}.rebeca", partial(_fresh, task))
        _laid_out_tasks.append((task.cell, task.source, native))
    return native


def _fresh(task: Task) -> NativeModel:
    from rebecsim.native.layout import native_model

    return native_model(*_model(task.source, task.cell))


@lru_cache(maxsize=4)  # the tasks of a cell come one after the other
def _model(source: str, cell: str) -> tuple[Model, CheckedModel]:
    from rebecsim.generate import build_model
    from rebecsim.lang import check_source

    file = f"{cell}.rebeca"
    checked = check_source(source, file, "timed")
    return build_model(checked, file), checked


def python_batch(model: Model, runs: Runs) -> Batch:
    """Run replications on the Python engine.

    Raises KeyError or AttributeError when the model lacks what is to be observed.
    """
    count, seen = len(runs.replications), runs.observation
    outcomes = np.empty(count, dtype=np.uint8)
    values = np.empty((len(seen.variables), count), dtype=np.int32)
    events: list[tuple[Event, ...]] = []
    with Watchdog() as watchdog:
        for place, replication in enumerate(runs.replications):
            tracer = Tracer() if runs.trace else None
            streams = Streams(runs.key, replication)
            scheduler = scheduler_for(runs.order, streams, runs.choice_law)
            result = simulate(model, scheduler, until=runs.until, tracer=tracer, watchdog=watchdog)
            outcomes[place] = OUTCOMES.index(result.outcome)
            values[:, place] = _observed(result.system, seen)
            if tracer is not None:
                events.append(tuple(tracer.events))
    columns = dict(zip(seen.variables, values, strict=True))
    return Batch(runs.replications.start, columns, outcomes, tuple(events))


def native_batch(native: NativeModel, runs: Runs) -> Batch:
    """Run replications on the native engine.

    Raises KeyError when the model lacks what is to be observed.
    """
    from rebecsim.simulation.native import native_events, run_native

    seen = runs.observation
    cells = []
    for name in seen.variables:
        other, point, variable = name.rpartition(".")
        cells.append(native.cell_of[other if point else seen.rebec, variable])

    def run(some: range) -> NativeRuns:
        return run_native(
            native,
            key=runs.key,
            replications=some,
            until=runs.until,
            choice_law=runs.choice_law,
            order=runs.order,
            observed=cells,
            trace=runs.trace,
        )

    wanted = runs.replications
    parts = [range(each, each + 1) for each in wanted] if runs.trace else [wanted]
    done = [run(part) for part in parts]
    values = np.concatenate([each.values for each in done]).astype(np.int32)
    return Batch(
        wanted.start,
        dict(zip(seen.variables, np.ascontiguousarray(values.T), strict=True)),
        np.concatenate([each.ends[:, 0] for each in done]).astype(np.uint8),
        tuple(native_events(native, each) for each in done) if runs.trace else (),
        "native",
    )


def _observed(system: System | None, observation: Observation) -> Sequence[int]:
    if system is None:
        return [0] * len(observation.variables)
    own = system.rebec(observation.rebec)
    values = []
    for name in observation.variables:
        other, point, variable = name.rpartition(".")
        values.append(getattr(system.rebec(other) if point else own, variable))
    return values
