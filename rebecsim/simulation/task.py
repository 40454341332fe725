"""The work of a worker process: some of a cell's replications.

The model is read, checked and laid out once for all tasks of a cell that come one after the other.
A model whose step lies compiled on disk is kept there laid out as well, and is not even read.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from rebecsim.native.engines import Engine
from rebecsim.native.thresholds import RUNS_LOAD
from rebecsim.simulation.batch import Batch, Runs
from rebecsim.simulation.engine import native_for

if TYPE_CHECKING:
    from rebecsim.actors import Model
    from rebecsim.lang import CheckedModel
    from rebecsim.native.layout import NativeModel


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
    from rebecsim.simulation.kept_models import kept_model

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
