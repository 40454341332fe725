from .batch import Batch as Batch, Observation as Observation
from .engine import EngineError as EngineError
from .montecarlo import run_batch as run_batch
from .order import ORDERS as ORDERS, Order as Order
from .simulator import (
    OUTCOMES as OUTCOMES,
    VIOLATIONS as VIOLATIONS,
    Outcome as Outcome,
    RunResult as RunResult,
    simulate as simulate,
)
from .trace import Event as Event, Tracer as Tracer, shown as shown, state_of as state_of
