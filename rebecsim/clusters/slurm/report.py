"""What reports of Slurm show beyond what all kinds have: who waits longer under each file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rebecsim.clusters.kit.report import by_group_section, first_cells, read_table, values_of
from rebecsim.clusters.slurm.results import JOBS, times_of
from rebecsim.report.groups import GroupAnswer, JobTimes
from rebecsim.studies.cells import Condition, Section
from rebecsim.studies.plan import Plan

if TYPE_CHECKING:
    from rebecsim.studies.results import Results


def slurm_sections(plan: Plan, results: Results) -> Sequence[Section]:
    """Give the answer by user, account, partition or QOS, as the scenario asks for."""
    by = plan.scenario.by
    columns = ("job", "submit", "start", "end", by)
    answers: dict[Condition, GroupAnswer] = {}
    for condition, cells in first_cells(plan).items():
        runs: dict[str, JobTimes] = {}
        for name, cell in cells.items():
            table = read_table(results, cell, JOBS, first=True)
            runs[name] = times_of({each: values_of(table, each) for each in columns}, by)
        answers[condition] = GroupAnswer(runs, by, exact=not plan.has_chance)
    if not all(len(each) for answer in answers.values() for each in answer.runs.values()):
        return ()
    return (by_group_section(answers, leads=True, terminal=True),)
