from .batch import (
    ORDERS as ORDERS,
    Batch as Batch,
    EngineError as EngineError,
    Observation as Observation,
    Order as Order,
)
from .montecarlo import run_batch as run_batch
from .simulator import (
    OUTCOMES as OUTCOMES,
    VIOLATIONS as VIOLATIONS,
    Outcome as Outcome,
    RunResult as RunResult,
    simulate as simulate,
)
from .trace import Event as Event, Tracer as Tracer, shown as shown, state_of as state_of
