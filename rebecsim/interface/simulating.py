"""One run of a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rebecsim.actors import ChoiceLaw, Run, Step
from rebecsim.actors.watchdog import PATIENCE
from rebecsim.interface.loading import AnyModel, as_loaded
from rebecsim.interface.shown import Shown, Tabular, shown_figure
from rebecsim.simulation.simulator import (
    REPEATED,
    Outcome,
    RunResult,
    make_scheduler,
    save_run,
    simulate_traced,
)
from rebecsim.simulation.trace import Event, Tracer, state_of

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure
    from rich.console import Group

_STEPS = 100
"""Messages of a run that was given no end."""


@dataclass(frozen=True)
class Simulated(Shown, Tabular):
    """A run: the messages served, how it ended, and the state variables as they were left.

    Attributes:
        model: its name.
        result: how the run ended.
        events: the messages, in the order in which they were served.
        started: rebec -> state variable -> value, before the first message.
        choices: what was drawn, for doing the run again.
    """

    model: str
    result: RunResult
    events: tuple[Event, ...]
    started: dict[str, dict[str, Any]]
    choices: Run

    @property
    def outcome(self) -> Outcome:
        """Why the run ended."""
        return self.result.outcome

    @property
    def time(self) -> int:
        """When the last message was served, in model time units."""
        return self.result.time

    @property
    def is_violation(self) -> bool:
        """Whether the run ended with something that must not happen."""
        return self.result.is_violation

    @property
    def state(self) -> dict[str, dict[str, Any]]:
        """The state variables at the end: rebec -> name -> value; empty if a constructor failed."""
        if self.result.system is None:
            return {}
        return {str(rebec): state_of(rebec) for rebec in self.result.system.rebecs}

    def values(self, variable: str) -> tuple[list[int], list[Any]]:
        """Give when a state variable, `rebec.name`, got new values, and these values.

        The first one is that before the first message, at time 0. Raises KeyError for a variable
        that there is not.
        """
        rebec, _, name = variable.partition(".")
        times, values = [0], [self.started[rebec][name]]
        for event in self.events:
            if event.rebec == rebec and name in event.changed:
                times.append(event.time)
                values.append(event.changed[name])
        return times, values

    def to_arrow(self) -> pa.Table:
        """Give a row for each message: the columns of traces."""
        import pyarrow as pa

        rows = [event.row(0) for event in self.events]
        return pa.Table.from_pylist(rows).drop_columns(["replication"]) if rows else pa.table({})

    def plot(self, *variables: str) -> Figure:
        """Draw state variables over time, all that are numbers and change unless some are named.

        Raises KeyError for a variable that there is not.
        """
        from rebecsim.report.figures import variables_figure

        chosen = variables or tuple(self._changing())
        curves = {variable: self.values(variable) for variable in chosen}
        return shown_figure(variables_figure(self.model, curves, self.time))

    def save(self, path: str | Path) -> None:
        """Write the choices of the run, for `rebecsim simulate --replay`. Raises OSError."""
        save_run(Path(path), self.choices)

    def __rich__(self) -> Group:
        """Give the messages in a table, and how the run ended."""
        from rich.console import Group

        from rebecsim.report.messages import event_table, run_summary

        return Group(event_table(self.events), run_summary(self.result))

    def __repr__(self) -> str:
        return f"<Simulated {self.model}: {self.outcome}, {len(self.events)} messages>"

    def _changing(self) -> list[str]:
        return [
            f"{rebec}.{name}"
            for rebec, values in self.started.items()
            for name, value in values.items()
            if isinstance(value, int | float)
            and any(each.rebec == rebec and name in each.changed for each in self.events)
        ]


class _FromTheStart(Tracer):
    """Collects the state variables of rebecs as they were before their first message, too."""

    def __init__(self) -> None:
        super().__init__()
        self.started: dict[str, dict[str, Any]] = {}

    def before(self, step: Step) -> None:
        super().before(step)
        self.started.setdefault(str(step.rebec), self._state)


def simulate(
    model: AnyModel,
    *,
    until: int | None = None,
    seed: int = 0,
    steps: int | None = None,
    law: ChoiceLaw = "fair",
    order: Literal["random", "fifo"] = "random",
    patience: float = PATIENCE,
    strict: bool = False,
) -> Simulated:
    """Run a model once.

    Args:
        model: a loaded model, one in Python, or the path of one.
        until: the last time, in model time units, at which messages are served.
        seed: of everything that is drawn.
        steps: the most messages; 100 if there is no `until` either.
        law: how `?(...)` is drawn; "fair" is evenly.
        order: how the next of several messages is picked.
        patience: seconds that a message server may run.
        strict: do all messages of a model in Python again to see that they do the same, and not
            only the first thousand.

    Raises RebecaError or UserError for a model that cannot be read or does not end, and
    ModelCodeError for an exception that the code of a model raises.

    >>> rs.simulate("ticket_service.rebeca", until=12, seed=1)
    <Simulated ticket_service: time limit, 15 messages>
    """
    loaded = as_loaded(model)
    most = _STEPS if steps is None and (until is None or loaded.model.core) else steps
    scheduler = make_scheduler(order, seed, law)
    tracer = _FromTheStart()
    result = simulate_traced(
        loaded.model,
        scheduler,
        tracer,
        until=until,
        max_steps=most,
        patience=patience,
        repeated=None if strict else REPEATED if loaded.checked is None else 0,
    )
    system = result.system
    rebecs = [] if system is None else system.rebecs
    started = {str(each): tracer.started.get(str(each)) or state_of(each) for each in rebecs}
    choices = replace(scheduler.run, until=until)
    return Simulated(loaded.name, result, tuple(tracer.events), started, choices)
