from .montecarlo import (
    Batch as Batch,
    EngineError as EngineError,
    Observation as Observation,
    run_batch as run_batch,
)
from .simulator import (
    ORDERS as ORDERS,
    OUTCOMES as OUTCOMES,
    VIOLATIONS as VIOLATIONS,
    Order as Order,
    Outcome as Outcome,
    RunResult as RunResult,
    simulate as simulate,
)
from .trace import Event as Event, Tracer as Tracer, shown as shown, state_of as state_of
