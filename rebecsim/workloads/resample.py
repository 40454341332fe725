"""Workloads fitted to a log by resampling its users.

After N. Zakay and D. G. Feitelson, "Workload resampling for performance evaluation of parallel job
schedulers" (Concurrency and Computation 26(12), 2014): a user of the result does what one of the
log's did, some whole weeks earlier or later. The dependencies between a user's jobs and the
daily and weekly cycles stay; the users who are active together change. The authors treat users of
a few weeks and of the whole log differently; here all move around the log's weeks as on a ring.
"""

from __future__ import annotations

import numpy as np

from rebecsim.workloads.errors import WorkloadError
from rebecsim.workloads.job import Workload
from rebecsim.workloads.transform import with_later_clock

_WEEK = 7 * 86_400


def resample(
    log: Workload, *, seed: int | np.random.SeedSequence, users: int | None = None
) -> Workload:
    """Draw a workload with `users` users, as many as the log has if not given.

    Users are drawn with replacement, each job of theirs with them, and numbered from 1 as drawn.
    The result lasts as many whole weeks as the log begun, its load grows with `users`. Waits are
    unknown, as are preceding jobs. The same arguments give the same workload. Raises WorkloadError
    for a log that names no users, and for a number of users below 1.
    """
    names, owner = np.unique(log.user, return_inverse=True)
    if (names < 0).any():
        raise WorkloadError("the log does not name the users of all its jobs")
    count = len(names) if users is None else users
    if count < 1:
        raise WorkloadError(f"{count} users: at least 1 is needed")
    root = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    rng = np.random.default_rng(root)
    begin = log.submit[0]
    weeks = int((log.submit[-1] - begin) // _WEEK) + 1
    drawn = rng.integers(len(names), size=count)
    shifts = rng.integers(weeks, size=count) * _WEEK
    of_user = np.split(
        np.argsort(owner, kind="stable"), np.cumsum(np.bincount(owner, minlength=len(names)))[:-1]
    )
    chosen = [of_user[user] for user in drawn]
    jobs = np.concatenate(chosen)
    numbers = np.repeat(np.arange(1, count + 1), [len(each) for each in chosen])
    moved = (log.submit[jobs] - begin + shifts[numbers - 1]) % (weeks * _WEEK)
    order = np.argsort(moved, kind="stable")
    unknown = np.full(len(jobs), -1, dtype=np.int64)
    source = log.header.get("Computer", "a log")
    return log.select(jobs[order]).with_columns(
        submit=moved[order],
        job=np.arange(1, len(jobs) + 1),
        user=numbers[order],
        wait=unknown,
        preceding=unknown.copy(),
        think_time=unknown.copy(),
        header={
            **with_later_clock(log.header, int(begin)),
            "MaxJobs": str(len(jobs)),
            "MaxRecords": str(len(jobs)),
            "Conversion": f"{source}, its users resampled; "
            f"seed entropy {root.entropy}, spawn key {root.spawn_key}",
        },
        skipped={},
    )
