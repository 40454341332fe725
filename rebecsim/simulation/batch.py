"""The request for many runs of one model, their engine, and what a worker process does of them.

A model is read, checked and laid out once for all tasks of a cell that come one after the other.
A model whose step lies compiled on disk is kept there laid out as well, and is not even read.

Nobody decides which message of one time unit goes first in a distributed system: results that
depend on it say something about the race and not about the policy. The orders other than `random`
show how far it matters, by resolving every race between a tick and the rest in one way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Literal, get_args

from rebecsim.actors import (
    ChoiceLaw,
    FifoScheduler,
    Message,
    RandomScheduler,
    RandomValues,
    RankedScheduler,
    Scheduler,
    Streams,
)
from rebecsim.errors import UserError
from rebecsim.native import engines
from rebecsim.native.engines import RUNS_LOAD, Engine, usable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rebecsim.actors import Model
    from rebecsim.lang.checked import CheckedModel
    from rebecsim.native.engines import EngineUsed
    from rebecsim.native.layout import NativeModel
    from rebecsim.simulation.trace import Event

Order = Literal["random", "updates-first", "ticks-first", "fifo"]
ORDERS: tuple[Order, ...] = get_args(Order)


def scheduler_for(order: Order, tick: str, streams: Streams, choice_law: ChoiceLaw) -> Scheduler:
    """Make the scheduler of an order; `tick` names the message server that passes time.

    random: every order is equally likely. updates-first: a tick is served when nothing else is
    left at its time. ticks-first: a tick is served before everything else. fifo: in the order of
    sending. Values of choices are drawn at random in all of them, from the same streams.
    """

    def is_tick(message: Message) -> int:
        return message.server.name == tick

    def is_no_tick(message: Message) -> int:
        return message.server.name != tick

    match order:
        case "random":
            return RandomScheduler(streams, choice_law)
        case "updates-first":
            return RankedScheduler(streams, choice_law, is_tick)
        case "ticks-first":
            return RankedScheduler(streams, choice_law, is_no_tick)
        case "fifo":
            return FifoScheduler(RandomValues(streams, choice_law))


@dataclass(frozen=True)
class Observation:
    """What to read when a run is over: these state variables of this rebec.

    `tick` names its message server that passes time, which orders other than random go by.
    """

    rebec: str
    variables: tuple[str, ...]
    tick: str = ""


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
    order: Order = "random"
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


def require_checked(checked: CheckedModel | None) -> CheckedModel:
    """Give the checked tree of a model. Raises EngineError when it was written in Python."""
    if checked is None:
        raise EngineError(
            "the native engine runs models in Rebeca only, not Rebec classes written in Python; "
            "choose the python engine"
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
    """Run the replications of a task. Raises as `run_batch`."""
    from rebecsim.simulation.montecarlo import native_batch, python_batch

    # What is loaded already costs nothing more, so it pays for the smallest task.
    work = task.runs.work if _known(task) is None else max(task.runs.work, RUNS_LOAD)
    native = native_for(task.engine, work, partial(_native_model, task))
    if native is not None:
        return native_batch(native, task.runs)
    known = _known(task)
    model = _model(task.source, task.cell)[0] if known is None else known.model
    return python_batch(model, task.runs)


_laid_out: deque[tuple[str, str, NativeModel]] = deque(maxlen=4)
"""The models of the tasks that were run last: cell, text and layout."""


def _known(task: Task) -> NativeModel | None:
    asked = (task.cell, task.source)
    return next((native for cell, text, native in _laid_out if (cell, text) == asked), None)


def _native_model(task: Task) -> NativeModel:
    """Give the model of a task, from memory, from disk or from its text."""
    from rebecsim.simulation.native import kept_model

    native = _known(task)
    if native is None:
        native = kept_model(task.source, f"{task.cell}.rebeca", partial(_fresh, task))
        _laid_out.append((task.cell, task.source, native))
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
