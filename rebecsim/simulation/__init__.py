"""Running models: one run, its trace, many runs.

`simulate` runs a model once and gives a `RunResult` with one of the `OUTCOMES`; a `Tracer`
collects its `Event`s. `run_batch` runs many seeded replications and gives a `Batch` of what an
`Observation` asks for, in one of the `ORDERS` of messages, on an engine; `EngineError` says that
a model is not for the one asked for. `state_of` shows the state variables of a rebec.

They are loaded when they are asked for: whoever has models run by worker processes needs little of
what they need.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
