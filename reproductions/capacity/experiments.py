"""The published experiments on Hadoop's Capacity Scheduler, run, and shown beside ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
from rebecsim.clusters.mapreduce.study import STUDY
from rebecsim.report.numbers import DASH
from rebecsim.studies.plan import Plan, plan_study
from rebecsim.studies.running import PlannedRun
from rebecsim.wording import counted
from reproductions.capacity.published import (
    JOBS,
    REAL,
    SENSITIVITY,
    SIMULATED,
    STRAGGLERS,
    ExperimentTable,
    Found,
    Key,
    Published,
    full_verdicts,
)
from reproductions.capacity.running import (
    CapacityExtent,
    experiment_scenarios,
    found_in,
    small_scenarios,
    validation_scenarios,
)
from reproductions.capacity.targets import SMALL_TARGETS, TARGETS, changes, checked, same_directions
from reproductions.framework import (
    Checked,
    Column,
    Experiments,
    markdown_table,
    numbers,
    text_table,
    written_page,
)

_UNITS = {"rack_local": ", in %", "makespan": ", in s"}
_DECIMALS = {"rack_local": 1, "makespan": 0, "response_ratio": 2, "variation": 2}
_OURS, _PUBLISHED = "ours", "published"


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A row of a published table: its name, our figures and the published ones, by experiment."""

    name: str
    ours: tuple[str, ...]
    published: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparedTable:
    """A published table beside ours.

    Attributes:
        title: number and what it shows.
        columns: headings.
        rows: its rows.
        remark: why it is not compared; empty: it is.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[ComparedRow, ...]
    remark: str = ""


def compared_tables(found: Found, tables: Published) -> list[ComparedTable]:
    """Put our figures beside all that are published and of which there are any."""
    compared = [
        _of_experiments(found, each, ran)
        for each in tables.tables
        if (ran := found.ran(*each.experiments))
    ]
    return [*_small_tables(found, tables), *compared]


def _small_tables(found: Found, tables: Published) -> Iterator[ComparedTable]:
    if found.makespans and tables.makespans:
        yield _of_small_runs(found, tables)
        yield _of_pairs(found, tables)
    for number in tables.shared if found.pairings else ():
        yield _of_pairings(found, tables, number)
    if tables.stragglers and found.validation:
        yield _of_stragglers(found, tables)


def _of_pairs(found: Found, tables: Published) -> ComparedTable:
    """Show how one setting changes makespans, and in how many queues as published."""
    theirs = {name: run.queues for name, run in tables.makespans.items()}

    def shown(pairs: Sequence[tuple[float, float]]) -> tuple[str, ...]:
        values = [f"{100 * (after / before - 1):+.1f}" for before, after in pairs]
        return (*values, *[""] * (2 - len(values)))

    rows = []
    for pair in tables.pairs:
        if pair.before not in found.makespans or pair.after not in found.makespans:
            continue
        same = same_directions(pair, found)
        rows.append(
            ComparedRow(
                pair.setting,
                (*shown(changes(pair, found.makespans)), f"{sum(same)} of {len(same)}"),
                (*shown(changes(pair, theirs)), ""),
            )
        )
    columns = ("queue 1", "queue 2", "as published")
    return ComparedTable("Table 5.1: change of makespan by a setting, in %", columns, tuple(rows))


def _of_pairings(found: Found, tables: Published, number: str) -> ComparedTable:
    """Show in how many runs reduces had nodes for themselves, and shared them.

    Beside the real cluster are ours with Hadoop's order of queues, beside the simulator of the
    thesis those with its order, where there are such.
    """
    is_simulated, rows = number == SIMULATED, []
    for each in tables.pairings:
        name = f"slots2_{each.run}"
        by_backlog = f"{name}_backlog"
        ours = found.pairings.get(by_backlog if is_simulated else name, found.pairings.get(name))
        if ours is None:
            continue
        theirs = each.simulated if is_simulated else each.real
        rows.append(
            ComparedRow(
                each.description,
                tuple("{}-{}".format(*ours[job]) for job in JOBS),
                tuple(f"{alone}-{shared}" for alone, shared in theirs),
            )
        )
    columns = tuple(f"{'TS' if job == 'terasort' else 'S'} {user[-1]}" for job, user in JOBS)
    of = "of its simulator" if is_simulated else "of the real cluster"
    title = f"Table {number}: runs {of} in which a reduce had its node for itself, and shared it"
    return ComparedTable(title, columns, tuple(rows))


def _of_stragglers(found: Found, tables: Published) -> ComparedTable:
    rows = []
    for each in tables.stragglers:
        names = [f"slots{slots}_{each.run}" for slots in (1, 2)]
        if all(name in found.validation for name in names):
            ours = tuple(f"{found.validation[name]['stragglers']:.0f}" for name in names)
            rows.append(ComparedRow(each.description, ours, tuple(map(str, each.counts))))
    title = f"Table {STRAGGLERS}: maps that straggle, in ten runs, on the real cluster"
    return ComparedTable(title, ("1 reduce slot", "2 reduce slots"), tuple(rows))


def _of_experiments(found: Found, table: ExperimentTable, ran: Sequence[int]) -> ComparedTable:
    places = [table.experiments.index(each) for each in ran]
    decimals = _DECIMALS[table.figure]

    def ours(name: str) -> tuple[str, ...]:
        family, queue = ("", name) if table.is_by_queue else (name, table.queue)
        keys = (Key(table.figure, each, family, queue) for each in ran)
        return tuple(f"{found.values[key]:.{decimals}f}" for key in keys)

    rows = (
        ComparedRow(name, ours(name), tuple(f"{values[at]:g}" for at in places))
        for name, values in table.rows.items()
    )
    title = f"Table {table.number}: {table.title.lower()}{_UNITS.get(table.figure, '')}"
    return ComparedTable(title, tuple(map(str, ran)), tuple(rows), table.remark)


def _of_small_runs(found: Found, tables: Published) -> ComparedTable:
    most = max(len(run.queues) for run in tables.makespans.values())

    def filled(values: Sequence[float]) -> tuple[str, ...]:
        return (*(f"{each:.0f}" for each in values), *[""] * (most - len(values)))

    rows = (
        ComparedRow(run.description, filled(found.makespans[name]), filled(run.queues))
        for name, run in tables.makespans.items()
        if name in found.makespans
    )
    columns = tuple(f"queue {number}" for number in range(1, most + 1))
    return ComparedTable("Table 5.1: makespan, in s", columns, tuple(rows))


def all_checked(found: Found) -> list[Checked]:
    """Put figures to all that the thesis says."""
    return [checked(target, found) for target in (*TARGETS, *SMALL_TARGETS)]


def reproduction_view(found: Found, extent: CapacityExtent) -> Group:
    """Show all tables, and at the end what of the thesis holds."""
    parts: list[RenderableType] = []
    for table in compared_tables(found, extent.chosen):
        parts += [Text(table.title, style="bold"), _block(table), Text()]
    outcomes = all_checked(found)
    if extent.tables:
        outcomes = [each for each in outcomes if each.verdict != "open"]
    parts.append(summary_view(outcomes))
    if not extent.is_full:
        parts.append(Text(reversals(outcomes)))
    return Group(*parts)


def reversals(outcomes: Sequence[Checked]) -> str:
    """Say which verdicts are others with all experiments, ten times each."""
    full = full_verdicts()
    others = [
        f"{each.name} ({full[each.name]})"
        for each in outcomes
        if each.verdict != "open" and each.verdict != full[each.name]
    ]
    if not others:
        return "All experiments, ten times each, give the same verdicts."
    return f"All experiments, ten times each, reverse {', '.join(others)}."


def _block(table: ComparedTable) -> RenderableType:
    if table.remark:
        return Text(f"not compared: {table.remark}")
    first = Column("Experiment" if table.columns[0].isdigit() else "Run")
    lines = [
        line
        for row in table.rows
        for line in ((row.name, *row.ours), (f"  {_PUBLISHED}", *row.published))
    ]
    return text_table([first, *numbers(table.columns)], lines, _PUBLISHED)


def summary_view(outcomes: Sequence[Checked]) -> Group:
    """Show a line for each target, and how many hold."""
    columns = [Column(is_whole=True), Column(is_whole=True), Column()]
    block = text_table(columns, [(each.name, each.verdict, each.ours) for each in outcomes])
    return Group(Text("What the thesis says", style="bold"), block, Text(verdict_counts(outcomes)))


def verdict_counts(outcomes: Sequence[Checked]) -> str:
    """Say how many targets hold, are missed, and are open."""
    count = Counter(each.verdict for each in outcomes)
    return f"{count['holds']} hold, {count['missed']} are missed, {count['open']} are open."


def reproduction_markdown(found: Found, extent: CapacityExtent) -> str:
    """Write the tables and what holds as Markdown; it depends on the arguments alone."""
    outcomes = all_checked(found)
    parts = [
        f"Figures of Chauhan, thesis, University of Saskatchewan, 2013, beside ours: "
        f"{counted(extent.runs, 'replication')} of each experiment. What "
        "they are of, how the model was set up, and why some differ, is said in "
        "[The Capacity Scheduler, again](background/capacity.md).",
        "## What the thesis says",
        markdown_table(
            ("", "In words", "Tables", "", "Ours"),
            [(each.name, each.says, each.tables, each.verdict, each.ours) for each in outcomes],
        ),
        verdict_counts(outcomes),
        *([] if extent.is_full else [reversals(outcomes)]),
        *(part for table in compared_tables(found, extent.chosen) for part in _section(table)),
    ]
    title = "Hadoop's Capacity Scheduler: published figures and ours"
    return written_page(f"{extent.command} --page FILE", title, parts)


def _section(table: ComparedTable) -> Iterator[str]:
    yield f"## {table.title}"
    if table.remark:
        yield f"Not compared: {table.remark}."
        return
    lines = [
        (row.name if which == _OURS else "", which, *(value or DASH for value in values))
        for row in table.rows
        for which, values in ((_OURS, row.ours), (_PUBLISHED, row.published))
    ]
    yield markdown_table(("", "", *table.columns), lines)


class CapacityExperiments(Experiments[Found]):
    """The large experiments, the small ones, and those beside a real cluster."""

    def __init__(self, extent: CapacityExtent) -> None:
        self.extent = extent
        runs = extent.runs
        is_validated = extent.has(REAL, SIMULATED, STRAGGLERS)
        self.groups = (
            _plans(experiment_scenarios(runs, extent.experiments)),
            _plans(small_scenarios(runs) if extent.has(SENSITIVITY) else ()),
            _plans(validation_scenarios(runs) if is_validated else ()),
        )

    def plans(self) -> Mapping[str, Plan]:
        """Lay out all experiments."""
        return {name: plan for group in self.groups for name, plan in group.items()}

    def found(
        self, runs: Mapping[str, PlannedRun], orders: Mapping[tuple[str, str], PlannedRun]
    ) -> Found:
        """Compute the figures of all."""
        large, small, validation = ([runs[name] for name in group] for group in self.groups)
        return found_in(large, small, validation)

    def view(self, found: Found) -> RenderableType:
        """Show all tables, and at the end what of the thesis holds."""
        return reproduction_view(found, self.extent)

    def page(self, found: Found) -> str:
        """Write the tables and what holds."""
        return reproduction_markdown(found, self.extent)


def _plans(scenarios: Iterable[MapReduceScenario]) -> dict[str, Plan]:
    return {each.name: plan_study(STUDY, each) for each in scenarios}
