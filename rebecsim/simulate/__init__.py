"""Running models: one run, its trace, many runs.

`simulate` runs a model once and gives a `RunResult` with one of the `OUTCOMES`; a `Tracer`
collects its `Event`s. `run_batch` runs many seeded replications and gives a `Batch` of what an
`Observation` asks for, in one of the `ORDERS` of messages, on one of the `ENGINES`; `EngineError`
says that a model is not for the one asked for. `state_of` shows the state variables of a rebec.

They are loaded when they are asked for: whoever has models run by worker processes needs little of
what they need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rebecsim.native.engines import ENGINES, Engine
    from rebecsim.simulate.batch import Batch, Observation
    from rebecsim.simulate.engine import EngineError
    from rebecsim.simulate.montecarlo import run_batch
    from rebecsim.simulate.order import ORDERS, Order
    from rebecsim.simulate.simulator import OUTCOMES, Outcome, RunResult, simulate
    from rebecsim.simulate.trace import Event, Tracer, shown, state_of

__all__ = [
    "ENGINES",
    "ORDERS",
    "OUTCOMES",
    "Batch",
    "Engine",
    "EngineError",
    "Event",
    "Observation",
    "Order",
    "Outcome",
    "RunResult",
    "Tracer",
    "run_batch",
    "shown",
    "simulate",
    "state_of",
]

_MODULES = {
    "ENGINES": "rebecsim.native.engines",
    "ORDERS": "rebecsim.simulate.order",
    "OUTCOMES": "rebecsim.simulate.simulator",
    "Batch": "rebecsim.simulate.batch",
    "Engine": "rebecsim.native.engines",
    "EngineError": "rebecsim.simulate.engine",
    "Event": "rebecsim.simulate.trace",
    "Observation": "rebecsim.simulate.batch",
    "Order": "rebecsim.simulate.order",
    "Outcome": "rebecsim.simulate.simulator",
    "RunResult": "rebecsim.simulate.simulator",
    "Tracer": "rebecsim.simulate.trace",
    "run_batch": "rebecsim.simulate.montecarlo",
    "shown": "rebecsim.simulate.trace",
    "simulate": "rebecsim.simulate.simulator",
    "state_of": "rebecsim.simulate.trace",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
