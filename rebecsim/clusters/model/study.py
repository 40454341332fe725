"""The kind `model` as a study: scenarios, also from a command line, and runs of variants."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rebecsim.actors import Model, Recorder, Streams, Violation
from rebecsim.actors.randomness import key_of
from rebecsim.actors.watchdog import Watchdog
from rebecsim.clusters.model.measures import BASE, columns_of, measures_of, own_columns, tables_of
from rebecsim.clusters.model.observing import (
    ALL,
    measure_fault,
    server_fault,
    server_names,
)
from rebecsim.clusters.model.run import FINISHED, ModelTask, python_only, run_rows, why_python
from rebecsim.clusters.model.scenario import ModelScenario, Observe, Swept
from rebecsim.clusters.model.variants import (
    MODEL_SUFFIXES,
    ModelText,
    Opened,
    open_text,
    sweep_fault,
)
from rebecsim.clusters.scenarios import LoadedScenario
from rebecsim.errors import UserError
from rebecsim.files import RunSize
from rebecsim.generate.module import load_checked
from rebecsim.lang import CheckedModel, RebecaError
from rebecsim.lang.checked import BOOLEAN, NUMERIC, REAL
from rebecsim.lang.reading.imports import read_model
from rebecsim.metrics import Metric
from rebecsim.simulation import Tracer, simulate
from rebecsim.simulation.simulator import require_repeatable, scheduler_for
from rebecsim.studies.cells import Cell, Compared, Rows, Section
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import VIEW_COLUMNS, Plan
from rebecsim.studies.scenario import StudyScenario, validated
from rebecsim.studies.scenario_files import FieldError, FieldPath, ScenarioError
from rebecsim.studies.simulated import TRACE_COLUMNS, TRACES
from rebecsim.studies.study import (
    ComparisonRules,
    How,
    PlannedCell,
    SimulatedStudy,
    seconds_of_runs,
)
from rebecsim.studies.sweeps import (
    column_names,
    combinations,
    coordinate,
    file_names,
    label_of,
    read_sweep,
)
from rebecsim.wording import suggestion

if TYPE_CHECKING:
    from rebecsim.studies.results import Results

Given = TypeVar("Given", bound=ModelScenario)


def scenario_faults(scenario: ModelScenario, opened: Opened) -> Iterator[tuple[FieldPath, str]]:
    """Say which keys do not fit the model, and why."""
    if opened.model.core and scenario.steps is None:
        yield ("until",), "a model in Core Rebeca has no time; say how many steps a run has"
    for name in scenario.swept:
        if name in opened.checked.env:
            yield ("sweep", name), "is a key of scenarios too; give the constant another name"
    for name, values in scenario.varied.items():
        if fault := sweep_fault(opened, name, values):
            yield ("sweep", name), fault
    terminal = scenario.terminal
    if terminal is not None and (
        fault := _expression_fault(terminal, opened, wants_condition=True)
    ):
        yield ("terminal",), fault
    if scenario.tick is not None and scenario.tick not in (names := server_names(opened.model)):
        hint = suggestion(scenario.tick, names)
        yield ("tick",), f"there is no message server {scenario.tick}; {hint}"
    yield from _observe_faults(scenario, opened)


def _observe_faults(scenario: ModelScenario, opened: Opened) -> Iterator[tuple[FieldPath, str]]:
    taken = dict.fromkeys(BASE, "which every run has")
    for place, each in enumerate(scenario.observe):
        if fault := _fault(each, opened):
            yield ("observe", place, each.what), fault
        for column in own_columns(each):
            if column in taken:
                yield (
                    ("observe", place),
                    f"has the column {column}, {taken[column]}; give it a name",
                )
            taken.setdefault(column, f"as entry {place}")


def _expression_fault(text: str, opened: Opened, wants_condition: bool) -> str | None:
    """Say why an expression cannot be observed; None if it can."""
    try:
        found = opened.expression(text).type
    except RebecaError as error:
        first = error.diagnostics[0]
        hint = f"; {first.hint}" if first.hint else ""
        return f"{text!r}, column {first.span.column}: {first.message}{hint}"
    if wants_condition and found != BOOLEAN:
        return f"{text!r} is not a condition: its type is {found}"
    if found != BOOLEAN and found not in NUMERIC:
        return f"{text!r} is not a number: its type is {found}"
    return None


def _fault(each: Observe, opened: Opened) -> str | None:
    if each.is_followed and opened.model.core:
        return "a model in Core Rebeca has no time over which it could be followed"
    match each.what:
        case "value" | "first":
            wants_condition = each.what == "first"
            fault = _expression_fault(each.text, opened, wants_condition)
            if fault and server_fault(opened.model, each.text) is None:
                return f"{each.text} is a message server; observe it as served or waits"
            return fault
        case "served" | "waits":
            return server_fault(opened.model, each.text)
        case "misses":
            return None if each.text == ALL else server_fault(opened.model, each.text)
        case "measure":
            return measure_fault(opened.model, each.text)
    return None


def completed_scenario(scenario: Given, folder: Path) -> Given:
    """Read the model, and see whether what is asked for fits it. Raises FieldError."""
    path = folder / scenario.model
    if path.suffix not in MODEL_SUFFIXES:
        raise FieldError(
            [(("model",), f"{path} is not a model; the name of a model ends in .rebeca or .py")]
        )
    source = ModelText(str(path), read_model(path), scenario.core)
    opened = open_text(source)
    if faults := list(scenario_faults(scenario, opened)):
        raise FieldError(faults)
    for changes in combinations(scenario.varied) if scenario.varied else ():
        try:
            open_text(source.with_changes(changes))
        except RebecaError as error:
            # The position is in the printed variant, which the user has not seen.
            first = error.diagnostics[0]
            line = f", in {first.source_line.strip()!r}" if first.source_line else ""
            message = f"with {label_of(changes)} the model is wrong: {first.message}{line}"
            raise FieldError([(("sweep",), message)]) from error
    return scenario.model_copy(update={"text": source.text})


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
        each.column for each in values if opened.expression(each.text).type not in REAL
    )


STUDY = ModelStudy()


_KEY = re.compile(r"(value|served|waits|misses|first|outcome|measure)=(?!=)(.*)", re.S)
_MISSES = "misses"


@dataclass(frozen=True)
class _Given:
    """What was given, to name it in errors."""

    observe: Sequence[str]
    origin: str
    dashes: str

    def option(self, path: FieldPath) -> str:
        """Say which option a key comes from."""
        match path:
            case ("observe", int(place), *_):
                return f"{self.dashes}observe {self.observe[place]!r}"
            case ("sweep", str(name), *_):
                return f"{self.dashes}env {name}" if self.dashes else f"sweep {name}"
            case (str(name), *_) if name in ("until", "steps", "core"):
                return f"{self.dashes}{name}"
        return self.origin


def short_scenario(
    model: Path,
    observe: Sequence[str],
    *,
    sweep: Mapping[str, Sequence[Swept]],
    every: int | None = None,
    dashes: str = "--",
    **settings: object,
) -> LoadedScenario:
    """Make the scenario of a model; `settings` are keys of `ModelScenario`, None for its default.

    `every` follows the values that are observed over time. What is wrong is said with the option,
    which begins with `dashes`; without dashes it is an argument of a function. Raises UserError;
    RebecaError or LoadError for the model.
    """
    values: dict[str, Any] = {
        "name": re.sub(r"[^a-z0-9]+", "_", f"m_{model.stem.lower()}").removeprefix("m_") or "model",
        "title": model.stem,
        "model": model.name,
        "observe": [observation(each, every) for each in observe],
        "sweep": {name: list(values) for name, values in sweep.items()},
        **{name: value for name, value in settings.items() if value is not None},
    }
    if not values["name"][0].isalpha():
        values["name"] = f"model_{values['name']}"
    given = _Given(observe, str(model) if dashes else model.name, dashes)
    if every is not None and not any("every" in each for each in values["observe"]):
        raise UserError(f"{dashes}every follows variables over time; give one with {dashes}observe")
    if not model.is_file():
        raise UserError(f"{model}: there is no such file")
    try:
        scenario = validated(ModelScenario, given.origin, values, {})
        return LoadedScenario(scenario.completed(model.parent), model.parent)
    except FieldError as error:
        raise UserError(
            "\n".join(f"{given.option(path)}: {message}" for path, message in error.problems)
        ) from error
    except ScenarioError as error:
        raise UserError(_of_options(error, given)) from error


def single_variant(
    model: Path, env: Sequence[str], core: bool = False
) -> tuple[Model, CheckedModel | None]:
    """Load a model with other values of constants and arguments.

    Raises UserError for values that do not fit, RebecaError or LoadError for the model.
    """
    swept = read_sweep(env, "--env", numbers_only=True)
    for name, values in swept.items():
        if len(values) > 1:
            raise UserError(f"--env {name}: one run has one value; give --runs for several")
    if model.suffix not in MODEL_SUFFIXES or not model.is_file():
        load_checked(model)  # raises the error that fits
    source = ModelText(str(model), read_model(model), core)
    opened = open_text(source)
    for name, values in swept.items():
        if fault := sweep_fault(opened, name, tuple(values)):
            raise UserError(f"--env {name}: {fault}")
    changed = open_text(source.with_changes(tuple((name, each[0]) for name, each in swept.items())))
    return changed.model, None if changed.against else changed.checked


def _of_options(error: ScenarioError, given: _Given) -> str:
    """Name the option that each problem is of, where one of `--observe` is wrong."""
    lines = []
    for problem in error.problems:
        place = re.match(r"observe\[(\d+)\]", problem.field)
        where = given.option(("observe", int(place[1]))) if place else problem.field
        lines.append(": ".join(filter(None, (where or given.origin, problem.message))))
    return "\n".join(lines)


def observation(text: str, every: int | None = None) -> dict[str, object]:
    """Read what is to be observed: `office.left`, or `waits=office.buy` and the like."""
    if text == _MISSES:
        return {_MISSES: ALL}
    found = _KEY.fullmatch(text)
    what, said = (found[1], found[2].strip()) if found else ("value", text)
    followed = {} if every is None or what != "value" else {"every": every}
    return {what: said, **followed}
