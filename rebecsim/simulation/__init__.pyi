from .montecarlo import (
    Batch as Batch,
    EngineError as EngineError,
    Observation as Observation,
    Runs as Runs,
    Task as Task,
    native_batch as native_batch,
    native_for as native_for,
    python_batch as python_batch,
    require_checked as require_checked,
    run_task as run_task,
)
from .native import (
    native_events as native_events,
    run_native as run_native,
    simulate_native as simulate_native,
)
from .simulator import (
    FIFO as FIFO,
    OUTCOMES as OUTCOMES,
    RANDOM as RANDOM,
    VIOLATIONS as VIOLATIONS,
    MessageOrder as MessageOrder,
    Outcome as Outcome,
    RunResult as RunResult,
    load_run as load_run,
    make_scheduler as make_scheduler,
    require_repeatable as require_repeatable,
    scheduler_for as scheduler_for,
    simulate as simulate,
)
from .trace import Event as Event, Tracer as Tracer, shown as shown, state_of as state_of
