"""What reports of Slurm show beyond what all kinds have: who waits longer under each file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rebecsim.clusters.kit.report import by_group_section, first_cells, read_table, values_of
from rebecsim.clusters.slurm.results import JOBS
from rebecsim.report.groups import GroupAnswer, JobTimes
from rebecsim.studies.cells import Condition, Section
from rebecsim.studies.plan import Plan

if TYPE_CHECKING:
    from rebecsim.studies.results import Results
    from rebecsim.studies.study import PlannedCell


def slurm_sections(plan: Plan, results: Results) -> Sequence[Section]:
    """Give the answer by user, account, partition or QOS, as the scenario asks for."""
    by: str = plan.scenario.by
    answers: dict[Condition, GroupAnswer] = {}
    for condition, cells in first_cells(plan).items():
        runs = {name: _times(results, cell, by) for name, cell in cells.items()}
        answers[condition] = GroupAnswer(runs, by, exact=not plan.has_chance)
    if not all(len(each) for answer in answers.values() for each in answer.runs.values()):
        return ()
    return (by_group_section(answers, leads=True, terminal=True),)


def _times(results: Results, cell: PlannedCell, by: str) -> JobTimes:
    """Read the waits of a run: of each job its last stretch."""
    table = read_table(results, cell, JOBS, first=True)
    table = table.filter(values_of(table, "start") >= 0)
    last = {number: place for place, number in enumerate(values_of(table, "job").tolist())}
    order = sorted(last.values())
    columns = {
        name: values_of(table, name)[order] for name in ("job", "submit", "start", "end", by)
    }
    return JobTimes(
        columns["job"].astype(str),
        columns[by].astype(str),
        (columns["start"] - columns["submit"]) / 1.0,
        (columns["end"] - columns["submit"]) / 1.0,
    )
