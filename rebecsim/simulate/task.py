"""What worker processes do: build a cell's model and run some of its replications."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from dataclasses import dataclass
from functools import lru_cache

from rebecsim.actors import ChoiceLaw, Model
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, check_source
from rebecsim.native.engines import Engine
from rebecsim.simulate.montecarlo import Batch, Observation, run_batch
from rebecsim.simulate.order import Order

__all__ = ["Task", "run_task", "start_worker"]


@dataclass(frozen=True)
class Task:
    """Some consecutive replications of one cell."""

    cell: str
    source: str
    observation: Observation
    key: tuple[int, int]
    replications: range
    until: int
    choice_law: ChoiceLaw
    order: Order = "random"
    trace: bool = False
    engine: Engine = "auto"


def run_task(task: Task) -> Batch:
    """Run the replications of a task."""
    model, checked = _model(task.source, task.cell)
    return run_batch(
        model,
        task.observation,
        key=task.key,
        replications=task.replications,
        until=task.until,
        choice_law=task.choice_law,
        order=task.order,
        trace=task.trace,
        engine=task.engine,
        checked=checked,
    )


@lru_cache(maxsize=4)  # the tasks of a cell come one after the other
def _model(source: str, cell: str) -> tuple[Model, CheckedModel]:
    file = f"{cell}.rebeca"
    checked = check_source(source, file, "timed")
    return build_model(checked, file), checked


def start_worker() -> None:
    """Make this process a worker that ends with its parent.

    Ctrl-C is left to the parent, which ends its workers itself. A parent that was killed cannot,
    and a worker waiting for its next task would wait for ever.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # nobody is left to give results to
