"""Run a model once with a full trace, and check that the run is repeatable."""

from __future__ import annotations

from rebecsim.actors import Model, Recorder
from rebecsim.actors.watchdog import Watchdog
from rebecsim.simulation.again import require_repeatable
from rebecsim.simulation.simulator import RunResult, simulate
from rebecsim.simulation.trace import Tracer

REPEATED = 1_000
"""Messages of a run of a model in Python that are served again, unless all are asked for."""


def simulate_traced(
    model: Model,
    scheduler: Recorder,
    tracer: Tracer,
    *,
    until: int | None = None,
    max_steps: int | None = None,
    patience: float,
    stop_at_repeats: bool = True,
    repeated: int | None = REPEATED,
) -> RunResult:
    """Run a model once, and do the first `repeated` messages again; None: all of them.

    `patience` is how many seconds a message server or constructor may run; else as `simulate`.

    Raises EndlessError for one that does not end, with the tracer holding what happened before,
    NotRepeatableError for a model that is more than a function of its state.
    """
    with Watchdog(patience=patience) as watchdog:
        result = simulate(
            model,
            scheduler,
            until=until,
            max_steps=max_steps,
            tracer=tracer,
            watchdog=watchdog,
            stop_at_repeats=stop_at_repeats,
        )
    if result.system is not None and repeated != 0:
        require_repeatable(model, result.system, scheduler.run, tracer.events, repeated)
    return result
