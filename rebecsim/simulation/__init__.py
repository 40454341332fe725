"""Run models: once, with a trace, or many times.

`simulate` runs a model once and gives a `RunResult` with one of the `OUTCOMES`; a `Tracer` collects
its `Event`s. `python_batch` and `native_batch` do many seeded `Runs` on an engine, in a
`MessageOrder` (`RANDOM`, `FIFO`), and give a `Batch` of what an `Observation` asks for;
`EngineError` says that a model is not for the engine asked for, as `require_checked` finds out.
`state_of` shows the state variables of a rebec. `require_repeatable` checks that a run is one
that can be done again. `make_scheduler` makes schedulers that a user may choose; `load_run` reads
a run that was kept. `run_task` runs the `Runs` of a `Task` in a worker process; `run_native` and
`simulate_native` run compiled code only.

They are loaded when they are asked for.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
