"""What worker processes do: build a cell's model and run some of its replications."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from functools import lru_cache

from rebecsim.actors import ChoiceLaw, Model
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.simulate.montecarlo import Batch, Observation, run_batch
from rebecsim.simulate.order import Order

__all__ = ["Task", "ignore_interrupts", "run_task"]


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


def run_task(task: Task) -> Batch:
    """Run the replications of a task."""
    return run_batch(
        _model(task.source, task.cell),
        task.observation,
        key=task.key,
        replications=task.replications,
        until=task.until,
        choice_law=task.choice_law,
        order=task.order,
        trace=task.trace,
    )


@lru_cache(maxsize=4)  # the tasks of a cell come one after the other
def _model(source: str, cell: str) -> Model:
    file = f"{cell}.rebeca"
    return build_model(check_source(source, file, "timed"), file)


def ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent process, which ends its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
