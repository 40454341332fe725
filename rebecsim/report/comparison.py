"""Run comparisons with a progress bar, and put together the results that their reports show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rebecsim.metrics import Metric
from rebecsim.studies.cells import POLICIES, Compared, Condition, Section, grouped, leading_section
from rebecsim.studies.differences import PairDifference, pairwise_differences
from rebecsim.studies.moments import CellMoments, PairedMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.precision import Precision, Reached, reached_by
from rebecsim.studies.results import Results, paired_moments
from rebecsim.studies.running import Bar, PlannedRun, StudyRunner, compare, stored_companions
from rebecsim.studies.study import Axis, exact_orders_of
from rebecsim.studies.summary import (
    REFERENCE_ORDER,
    Answer,
    OrderEnvelope,
    Summary,
    answer_of,
    as_lines,
    by_coordinates,
    order_envelopes,
    place_of,
    summarise,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID


@dataclass(frozen=True)
class ReportInput:
    """Results of a comparison with all that a reader needs to judge and repeat it.

    The figures are computed when they are asked for, and once.

    Attributes:
        title: of the scenario, plain text.
        description: of the scenario, plain text; paragraphs are separated by empty lines.
        scenario: the configuration as JSON-like data (str, numbers, bool, None, list, dict).
        seed: from which all random numbers were drawn.
        versions: package -> version.
        moments: one per cell.
        metrics: the columns of the table of policies; the first one matters most.
        choice_law: name of the law by which `?(...)` was resolved ("fair" or "rmc"); None where
            there is no such thing.
        engines: what ran the models ("python", "native"), where that is known.
        inputs: what else the results depend on: name -> checksum.
        charted: what to show along the axis; empty for the same as `metrics`.
        axis: what charts go by; None: there are none.
        separate: coordinates whose values are compared separately.
        swept: the coordinates of swept keys that have several values.
        baseline: the policy that all others are compared with; None: every two are.
        level: confidence level of the intervals, in (0, 1).
        pairs: the same runs in pairs, one entry per condition; empty when policies are not to be
            compared.
        order: in which order messages of one time unit were served; None where there are none.
        orders: message order -> moments of every cell, for order sensitivity; empty, or
            "random" (the order of `moments`) and others.
        order_pairs: the same runs in pairs, for each of these orders.
        precisions: what the runs were to reach, where that was asked for.
        normal_outcomes: the ends of runs that are not worth a warning.
        earned_by: a figure without which, where it is 0, a policy is not marked as the best.
        sections: what the kind adds.
        compared: what policies are called.
        order_notes: what the orders of messages are.
        caution: what must be known before the answer is read.
    """

    title: str
    description: str
    scenario: Mapping[str, Any]
    seed: int
    versions: Mapping[str, str]
    moments: Sequence[CellMoments]
    metrics: tuple[Metric, ...]
    choice_law: str | None = None
    engines: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    charted: tuple[Metric, ...] = ()
    axis: Axis | None = None
    separate: tuple[str, ...] = ()
    swept: tuple[str, ...] = ()
    baseline: str | None = None
    level: float = 0.95
    pairs: Sequence[PairedMoments] = ()
    order: str | None = REFERENCE_ORDER
    orders: Mapping[str, Sequence[CellMoments]] = field(default_factory=dict)
    order_pairs: Mapping[str, Sequence[PairedMoments]] = field(default_factory=dict)
    precisions: tuple[Precision, ...] = ()
    normal_outcomes: frozenset[str] = frozenset({"time limit"})
    earned_by: Metric | None = None
    sections: Sequence[Section] = ()
    compared: Compared = POLICIES
    order_notes: tuple[str, ...] = ()
    caution: str = ""

    @cached_property
    def comparisons(self) -> dict[Condition, ReportInput]:
        """The separate comparisons, each as a report of its own."""
        return {
            condition: replace(
                self,
                moments=moments,
                separate=(),
                pairs=self._under(condition, self.pairs),
                orders={
                    order: by_coordinates(cells, self.separate)[condition]
                    for order, cells in self.orders.items()
                },
                order_pairs={
                    order: self._under(condition, pairs)
                    for order, pairs in self.order_pairs.items()
                },
            )
            if self.separate
            else self
            for condition, moments in by_coordinates(self.moments, self.separate).items()
        }

    def _under(
        self, condition: Condition, pairs: Sequence[PairedMoments]
    ) -> Sequence[PairedMoments]:
        return [each for each in pairs if each.condition.only(self.separate) == condition]

    @property
    def leading(self) -> Section | None:
        """The section that answers what the user asks, if there is one."""
        return leading_section(self.sections)

    @property
    def has_chance(self) -> bool:
        """Whether anything in the runs was drawn."""
        return any(each.is_random for each in self.moments)

    @cached_property
    def summary(self) -> Summary:
        """The results pooled per policy; raises as `summarise` does."""
        return self._summary(self.moments, self.metrics)

    @cached_property
    def by_axis(self) -> dict[Condition, Summary]:
        """The results along the axis, for each condition that is compared separately.

        The conditions are named by what they differ in; the values of other swept keys are named
        with the policies. Empty without an axis; raises as `summarise` does.
        """
        if self.axis is None:
            return {}
        kept = (self.axis.coordinate, *self.swept)
        others = [
            name
            for name in self.separate
            if name not in kept and len(by_coordinates(self.moments, (name,))) > 1
        ]
        lines = [name for name in self.swept if name != self.axis.coordinate]
        metrics = self.charted or self.metrics
        groups = by_coordinates(self.moments, others)
        return {
            condition: self._summary(as_lines(group, lines), metrics)
            for condition, group in groups.items()
        }

    def _summary(self, moments: Sequence[CellMoments], metrics: Sequence[Metric]) -> Summary:
        return summarise(
            moments,
            metrics,
            self.level,
            axis=None if self.axis is None else self.axis.coordinate,
            normal_outcomes=self.normal_outcomes,
            earned_by=self.earned_by,
        )

    @cached_property
    def differences(self) -> tuple[PairDifference, ...]:
        """Policies compared run by run; raises as `pairwise_differences` does."""
        return pairwise_differences(
            self.metrics, self.pairs, self.level, self.has_chance, self.baseline
        )

    @cached_property
    def answer(self) -> Answer:
        """Who has the best figure, the first one, under each condition that is told apart.

        Raises as `summarise` and `pairwise_differences` do.
        """
        moments, by = self.moments, self.separate
        if self.axis is not None:
            along = self.axis.coordinate
            by = tuple(dict.fromkeys((*by, along)))
            moments = sorted(moments, key=lambda each: place_of(each.cell, along))
        return answer_of(self.metrics[0], moments, self.pairs, by, self.level, self.baseline)

    @cached_property
    def envelopes(self) -> tuple[OrderEnvelope, ...]:
        """The figures under all message orders; raises as `order_envelopes` does."""
        return order_envelopes(self.orders, self.metrics, self.level)

    @cached_property
    def order_differences(self) -> dict[str, tuple[PairDifference, ...]]:
        """Policies compared in each message order; raises as `pairwise_differences`."""
        others = {
            order: pairwise_differences(self.metrics, pairs, self.level)
            for order, pairs in self.order_pairs.items()
            if order != self.order
        }
        return {self.order: self.differences, **others} if others and self.order else {}

    @cached_property
    def reached(self) -> tuple[tuple[Precision, tuple[Reached, ...]], ...]:
        """How precisely each policy is known, for each precision that was asked for."""
        drawn = [each for each in self.moments if each.is_random] or self.moments
        by_policy = grouped(drawn, lambda each: each.cell.policy)
        return tuple(
            (target, tuple(reached_by(name, group, target) for name, group in by_policy.items()))
            for target in self.precisions
        )


def compared(
    run: PlannedRun, runner: StudyRunner, with_others: bool, exact_states: int | None = None
) -> ReportInput:
    """Run a comparison, on request also in other message orders.

    With `exact_states`, the best case, worst case and mean over all orders are computed, too, from
    so many states of each cell. Raises as `run_plans`, and UserError where that is unsupported.
    """
    if run.plan.search:
        from rebecsim.report.searched import search

        search(run, runner)
        return report_input(run.plan, run.results)
    compare(run, runner, with_others)
    if exact_states is not None:
        exact_orders_of(run.plan.study).reckon(run.plan, run.results, runner.executor, exact_states)
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
    moments = moments_apart(plan.search, results.moments(plan))
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
        charted=plan.comparison.charted,
        axis=None if plan.search else plan.axis,
        separate=() if plan.search else plan.separate,
        swept=() if plan.search else tuple(each.coordinate for each in plan.swept.axes),
        baseline=plan.comparison.baseline,
        level=scenario.level,
        pairs=pairs,
        order=order,
        orders={order: moments, **orders} if orders and order else {},
        order_pairs={order: pairs, **order_pairs} if orders and order else {},
        precisions=plan.precisions,
        normal_outcomes=study.normal_outcomes,
        earned_by=study.earned_by,
        sections=sections_of(plan, results, moments),
        compared=study.compared,
        order_notes=study.order_notes,
        caution=plan.caution,
    )


def moments_apart(search: Any, moments: list[CellMoments]) -> list[CellMoments]:
    """Give the cells of a search that has chosen some a name each; policies have other ones."""
    if not moments or not (search or {}).get("cells"):
        return moments
    return as_lines(moments, moments[0].cell.condition.names)


def _unless_swept(scenario: Any, key: str) -> Any:
    """Give the value of a key that some kinds have, where it is the same in all cells."""
    return None if key in scenario.swept else getattr(scenario, key, None)


def sections_of(plan: Plan, results: Results, moments: Sequence[CellMoments]) -> Sequence[Section]:
    """Give what the kind adds, at the first of the swept values, after what these change.

    Of a search, give what was found.
    """
    if plan.search:
        from rebecsim.report.searched import search_section

        return (search_section(plan, results),)
    _, first = plan.settings[0]
    found = plan.study.sections(first, results, moments[: len(first.cells)])
    if not plan.scenario.swept:
        return found
    from rebecsim.report.axis_sections import along_sections, of_first_setting
    from rebecsim.report.maps import map_sections

    swept = (*map_sections(plan, results, moments), *along_sections(plan, results, moments))
    return (*swept, *of_first_setting(plan, found))


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
    """The other inputs of results: files that the scenario names, and plug-ins."""
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


_BAR = 20  # characters: a window of 80 has room for a name beside it


@dataclass(frozen=True)
class _Shown:
    """A bar on a screen."""

    progress: Progress
    task: TaskID

    def start(self, total: int) -> None:
        self.progress.reset(self.task, total=total)

    def advance(self, finished: int) -> None:
        self.progress.advance(self.task, finished)


@contextmanager
def progress_bar(
    runs: Sequence[PlannedRun], console: Console, is_wanted: bool = True
) -> Iterator[Bar]:
    """Show a bar while the block works, and remove it afterwards.

    Nothing is shown if it is not wanted, or the console is a file or a pipe.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.table import Column

    is_seen = is_wanted and (console.is_terminal or console.is_jupyter)
    columns = (
        TextColumn("{task.description}", table_column=Column(ratio=1, no_wrap=True)),
        BarColumn(_BAR),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TextColumn(runs[0].plan.study.counted),
        TimeElapsedColumn(),
    )
    # Rich 13 ends a line where a bar that is not shown was.
    shown_on = console if is_seen else Console(quiet=True)
    with Progress(
        *columns, console=shown_on, transient=True, disable=not is_seen, expand=True
    ) as progress:
        yield _Shown(progress, progress.add_task(_described(runs)))


def _described(runs: Sequence[PlannedRun]) -> str:
    """Say what is running: the scenario, and the laws and orders of its runs if it has such."""
    scenarios = [run.plan.scenario for run in runs]
    laws = "/".join(dict.fromkeys(filter(None, (getattr(s, "choice_law", "") for s in scenarios))))
    orders = ", ".join(dict.fromkeys(filter(None, (getattr(s, "order", "") for s in scenarios))))
    details = f" ({laws} law, {orders} order)" if laws and orders else ""
    return f"{scenarios[0].name}{details}"
