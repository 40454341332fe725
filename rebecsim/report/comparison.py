"""From the results of a comparison to the input of its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rebecsim.report.along import along_sections, of_first_setting
from rebecsim.report.report_input import ReportInput
from rebecsim.studies.plan import Plan
from rebecsim.studies.running.comparing import StudyRunner, compare, stored_companions
from rebecsim.studies.running.runner import PlannedRun
from rebecsim.studies.sections import Section
from rebecsim.studies.statistics.moments import CellMoments
from rebecsim.studies.storage.paired_results import paired_moments
from rebecsim.studies.storage.results import Results


def compared(
    run: PlannedRun, runner: StudyRunner, with_others: bool, exact_states: int | None = None
) -> ReportInput:
    """Do the runs of a comparison, in other message orders too if that is wanted.

    With `exact_states`, what all orders come to is found beside them, from so many states of each
    cell. Raises as `run_plans`, and UserError where that is not known how to do.
    """
    compare(run, runner, with_others)
    if exact_states is not None:
        run.plan.study.reckon_exactly(run.plan, run.results, runner.executor, exact_states)
    stored = stored_companions(run.plan, run.results) if with_others else None
    return report_input(run.plan, run.results, stored)


def report_of_finished(run: PlannedRun) -> tuple[int, ReportInput | None]:
    """Count the cells of a run that are finished, and report those that can be compared.

    These are the cells of the conditions under which all are finished; None if there are none.
    """
    plan, tables = run.plan, run.plan.tables(run.trace)
    finished = {cell for cell in plan.cells if run.results.replications(cell, tables)}
    open_ones = {cell.cell.condition for cell in plan.cells if cell not in finished}
    whole = tuple(cell for cell in plan.cells if cell.cell.condition not in open_ones)
    if not whole:
        return len(finished), None
    return len(finished), report_input(replace(plan, cells=whole), run.results)


def report_input(
    plan: Plan, results: Results, beside: Mapping[str, tuple[Plan, Results]] | None = None
) -> ReportInput:
    """Put together what a report shows: the figures, the scenario, and what computed them.

    `beside` are the same cells run in other message orders. Raises ResultsError for results that
    are incomplete or damaged.
    """
    study, scenario, metrics = plan.study, plan.scenario, plan.metrics
    moments = results.moments(plan)
    counters = sorted({name for metric in metrics for name in metric.counters})
    others = (beside or {}).items()
    orders = {name: run.moments(other) for name, (other, run) in others}
    pairs = paired_moments(results, plan.cells, counters)
    order_pairs = {name: paired_moments(run, o.cells, counters) for name, (o, run) in others}
    order = _unless_swept(scenario, "order")
    record = results.record()
    return ReportInput(
        title=scenario.heading,
        description=scenario.description,
        scenario=_settings(plan, moments),
        seed=scenario.seed,
        versions=record["versions"],
        moments=moments,
        metrics=metrics,
        choice_law=_unless_swept(scenario, "choice_law"),
        engines=tuple(record["engines"]),
        inputs=_inputs(record),
        charted=study.charted(scenario),
        axis=plan.axis,
        apart=plan.apart,
        swept=tuple(each.coordinate for each in plan.swept.axes),
        baseline=study.baseline(scenario),
        level=scenario.level,
        pairs=pairs,
        order=order,
        orders={order: moments, **orders} if orders and order else {},
        order_pairs={order: pairs, **order_pairs} if orders and order else {},
        precisions=plan.precisions,
        normal_outcomes=study.normal_outcomes,
        earned_by=study.earned_by,
        sections=_sections(plan, results, moments),
        compared=study.compared,
        order_notes=study.order_notes,
        caution=plan.caution,
    )


def _unless_swept(scenario: Any, key: str) -> Any:
    """Give the value of a key that some kinds have, where it is the same in all cells."""
    return None if key in scenario.swept else getattr(scenario, key, None)


def _sections(plan: Plan, results: Results, moments: Sequence[CellMoments]) -> Sequence[Section]:
    """Give what the kind adds, at the first of the swept values, after what these change."""
    _, first = plan.settings[0]
    found = plan.study.sections(first, results, moments[: len(first.cells)])
    if not plan.scenario.swept:
        return found
    return (*along_sections(plan, results, moments), *of_first_setting(plan, found))


def _settings(plan: Plan, moments: Sequence[CellMoments]) -> dict[str, Any]:
    """The configuration, with the replications that were run where a precision decided on them."""
    scenario = plan.scenario
    settings: dict[str, Any] = scenario.model_dump(
        mode="json", exclude_none=True, exclude=set(scenario.unlisted)
    )
    if not scenario.sweep:
        del settings["sweep"]
    if scenario.precision is not None:
        done = min(each.replications for each in moments)
        settings["replications"] = f"{done} (at most {scenario.replications})"
    return settings


def _inputs(record: Mapping[str, Any]) -> dict[str, str]:
    """What else results depend on: files that the scenario names, and plug-ins."""
    ending = "_blake2b"
    files = {
        f"BLAKE2b checksum of the {name.removesuffix(ending)}": str(digest)
        for name, digest in record.items()
        if name.endswith(ending) and digest
    }
    plugins = {
        f"Plug-in {each['name']}, SHA-256": str(each["sha256"])
        for each in record.get("plugins", [])
    }
    return {**files, **plugins}
