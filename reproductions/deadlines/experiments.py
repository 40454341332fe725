"""The published experiments on MRCP-RM, HCP-RM and closed problems, run, and shown beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from rebecsim.studies.plan import Plan
from rebecsim.studies.running import PlannedRun
from rebecsim.wording import counted
from reproductions.deadlines.cells import DeadlinePart
from reproductions.deadlines.checks import deadline_parts
from reproductions.deadlines.running import (
    FACEBOOK_JOBS,
    GENERIC_JOBS,
    HADOOP_JOBS,
    HADOOP_LIMIT,
    DeadlineExtent,
    FoundDeadlines,
    deadline_plans,
    found_in,
)
from reproductions.framework import (
    Column,
    Experiments,
    distance_words,
    few_runs_notes,
    markdown_table,
    shares_within,
    text_table,
    within_count,
    written_page,
)

_HEADINGS = ("", "Published", "Ours", "")


def deadlines_view(found: FoundDeadlines, extent: DeadlineExtent) -> Group:
    """Show all parts, and at the end how many cells are within the bounds."""
    parts: list[RenderableType] = []
    every = deadline_parts(found)
    for part in every:
        parts += [Text(part.title, style="bold"), Text(part.bounds, style="dim")]
        parts.append(text_table(map(Column, _HEADINGS), _lines(part)))
        parts += [*map(Text, distance_notes(part)), Text()]
    return Group(*parts, *map(Text, (counts(every), *few_runs_notes(extent.runs))))


def distance_notes(part: DeadlinePart) -> tuple[str, ...]:
    """Say how far the figures of a part are from the published ones, in parts of these."""
    found: dict[str, list[float]] = {}
    for cell in part.cells:
        if cell.distance is not None:
            figure, distance = cell.distance
            found.setdefault(figure, []).append(distance)
    if not found:
        return ()
    words = []
    for figure, distances in found.items():
        median, most = distance_words(distances)
        words.append(f"{figure} {median} and {most} ({counted(len(distances), 'cell')})")
    return (f"Distance from what is published, median and 90th percentile: {', '.join(words)}.",)


def _lines(part: DeadlinePart) -> list[tuple[str, ...]]:
    return [(cell.says, cell.published, cell.ours, cell.verdict) for cell in part.cells]


def counts(parts: Sequence[DeadlinePart]) -> str:
    """Say how many cells of how many are within the bounds."""
    cells = [cell for part in parts for cell in part.cells]
    return f"{shares_within(*within_count(cells), 'the bounds of their parts')}."


def deadlines_markdown(found: FoundDeadlines, extent: DeadlineExtent) -> str:
    """Write all parts as Markdown; it depends on the arguments alone."""
    every = deadline_parts(found)
    texts = [
        "Figures of MRCP-RM, HCP-RM, PSEH and of closed problems (Lim, PhD thesis, Carleton "
        f"University, chapters 3 to 7) beside ours: {counted(extent.runs, 'replication')} of each "
        f"experiment, with {GENERIC_JOBS} jobs of the generic workload, {FACEBOOK_JOBS} "
        f"like those at Facebook and {HADOOP_JOBS} on Hadoop, all of which count; "
        f"decisions there search {HADOOP_LIMIT:g} of deterministic "
        "time. P "
        "is the share of late jobs, T the mean turnaround, O what decisions take for each job by "
        "the wall clock, PO what they take for all jobs of a batch, C the completion of all jobs. "
        "What was decided where the thesis says "
        "nothing, and why some figures differ, is said in "
        "[MapReduce with deadlines, again](background/deadlines.md).",
        counts(every),
        *few_runs_notes(extent.runs),
    ]
    for part in every:
        within, of = within_count(part.cells)
        texts += [f"## {part.title}", f"{within} of {of}. Bounds: {part.bounds}."]
        texts += [*distance_notes(part), markdown_table(_HEADINGS, _lines(part))]
    title = "MapReduce with deadlines: published figures and ours"
    return written_page(f"{extent.command} --page FILE", title, texts)


class DeadlineExperiments(Experiments[FoundDeadlines]):
    """Experiments by name, each with the managers that are compared in it."""

    def __init__(self, extent: DeadlineExtent) -> None:
        self.extent = extent
        self.by_name = deadline_plans(extent)

    def plans(self) -> Mapping[str, Plan]:
        """Lay out all experiments."""
        return {plan.scenario.name: plan for plan in self.by_name.values()}

    def found(
        self, runs: Mapping[str, PlannedRun], orders: Mapping[tuple[str, str], PlannedRun]
    ) -> FoundDeadlines:
        """Compute what each manager has come to."""
        return found_in({name: runs[plan.scenario.name] for name, plan in self.by_name.items()})

    def view(self, found: FoundDeadlines) -> RenderableType:
        """Show all parts, and how many cells are within the bounds."""
        return deadlines_view(found, self.extent)

    def page(self, found: FoundDeadlines) -> str:
        """Write all parts."""
        return deadlines_markdown(found, self.extent)
