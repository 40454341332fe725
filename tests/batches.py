"""Many runs of a model on the engine that is asked for, as a worker does them for a task."""

from __future__ import annotations

from functools import partial

from rebecsim.actors import ChoiceLaw, Model
from rebecsim.lang import CheckedModel
from rebecsim.native.layout import native_model
from rebecsim.simulation import (
    RANDOM,
    Batch,
    MessageOrder,
    Observation,
    Runs,
    native_batch,
    native_for,
    python_batch,
    require_checked,
)


def run_batch(
    model: Model,
    observation: Observation,
    *,
    key: tuple[int, int],
    replications: range,
    until: int,
    choice_law: ChoiceLaw = "fair",
    order: MessageOrder = RANDOM,
    trace: bool = False,
    engine: str = "auto",
    checked: CheckedModel | None = None,
) -> Batch:
    """Run replications; the native engine needs the tree that the model was built from."""
    runs = Runs(observation, key, replications, until, choice_law, order, trace)
    native = None
    if checked is not None or engine == "native":
        native = native_for(engine, runs.work, partial(_laid_out, model, checked))
    return python_batch(model, runs) if native is None else native_batch(native, runs)


def _laid_out(model: Model, checked: CheckedModel | None):
    return native_model(model, require_checked(checked))
