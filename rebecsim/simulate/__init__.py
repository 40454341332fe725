"""Running models: one run, its trace, many runs.

`simulate` runs a model once and gives a `RunResult` with one of the `OUTCOMES`; a `Tracer`
collects its `Event`s. `run_batch` runs many seeded replications and gives a `Batch` of what an
`Observation` asks for, in one of the `ORDERS` of messages, on one of the `ENGINES`; `EngineError`
says that a model is not for the one asked for. `state_of` shows the state variables of a rebec.
"""

from rebecsim.native.engines import ENGINES, Engine
from rebecsim.simulate.engine import EngineError
from rebecsim.simulate.montecarlo import Batch, Observation, run_batch
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
