"""Save runs in files, and make the schedulers that a user may choose."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from rebecsim.actors import (
    ChoiceLaw,
    FifoScheduler,
    Model,
    RandomScheduler,
    RandomValues,
    Recorder,
    ReplayError,
    ReplayScheduler,
    Run,
    Streams,
)
from rebecsim.actors.choice import read_record
from rebecsim.actors.randomness import key_of
from rebecsim.files import write_json
from rebecsim.simulation.simulator import simulate
from rebecsim.simulation.trace import state_of


def make_scheduler(
    kind: Literal["random", "fifo"], seed: int, choice_law: ChoiceLaw = "fair"
) -> Recorder:
    """Make a scheduler that records its choices; `seed` is where its random numbers start."""
    streams = Streams(key_of(seed), replication=0)
    if kind == "fifo":
        return Recorder(FifoScheduler(RandomValues(streams, choice_law)))
    return Recorder(RandomScheduler(streams, choice_law))


def save_run(path: Path, run: Run) -> None:
    """Write the choices of a run as JSON. Raises OSError."""
    write_json(path, run.to_json())


def load_run(path: Path) -> Run:
    """Read the choices of a run. Raises ReplayError, naming the file, when it has none."""
    return read_record(path, Run.from_json)


def doing_again(run: Run) -> Recorder:
    """Make a scheduler that does a run again."""
    return Recorder(ReplayScheduler(run))


def state_after(run: Run, model: Model) -> dict[str, dict[str, Any]]:
    """Do a run again, and give the variables that it ends with: rebec -> name -> value.

    Raises ReplayError for a model that cannot do it, or of which a message is wrong in it.
    """
    messages = sum(choice.kind == "step" for choice in run.choices)
    result = simulate(model, doing_again(run), max_steps=messages)
    if result.system is None or result.is_violation or result.steps < messages:
        ended = ": ".join(filter(None, (result.outcome, result.detail)))
        raise ReplayError(f"the run ends after {result.steps} of {messages} messages: {ended}")
    return {str(rebec): state_of(rebec) for rebec in result.system.rebecs}
