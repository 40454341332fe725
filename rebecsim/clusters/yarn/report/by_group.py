"""The jobs of runs by queue or user, as the answer of a comparison has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rebecsim.report.groups import GroupAnswer, JobTimes, grouping, short_names

_SECOND = 1000


def answer_of_tables(
    tables: Mapping[str, Mapping[str, Any]], names: Mapping[int, str], exact: bool
) -> GroupAnswer:
    """Compare runs by the columns of their tables `queue_jobs`; jobs have `names` by number."""
    first = next(iter(tables.values()))
    noun, groups = grouping(first["queue"], first["user"])
    if noun == "queue":
        called = short_names([each for table in tables.values() for each in table["queue"]])
    else:
        called = {each: each for each in groups.tolist() if each}
    return GroupAnswer(
        {
            name: _job_times(table, [called.get(each, "") for each in table[noun or "user"]], names)
            for name, table in tables.items()
        },
        noun,
        exact,
    )


def _job_times(
    table: Mapping[str, Any], groups: Sequence[str], names: Mapping[int, str]
) -> JobTimes:
    group = np.array(groups, dtype=str)
    ended = np.array([each is not None for each in table["ended"]], dtype=bool)
    refused = [bool(each) for each in table["refused"]]
    submitted, started, finished = (
        np.array([each or 0 for each in table[name]], dtype=np.float64) / _SECOND
        for name in ("submitted", "started", "ended")
    )
    jobs = np.array([names.get(each, f"job_{each}") for each in table["job"]], dtype=str)
    return JobTimes(
        jobs[ended],
        group[ended],
        (started - submitted)[ended],
        (finished - submitted)[ended],
        dict(Counter(group[refused].tolist())),
    )
