"""Many runs of one model, each with random streams of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebecsim.actors import ChoiceLaw, Model, Streams, System, Violation
from rebecsim.generate.step import NotNativeError
from rebecsim.lang.checked import CheckedModel
from rebecsim.native.engines import Engine, EngineUsed
from rebecsim.simulate.engine import WORTH_COMPILING, WORTH_LOADING, require_checked
from rebecsim.simulate.order import Order, scheduler_for
from rebecsim.simulate.simulator import OUTCOMES, simulate
from rebecsim.simulate.trace import Event, Tracer

if TYPE_CHECKING:
    from rebecsim.native.layout import NativeModel
    from rebecsim.simulate.native import NativeRuns

__all__ = ["Batch", "Observation", "run_batch"]


@dataclass(frozen=True)
class Observation:
    """What to read when a run is over: these state variables of this rebec.

    `tick` names its message server that passes time, which orders other than random go by.
    """

    rebec: str
    variables: tuple[str, ...]
    tick: str = ""


@dataclass(frozen=True)
class Batch:
    """The results of consecutive replications.

    `columns` has an int32 array of shape (replications,) for each observed variable, `outcomes`
    the index into `OUTCOMES` of each, uint8, same shape; `events` the traces, where wanted.
    `engine` tells which one ran; the results of both are the same.
    """

    first: int
    columns: dict[str, NDArray[np.int32]]
    outcomes: NDArray[np.uint8]
    events: tuple[tuple[Event, ...], ...] = field(default=(), repr=False)
    engine: EngineUsed = "python"


def run_batch(
    model: Model,
    observation: Observation,
    *,
    key: tuple[int, int],
    replications: range,
    until: int,
    choice_law: ChoiceLaw = "fair",
    order: Order = "random",
    trace: bool = False,
    engine: Engine = "auto",
    checked: CheckedModel | None = None,
) -> Batch:
    """Run the replications with these numbers; each is served up to time `until`.

    `key` holds the two 64-bit words of the experiment cell; replication r draws from the streams
    of (key, r), so its result does not depend on which replications run beside it, nor on the
    engine. The native engine needs the `checked` tree that the model was built from.

    Raises KeyError or AttributeError when the model lacks what is to be observed, EngineError or
    NotNativeError when the native engine is asked for and cannot run the model.
    """
    work = len(replications) * (until + 1)
    if engine == "auto" and (checked is None or work < WORTH_LOADING):
        engine = "python"
    if engine != "python":
        try:
            native = _native_model(model, require_checked(checked))
            if engine == "native" or work >= WORTH_COMPILING or _is_compiled(native):
                return _native_batch(
                    native,
                    observation,
                    key=key,
                    replications=replications,
                    until=until,
                    choice_law=choice_law,
                    order=order,
                    trace=trace,
                )
        except NotNativeError:
            if engine == "native":
                raise
        except Violation:  # in a constructor: there is nothing to compile for
            pass
    outcomes = np.empty(len(replications), dtype=np.uint8)
    values = np.empty((len(observation.variables), len(replications)), dtype=np.int32)
    events: list[tuple[Event, ...]] = []
    for place, replication in enumerate(replications):
        tracer = Tracer() if trace else None
        streams = Streams(key, replication)
        scheduler = scheduler_for(order, observation.tick, streams, choice_law)
        result = simulate(model, scheduler, until=until, tracer=tracer)
        outcomes[place] = OUTCOMES.index(result.outcome)
        values[:, place] = _observed(result.system, observation)
        if tracer is not None:
            events.append(tuple(tracer.events))
    columns = dict(zip(observation.variables, values, strict=True))
    return Batch(replications.start, columns, outcomes, tuple(events))


_laid_out: deque[NativeModel] = deque(maxlen=4)
"""The models that were run last; the batches of one come one after the other."""


def _native_model(model: Model, checked: CheckedModel) -> NativeModel:
    from rebecsim.native.layout import native_model

    native = next((each for each in _laid_out if each.checked is checked), None)
    if native is None:
        native = native_model(model, checked)
        _laid_out.append(native)
    return native


def _is_compiled(native: NativeModel) -> bool:
    from rebecsim.native.cache import is_ready
    from rebecsim.native.simulation import run_replications

    return is_ready(run_replications) and is_ready(native.step)


def _native_batch(
    native: NativeModel,
    observation: Observation,
    *,
    key: tuple[int, int],
    replications: range,
    until: int,
    choice_law: ChoiceLaw,
    order: Order,
    trace: bool,
) -> Batch:
    from rebecsim.simulate.native import native_events, run_native

    cells = []
    for name in observation.variables:
        other, point, variable = name.rpartition(".")
        cells.append(native.cell_of[other if point else observation.rebec, variable])

    def run(some: range) -> NativeRuns:
        return run_native(
            native,
            key=key,
            replications=some,
            until=until,
            choice_law=choice_law,
            order=order,
            tick=observation.tick,
            observed=cells,
            trace=trace,
        )

    parts = [range(each, each + 1) for each in replications] if trace else [replications]
    runs = [run(part) for part in parts]
    values = np.concatenate([each.values for each in runs]).astype(np.int32)
    return Batch(
        replications.start,
        dict(zip(observation.variables, np.ascontiguousarray(values.T), strict=True)),
        np.concatenate([each.ends[:, 0] for each in runs]).astype(np.uint8),
        tuple(native_events(native, each) for each in runs) if trace else (),
        "native",
    )


def _observed(system: System | None, observation: Observation) -> Sequence[int]:
    if system is None:
        return [0] * len(observation.variables)
    own = system.rebec(observation.rebec)
    values = []
    for name in observation.variables:
        other, point, variable = name.rpartition(".")
        values.append(getattr(system.rebec(other) if point else own, variable))
    return values
