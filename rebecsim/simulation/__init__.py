"""Running models: one run, its trace, many runs.

`simulate` runs a model once and gives a `RunResult` with one of the `OUTCOMES`; a `Tracer`
collects its `Event`s. `run_batch` runs many seeded replications and gives a `Batch` of what an
`Observation` asks for, in one of the `ORDERS` of messages, on one of the `ENGINES`; `EngineError`
says that a model is not for the one asked for. `state_of` shows the state variables of a rebec.

They are loaded when they are asked for: whoever has models run by worker processes needs little of
what they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebecsim.lazy_names import names_of
from rebecsim.native.engines import ENGINES, Engine

if TYPE_CHECKING:
    from rebecsim.simulation.batch import Batch, Observation
    from rebecsim.simulation.engine import EngineError
    from rebecsim.simulation.montecarlo import run_batch
    from rebecsim.simulation.order import ORDERS, Order
    from rebecsim.simulation.simulator import OUTCOMES, Outcome, RunResult, simulate
    from rebecsim.simulation.trace import Event, Tracer, shown, state_of

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
    "ORDERS": "order",
    "OUTCOMES": "simulator",
    "Batch": "batch",
    "EngineError": "engine",
    "Event": "trace",
    "Observation": "batch",
    "Order": "order",
    "Outcome": "simulator",
    "RunResult": "simulator",
    "Tracer": "trace",
    "run_batch": "montecarlo",
    "shown": "trace",
    "simulate": "simulator",
    "state_of": "trace",
}

__getattr__, __dir__ = names_of(__name__, _MODULES)
