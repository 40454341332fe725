"""The kind `model` as a study: variants of a model, and what is observed in their runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rebecsim.actors import Recorder, Streams, Violation
from rebecsim.actors.randomness import key_of
from rebecsim.actors.watchdog import Watchdog
from rebecsim.clusters.model.fitting import scenario_faults
from rebecsim.clusters.model.measures import columns_of, measures_of, tables_of
from rebecsim.clusters.model.observing import Expression
from rebecsim.clusters.model.run import FINISHED, ModelTask, python_only, run_rows, why_python
from rebecsim.clusters.model.scenario import ModelScenario
from rebecsim.clusters.model.variants import ModelText, open_text
from rebecsim.errors import UserError
from rebecsim.lang.types import REAL
from rebecsim.limits import RunSize
from rebecsim.metrics import Metric
from rebecsim.simulation import Tracer, simulate
from rebecsim.simulation.simulator import require_repeatable, scheduler_for
from rebecsim.studies.cells import Cell, Compared, Rows
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import VIEW_COLUMNS, Plan
from rebecsim.studies.scenario import StudyScenario
from rebecsim.studies.scenario_files import FieldError
from rebecsim.studies.sections import Section
from rebecsim.studies.simulated import TRACE_COLUMNS, TRACES
from rebecsim.studies.study import (
    ComparisonRules,
    How,
    PlannedCell,
    SimulatedStudy,
    seconds_of_runs,
)
from rebecsim.studies.sweeps import column_names, combinations, coordinate, file_names, label_of
from rebecsim.studies.toml import FieldPath

if TYPE_CHECKING:
    from rebecsim.studies.results import Results

_REPLICATIONS_PER_TASK = 100
_MOST_PAIRED = 5
"""Variants of which every two are compared; of more there would be too many pairs to read."""
_LONGEST_NAME = 60
_SECONDS_A_MESSAGE = 1e-5
"""Measured with the sensor network, which serves about one message a time unit."""
_REPEATED = 1_000
"""Messages of a run of a model in Python that are served again."""


@dataclass(frozen=True)
class ModelSetup:
    """A variant: its model, and what to observe of it."""

    source: ModelText
    scenario: ModelScenario

    @property
    def model_text(self) -> str | None:
        """The variant, unless it is a program in Python."""
        return None if self.source.is_python else self.source.text


class ModelStudy(SimulatedStudy):
    """A model of one's own, run with the values that a scenario gives."""

    kind: ClassVar[str] = "model"
    question: ClassVar[str] = "A model of your own: which values are best?"
    scenario: ClassVar[type[StudyScenario]] = ModelScenario
    compared: ClassVar[Compared] = Compared("variant", "variants")
    order_notes: ClassVar[tuple[str, ...]] = (
        "Messages that are due at the same time may be served in any order, and the model does not "
        "say which. fifo serves them as they were sent; updates-first and ticks-first serve the "
        "messages of the tick last and first; random draws their order.",
    )
    normal_outcomes: ClassVar[frozenset[str]] = frozenset(
        {"time limit", "step limit", "ended", FINISHED}
    )
    replications_per_task: ClassVar[int] = _REPLICATIONS_PER_TASK
    traced_per_task: ClassVar[int] = 20
    modules: ClassVar[tuple[str, ...]] = ("rebecsim.clusters.model.run",)

    # --- what there is -------------------------------------------------------------------------

    def cells(self, scenario: ModelScenario, folder: Path) -> Iterator[PlannedCell]:
        """Lay out the variants: every combination of the values that are swept."""
        if scenario.text is None:  # the record was changed
            raise UserError("the text of the model is missing")
        source = ModelText(str(folder / scenario.model), scenario.text, scenario.core)
        # Reading a record never runs the Python code that it holds.
        if not source.is_python and (faults := list(scenario_faults(scenario, open_text(source)))):
            raise FieldError(faults)
        columns = columns_of(scenario, _whole(scenario, source))
        plain = scenario.model_copy(update={"text": None})
        found = list(combinations(scenario.varied))
        names = file_names(found, _LONGEST_NAME, "variant") if scenario.varied else [scenario.name]
        parameters = _sql_names(scenario)
        for changes, name in zip(found, names, strict=True):
            yield PlannedCell(
                cell=Cell.of(label_of(changes) or Path(scenario.model).stem),
                name=name,
                columns=columns,
                setup=ModelSetup(source.with_changes(changes), plain),
                key=key_of(scenario.seed),
                parameters={parameters[what]: coordinate(value) for what, value in changes},
            )

    def measures(self, scenario: ModelScenario) -> tuple[Metric, ...]:
        """Give the figures that the scenario observes."""
        return measures_of(scenario)

    def comparison(self, scenario: ModelScenario) -> ComparisonRules:
        """Compare with one variant, where there are many; a tick gives more orders."""
        labels = [label_of(changes) for changes in combinations(scenario.varied)]
        baseline = labels[0] if len(labels) > _MOST_PAIRED else None
        if scenario.compared_with is not None:
            baseline = labels[scenario.compared_with - 1]
        return ComparisonRules(baseline, orders=tuple(scenario.orders))

    def tables(self, scenario: ModelScenario, trace: bool) -> Mapping[str, Mapping[str, str]]:
        """Keep waits, curves and how runs ended; messages where that is wanted."""
        return tables_of(scenario) | ({TRACES: TRACE_COLUMNS} if trace else {})

    def files(self, scenario: ModelScenario) -> Mapping[FieldPath, str]:
        """Name the model."""
        return {("model",): scenario.model}

    # --- running -------------------------------------------------------------------------------

    def task(
        self, cell: PlannedCell, replications: range, how: How
    ) -> tuple[str, Callable[[], Rows]]:
        """Send the text of the model, which is all that a worker needs."""
        task = _task(cell, replications, how)
        return cell.name, partial(run_rows, task)

    def size(self, cell: PlannedCell, replications: int) -> RunSize:
        """Estimate a run by its time units, or the messages that it serves at most."""
        setup: ModelSetup = cell.setup
        until, steps = setup.scenario.until, setup.scenario.steps
        if until is None:
            of, number = "message", steps or 0
        else:
            of, number = "time unit", until
        is_compiled = python_only(setup.source, setup.scenario) is None
        seconds = seconds_of_runs(number, replications, _SECONDS_A_MESSAGE, is_compiled=is_compiled)
        return RunSize(number, 0, seconds, 0, of)

    def prepare(self, plan: Plan, how: How, tell: Callable[[str], None]) -> None:
        """Refuse what cannot be run; Python that is not understood has to do the same again."""
        first: ModelSetup = plan.cells[0].setup
        opened = open_text(first.source)
        for warning in opened.checked.warnings:
            tell(str(warning))
        why_python(how.engine, first.source, first.scenario, how.trace)
        for cell in plan.cells:
            _require_start(cell)
        if opened.is_python and (opened.against or opened.checked.lacks):
            _require_repeatable(first, plan.cells[0].key)

    # --- reporting -----------------------------------------------------------------------------

    def sections(
        self, plan: Plan, results: Results, moments: Sequence[CellMoments]
    ) -> Sequence[Section]:
        """Show how runs ended, distributions, curves, and figures along what was swept."""
        from rebecsim.clusters.model.report.sections import model_sections

        return model_sections(plan, results, moments)


def _task(cell: PlannedCell, replications: range, how: How) -> ModelTask:
    setup: ModelSetup = cell.setup
    first, second = cell.key
    return ModelTask(
        cell.name,
        setup.source,
        setup.scenario,
        (first, second),
        replications,
        how.engine,
        how.trace,
    )


def _require_start(cell: PlannedCell) -> None:
    """Raise UserError for a variant whose rebecs cannot be made."""
    setup: ModelSetup = cell.setup
    try:
        open_text(setup.source).model.start()
    except Violation as violation:
        raise UserError(f"{cell.cell.policy}: a constructor fails: {violation}") from violation


def _require_repeatable(setup: ModelSetup, key: tuple[int, ...]) -> None:
    """Raise NotRepeatableError for a model in Python that does not do the same again."""
    model, scenario = open_text(setup.source).model, setup.scenario
    first, second = key
    streams = Streams((first, second), 0)
    scheduler = Recorder(scheduler_for(scenario.message_order, streams, scenario.choice_law))
    tracer = Tracer()
    with Watchdog() as watchdog:
        result = simulate(
            model,
            scheduler,
            until=scenario.until,
            max_steps=min(scenario.steps or _REPEATED, _REPEATED),
            tracer=tracer,
            watchdog=watchdog,
        )
        if result.system is not None:
            require_repeatable(model, result.system, scheduler.run, tracer.events)


# --- names ---------------------------------------------------------------------------------------


def _sql_names(scenario: ModelScenario) -> dict[str, str]:
    """Name the columns of what is swept, so that no view has two of one name."""
    taken = {*VIEW_COLUMNS, *columns_of(scenario, frozenset())}
    taken.update(name for columns in tables_of(scenario).values() for name in columns)
    for metric in measures_of(scenario):
        taken.update(metric.name + end for end in ("", "_low", "_high"))
    return column_names(list(scenario.varied), taken)


def _whole(scenario: ModelScenario, source: ModelText) -> frozenset[str]:
    """Give the columns of values that are whole numbers; Python does not say of its own."""
    values = [each for each in scenario.observe if each.what == "value"]
    if source.is_python or not values:
        return frozenset()
    opened = open_text(source)
    return frozenset(
        each.column
        for each in values
        if Expression(each.text, opened.model, opened.checked).type not in REAL
    )


STUDY = ModelStudy()
