"""Many runs of one model, each with random streams of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rebecsim.actors import ChoiceLaw, Model, Streams, System
from rebecsim.simulate.order import Order, scheduler_for
from rebecsim.simulate.simulator import OUTCOMES, simulate
from rebecsim.simulate.trace import Event, Tracer

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
    """

    first: int
    columns: dict[str, NDArray[np.int32]]
    outcomes: NDArray[np.uint8]
    events: tuple[tuple[Event, ...], ...] = field(default=(), repr=False)


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
) -> Batch:
    """Run the replications with these numbers; each is served up to time `until`.

    `key` holds the two 64-bit words of the experiment cell; replication r draws from the streams
    of (key, r), so its result does not depend on which replications run beside it. Raises KeyError
    or AttributeError when the model lacks what is to be observed.
    """
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


def _observed(system: System | None, observation: Observation) -> Sequence[int]:
    if system is None:
        return [0] * len(observation.variables)
    own = system.rebec(observation.rebec)
    values = []
    for name in observation.variables:
        other, point, variable = name.rpartition(".")
        values.append(getattr(system.rebec(other) if point else own, variable))
    return values
