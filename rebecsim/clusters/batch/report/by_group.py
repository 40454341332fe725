"""Schedules by queue or user, as the answer of a comparison has them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rebecsim.report.groups import GroupAnswer, JobTimes, grouping
from rebecsim.workloads import Schedule
from rebecsim.workloads.logs import labels_of


def answer_of_schedules(schedules: Mapping[str, Schedule], exact: bool) -> GroupAnswer:
    """Compare schedules of the same jobs; the first is what the others are compared with."""
    workload = next(iter(schedules.values())).workload
    columns = []
    for noun in ("queue", "user"):
        labels = labels_of(workload, noun)
        columns.append([labels[number] for number in getattr(workload, noun).tolist()])
    noun, groups = grouping(*columns)
    jobs = np.array([f"job {number}" for number in workload.job.tolist()], dtype=str)
    return GroupAnswer(
        {
            name: JobTimes(jobs, groups, each.wait / 1.0, (each.wait + each.duration) / 1.0)
            for name, each in schedules.items()
        },
        noun,
        exact,
    )
