"""The request for many runs of one model, and their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rebecsim.actors import ChoiceLaw
    from rebecsim.native.engines import EngineUsed
    from rebecsim.simulation.order import Order
    from rebecsim.simulation.trace import Event


@dataclass(frozen=True)
class Observation:
    """What to read when a run is over: these state variables of this rebec.

    `tick` names its message server that passes time, which orders other than random go by.
    """

    rebec: str
    variables: tuple[str, ...]
    tick: str = ""


@dataclass(frozen=True)
class Runs:
    """Consecutive replications of a model, each served up to time `until`.

    `key` holds the two 64-bit words of the experiment cell; replication r draws from the streams
    of (key, r). `trace` asks for the events of each run as well.
    """

    observation: Observation
    key: tuple[int, int]
    replications: range
    until: int
    choice_law: ChoiceLaw = "fair"
    order: Order = "random"
    trace: bool = False

    @property
    def work(self) -> int:
        """How much there is to do: time units, replications together."""
        return len(self.replications) * (self.until + 1)


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
