"""Many runs of one model, each with random streams of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rebecsim.actors import ChoiceLaw, Model, Streams, System
from rebecsim.actors.watchdog import Watchdog
from rebecsim.lang.checked import CheckedModel
from rebecsim.native.engines import Engine
from rebecsim.simulation.batch import (
    Batch,
    Observation,
    Order,
    Runs,
    native_for,
    require_checked,
    scheduler_for,
)
from rebecsim.simulation.simulator import OUTCOMES, simulate
from rebecsim.simulation.trace import Event, Tracer

if TYPE_CHECKING:
    from rebecsim.native.layout import NativeModel
    from rebecsim.simulation.native import NativeRuns


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
    runs = Runs(observation, key, replications, until, choice_law, order, trace)
    native = None
    if checked is not None or engine == "native":
        lay_out = partial(_native_model, model, checked)
        native = native_for(engine, runs.work, lay_out)
    return python_batch(model, runs) if native is None else native_batch(native, runs)


_laid_out: deque[NativeModel] = deque(maxlen=4)
"""The models that were run last; the batches of one come one after the other."""


def _native_model(model: Model, checked: CheckedModel | None) -> NativeModel:
    from rebecsim.native.layout import native_model

    tree = require_checked(checked)
    native = next((each for each in _laid_out if each.checked is tree), None)
    if native is None:
        native = native_model(model, tree)
        _laid_out.append(native)
    return native


def python_batch(model: Model, runs: Runs) -> Batch:
    """Run replications on the Python engine. Raises KeyError or AttributeError as `run_batch`."""
    count, seen = len(runs.replications), runs.observation
    outcomes = np.empty(count, dtype=np.uint8)
    values = np.empty((len(seen.variables), count), dtype=np.int32)
    events: list[tuple[Event, ...]] = []
    with Watchdog() as watchdog:
        for place, replication in enumerate(runs.replications):
            tracer = Tracer() if runs.trace else None
            streams = Streams(runs.key, replication)
            scheduler = scheduler_for(runs.order, seen.tick, streams, runs.choice_law)
            result = simulate(model, scheduler, until=runs.until, tracer=tracer, watchdog=watchdog)
            outcomes[place] = OUTCOMES.index(result.outcome)
            values[:, place] = _observed(result.system, seen)
            if tracer is not None:
                events.append(tuple(tracer.events))
    columns = dict(zip(seen.variables, values, strict=True))
    return Batch(runs.replications.start, columns, outcomes, tuple(events))


def native_batch(native: NativeModel, runs: Runs) -> Batch:
    """Run replications on the native engine. Raises KeyError as `run_batch`."""
    from rebecsim.simulation.native import native_events, run_native

    seen = runs.observation
    cells = []
    for name in seen.variables:
        other, point, variable = name.rpartition(".")
        cells.append(native.cell_of[other if point else seen.rebec, variable])

    def run(some: range) -> NativeRuns:
        return run_native(
            native,
            key=runs.key,
            replications=some,
            until=runs.until,
            choice_law=runs.choice_law,
            order=runs.order,
            tick=seen.tick,
            observed=cells,
            trace=runs.trace,
        )

    wanted = runs.replications
    parts = [range(each, each + 1) for each in wanted] if runs.trace else [wanted]
    done = [run(part) for part in parts]
    values = np.concatenate([each.values for each in done]).astype(np.int32)
    return Batch(
        wanted.start,
        dict(zip(seen.variables, np.ascontiguousarray(values.T), strict=True)),
        np.concatenate([each.ends[:, 0] for each in done]).astype(np.uint8),
        tuple(native_events(native, each) for each in done) if runs.trace else (),
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
