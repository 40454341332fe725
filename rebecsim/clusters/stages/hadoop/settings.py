"""How Hadoop runs tasks, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HadoopSettings:
    """What a cluster takes its time for. All times are ms.

    Attributes:
        heartbeat: how often a TaskTracker says what has ended, and asks for tasks.
        overhead: how much longer a task takes than its own time. With 12 s and 3.25 reduces a job
            slots are as much busier than by their work alone as was measured, by 45 s a job.
        transfer: how long a map takes longer where its data are not.
        replicas: how many resources have what a map reads.
        job_task: how long the task takes that sets a job up, before all others of it, and that
            which cleans up behind them; 0: there are none. The thesis has 5 s for the setup of a
            task.
        slow_start: the part of a job's maps that must have ended before its reduces take slots,
            where jobs are taken by their order; plans let reduces wait for all maps.
    """

    heartbeat: int = 3000
    overhead: int = 12_000
    transfer: int = 5000
    replicas: int = 3
    job_task: int = 5000
    slow_start: float = 0.05
