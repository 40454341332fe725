"""Running replications of a variant in worker processes, as rows.

The Python engine runs whatever is observed. Compiled code knows the variables at the end of a run
and how it ended, and so does what is asked for nothing else; what it gives is the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rebecsim.actors import Streams
from rebecsim.actors.watchdog import Watchdog
from rebecsim.clusters.model.measures import CURVES, END, ENDINGS, MESSAGES, TABLES, WAITS
from rebecsim.clusters.model.observing import Watched, Watcher
from rebecsim.clusters.model.scenario import ModelScenario
from rebecsim.clusters.model.variants import ModelText, Opened, open_text
from rebecsim.errors import UserError
from rebecsim.native.engines import UNITS_PER_MESSAGE, Engine
from rebecsim.simulation import OUTCOMES, VIOLATIONS, RunResult, Tracer, simulate
from rebecsim.simulation.montecarlo import EngineError, native_for
from rebecsim.simulation.simulator import scheduler_for
from rebecsim.studies.cells import Rows
from rebecsim.studies.simulated import OUTCOME, TRACE_COLUMNS, TRACES

if TYPE_CHECKING:
    from rebecsim.clusters.model.expressions import Expression
    from rebecsim.native.layout import NativeModel

FINISHED = "finished"
"""How a run ends without messages in a state that is terminal."""

DEADLOCK = "deadlock"
"""How it ends without messages in another state."""

STAYS = frozenset({"time limit", "ended", DEADLOCK, FINISHED})
"""Ends after which the state is known up to the last time."""


@dataclass(frozen=True)
class ModelTask:
    """Some replications of a variant.

    Attributes:
        name: of the variant.
        source: its model.
        scenario: what to observe, and how to run.
        key: where the random numbers start.
        replications: which of them.
        engine: who is to run them.
        trace: whether every message is kept.
    """

    name: str
    source: ModelText
    scenario: ModelScenario
    key: tuple[int, int]
    replications: range
    engine: Engine = "python"
    trace: bool = False


@dataclass(frozen=True)
class _Compiled:
    """A variant that can be run, with its expressions."""

    opened: Opened
    watched: Watched
    values: tuple[tuple[str, Expression], ...]
    terminal: Expression | None


@dataclass(frozen=True)
class _Seen:
    """What one run has come to: its columns, and the rows of further tables."""

    columns: dict[str, Any]
    tables: dict[str, list[tuple[Any, ...]]]


def why_python(
    engine: Engine, source: ModelText, scenario: ModelScenario, trace: bool
) -> str | None:
    """Say why only Python can do runs that an engine is asked for; None if compiled code can.

    Raises EngineError if the native engine is asked for and cannot.
    """
    why = "messages are kept" if trace else python_only(source, scenario)
    if why is not None and engine == "native":
        raise EngineError(f"the native engine cannot observe this: {why}; use python or auto")
    return why


def python_only(source: ModelText, scenario: ModelScenario) -> str | None:
    """Say why compiled code cannot observe what a scenario asks for; None if it can."""
    opened = open_text(source)
    if opened.against:
        return f"Python runs it: {opened.against}"
    if scenario.deadline_misses == "count":
        return "messages that are late are served"
    if scenario.terminal is not None:
        return "an end may be a terminal state or a deadlock"
    for each in scenario.observe:
        if each.what not in ("value", "outcome") or each.is_followed:
            return f"{each.label} is observed message by message"
        if each.what == "value" and opened.expression(each.text).member is None:
            return f"{each.label} is not a variable of whole numbers"
    return None


def run_rows(task: ModelTask) -> Rows:
    """Run the replications of a task.

    Raises EngineError or NotNativeError when the native engine is asked for and cannot run it.
    """
    native = None
    if why_python(task.engine, task.source, task.scenario, task.trace) is None:
        native = native_for(task.engine, _work(task), partial(_native_model, task))
    if native is not None:
        return _native_rows(task, native)
    compiled = _compiled(task.source, _Hashed(task.scenario))
    with Watchdog() as watchdog:
        seen = [_run(task, compiled, each, watchdog) for each in task.replications]
    return _joined(task, seen, "python")


def _work(task: ModelTask) -> int:
    until, steps = task.scenario.until, task.scenario.steps
    each = steps * UNITS_PER_MESSAGE if until is None and steps is not None else (until or 0) + 1
    return len(task.replications) * each


class _Hashed:
    """A scenario that a cache can know: the same object is the same scenario."""

    def __init__(self, scenario: ModelScenario) -> None:
        self.scenario = scenario
        self._told = scenario.model_dump_json()

    def __hash__(self) -> int:
        return hash(self._told)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and self._told == other._told


@lru_cache(maxsize=4)  # the tasks of a variant come one after the other
def _compiled(source: ModelText, hashed: _Hashed) -> _Compiled:
    opened, scenario = open_text(source), hashed.scenario

    return _Compiled(
        opened,
        Watched.of(scenario, opened),
        tuple((e.column, opened.expression(e.text)) for e in scenario.observe if e.what == "value"),
        None if scenario.terminal is None else opened.expression(scenario.terminal),
    )


# --- the Python engine ---------------------------------------------------------------------------


def _run(task: ModelTask, compiled: _Compiled, replication: int, watchdog: Watchdog) -> _Seen:
    scenario = task.scenario

    def simulated(max_steps: int | None, tracer: Tracer | None) -> RunResult:
        streams = Streams(task.key, replication)
        return simulate(
            compiled.opened.model,
            scheduler_for(scenario.message_order, streams, scenario.choice_law),
            until=scenario.until,
            max_steps=max_steps,
            tracer=tracer,
            watchdog=watchdog,
            deadlines=scenario.deadline_misses == "end",
        )

    watcher = Watcher(compiled.watched, task.trace)
    is_watched = task.trace or task.source.is_python or compiled.watched.is_needed
    result = simulated(scenario.steps, watcher if is_watched else None)
    system = result.system
    if system is None:
        raise UserError(f"{task.name}: a constructor fails: {result.detail}")
    if result.is_violation and compiled.values:  # the last message leads to no state
        system = simulated(result.steps - 1, None).system
        assert system is not None, "no constructor fails the second time"
    ending: str = result.outcome
    if ending == "ended" and compiled.terminal is not None:
        ending = FINISHED if compiled.terminal.read(system) else DEADLOCK
    end = watcher.end(system, result.time, violated=result.is_violation, stays=ending in STAYS)
    columns: dict[str, Any] = {MESSAGES: result.steps, END: end, OUTCOME: ending}
    for column, expression in compiled.values:
        columns[column] = _number(task, expression.read(system), column, replication)
    columns |= _counted(task.scenario, watcher, ending, end)
    return _Seen(columns, _rows(task, result, watcher, ending, replication))


def _number(task: ModelTask, value: Any, column: str, replication: int) -> Any:
    if not np.isfinite(value):
        raise UserError(f"{task.name}: {column} is {value} in run {replication}, so it has no mean")
    return int(value) if isinstance(value, bool) else value


def _counted(scenario: ModelScenario, watcher: Watcher, ending: str, end: int) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for each in scenario.observe:
        column = each.column
        match each.what:
            case "value" if each.is_followed:
                columns[f"{column}_area"] = watcher.areas[column]
            case "served" | "misses":
                columns[column] = watcher.counts[column]
            case "waits":
                for part in (f"{column}_count", f"{column}_sum"):
                    columns[part] = watcher.counts[part]
            case "first":
                held = watcher.held.get(column)
                columns[f"{column}_held"] = int(held is not None)
                columns[f"{column}_never"] = int(held is None)
                columns[f"{column}_time"] = held or 0
            case "outcome":
                columns |= _outcome(column, each.text, ending)
            case "measure":
                columns |= watcher.measures(column, end)
    return columns


def _outcome(column: str, wanted: str, ending: str) -> dict[str, Any]:
    return {column: int(wanted == ending), f"{column}_not": int(wanted != ending)}


def _rows(
    task: ModelTask, result: RunResult, watcher: Watcher, ending: str, replication: int
) -> dict[str, list[tuple[Any, ...]]]:
    rows: dict[str, list[tuple[Any, ...]]] = {
        WAITS: [(replication, *each) for each in watcher.waits],
        CURVES: [(replication, *each) for each in watcher.points],
        ENDINGS: _ending(replication, ending, result.time, result.detail),
    }
    if task.trace:
        traced = [event.row(replication) for event in watcher.events]
        rows[TRACES] = [tuple(row[name] for name in TRACE_COLUMNS) for row in traced]
    return rows


def _ending(replication: int, ending: str, time: int, detail: str) -> list[tuple[Any, ...]]:
    if ending in ("time limit", "step limit", "ended"):
        return []
    return [(replication, ending, time, detail)]


# --- the native engine ---------------------------------------------------------------------------


def _native_model(task: ModelTask) -> NativeModel:
    return laid_out(task.source)


@lru_cache(maxsize=4)
def laid_out(source: ModelText) -> NativeModel:
    """Give a model as compiled code has it. Raises NotNativeError; Violation of a constructor."""
    from rebecsim.native.layout import native_model
    from rebecsim.simulation.native import kept_model

    opened = open_text(source)
    if source.is_python:
        return native_model(opened.model, opened.checked)
    # The layout depends on the dialect, so the dialect is part of the key.
    file = f"{opened.checked.dialect} {source.file}"
    return kept_model(source.text, file, lambda: native_model(opened.model, opened.checked))


def _native_rows(task: ModelTask, native: NativeModel) -> Rows:
    from rebecsim.simulation.native import run_native

    scenario, opened = task.scenario, open_text(task.source)
    values = [each for each in scenario.observe if each.what == "value"]
    members = [opened.expression(each.text).member for each in values]
    cells = [native.cell_of[_in_python(opened, *each)] for each in members if each is not None]
    run = partial(
        run_native,
        native,
        key=task.key,
        until=scenario.until,
        max_steps=scenario.steps,
        choice_law=scenario.choice_law,
        order=scenario.message_order,
        observed=cells,
    )
    done = run(replications=task.replications)
    seen = []
    for place, (outcome, steps, time) in enumerate(done.ends.tolist()):
        replication, ending = task.replications[place], OUTCOMES[outcome]
        stays = ending in STAYS and scenario.until is not None
        columns: dict[str, Any] = {MESSAGES: steps, END: scenario.until if stays else time}
        columns[OUTCOME] = ending
        # Compiled code tells only why its last run ended.
        again = range(replication, replication + 1)
        has_detail = ending not in (*STAYS, "step limit")
        detail = run(replications=again).detail if has_detail else ""
        last = done.values[place]
        if ending in VIOLATIONS and values:  # the last message leads to no state
            last = run(replications=again, max_steps=steps - 1).values[0]
        for value, each in zip(last.tolist(), values, strict=True):
            columns[each.column] = value
        for each in scenario.observe:
            if each.what == "outcome":
                columns |= _outcome(each.column, each.text, ending)
        seen.append(_Seen(columns, {ENDINGS: _ending(replication, ending, time, detail)}))
    return _joined(task, seen, "native")


def _in_python(opened: Opened, rebec: str, variable: str) -> tuple[str, str]:
    """Give the rebec, and the variable by its name in Python."""
    reactive_class = opened.model.instances[opened.model.positions[rebec]].reactive_class
    found = (v.name for v in reactive_class.__state_variables__ if v.rebeca_name == variable)
    return rebec, next(found)


# --- rows ----------------------------------------------------------------------------------------


def _joined(task: ModelTask, seen: Sequence[_Seen], engine: str) -> Rows:
    columns = {name: [each.columns[name] for each in seen] for name in seen[0].columns}
    rows: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for each in seen:
        for name, some in each.tables.items():
            rows[name] += some
    headings = {**TABLES, TRACES: TRACE_COLUMNS}
    tables = {
        name: dict(zip(headings[name], _transposed(rows[name], len(headings[name])), strict=True))
        for name in headings
    }
    return Rows(columns, tables, engine)


def _transposed(rows: Sequence[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]
