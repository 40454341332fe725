"""Jobs per second of the batch cluster, its growth, and its ratio to a plain Python loop.

`python benchmarks/batch.py [--log KTH-SP2-1996.swf.gz] [--million]` runs a log, and synthetic
workloads of 28 thousand and 300 thousand jobs (with `--million` one of a million), under FCFS and
EASY. The plain loop is written below without rebecs, messages or policies; it must give the same
starts, and is timed in the same process. Times are processor seconds without reading or drawing
the workload; the best of `--times`. For a log, reading it and the ratio with reading on both sides
are printed besides. 20,000 jobs on 5,040 nodes are run in turn with a pool of as many processors.
Memory is the most that the process has had.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import resource
import time
from bisect import bisect_left, insort
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from rebecsim.clusters.batch import NodeGroup, Pool, machine_of, run_schedule
from rebecsim.workloads import Workload, read_swf
from rebecsim.workloads.generation import generate

PROCESSORS = 256
LOAD = 0.7
SIZES = (28_481, 300_000)
MILLION = 1_000_000


def plain(workload: Workload, backfill: bool) -> list[int]:
    """Run FCFS, or EASY by requested times, as a script would; give the start of each job."""
    submit, need = workload.submit.tolist(), workload.processors.tolist()
    estimate = workload.estimate.tolist()
    run = np.minimum(workload.run, workload.estimate).tolist()
    starts = [0] * len(submit)
    queue: list[int] = []
    running: list[tuple[int, int]] = []  # expected end, job
    ends: list[tuple[int, int, int]] = []
    order = itertools.count()  # of starts, in which ends at one time are served
    free, upcoming, count = workload.capacity, 0, len(submit)

    def start(job: int, now: int) -> None:
        nonlocal free
        free -= need[job]
        starts[job] = now
        insort(running, (now + estimate[job], job))
        heapq.heappush(ends, (now + run[job], next(order), job))

    while upcoming < count or ends:
        if not ends or (upcoming < count and submit[upcoming] <= ends[0][0]):
            job, now = upcoming, submit[upcoming]
            upcoming += 1
            queue.append(job)
        else:
            now, _, job = heapq.heappop(ends)
            expected = (starts[job] + estimate[job], job)
            place = bisect_left(running, expected)
            if place < len(running) and running[place] == expected:
                del running[place]
                free += need[job]
            job = -1
        while running and running[0][0] <= now:
            free += need[running.pop(0)[1]]
        if job >= 0 and need[job] > free:
            continue
        begun = 0
        while begun < len(queue) and need[queue[begun]] <= free:
            start(queue[begun], now)
            begun += 1
        del queue[:begun]
        if backfill and free and len(queue) > 1:
            _overtake(queue, running, need, estimate, free, now, start)
    return starts


def _overtake(
    queue: list[int],
    running: list[tuple[int, int]],
    need: list[int],
    estimate: list[int],
    free: int,
    now: int,
    start: Callable[[int, int], None],
) -> None:
    level, shadow = free, now
    for end, job in running:
        if level >= need[queue[0]] and end > shadow:
            break
        level, shadow = level + need[job], end
    extra = level - need[queue[0]]
    left = []
    for job in queue:
        ends_before = now + estimate[job] <= shadow
        if need[job] <= free and (ends_before or need[job] <= extra):
            free -= need[job]
            extra -= 0 if ends_before else need[job]
            start(job, now)
        else:
            left.append(job)
    queue[:] = left


def best(run: Callable[[], Any], times: int) -> tuple[float, Any]:
    """Run something several times; give the least processor seconds, and what it gave."""
    least, given = float("inf"), None
    for _ in range(times):
        begin = time.process_time()
        given = run()
        least = min(least, time.process_time() - begin)
    return least, given


def measure(
    name: str, workload: Workload, times: int, compare: bool = True, reading: float = 0
) -> None:
    """Print a row for each of the two policies; `reading` the workload takes so many seconds."""
    for policy in ("FCFS", "EASY"):
        seconds, schedule = best(partial(run_schedule, workload, policy=policy), times)
        jobs = len(workload)
        ratio = ""
        if compare:
            reference, starts = best(partial(plain, workload, policy == "EASY"), times)
            if schedule.start.tolist() != starts:
                raise SystemExit(f"{name}, {policy}: the plain loop gives another schedule")
            ratio = f"{reference:6.2f} s plain, {seconds / reference:4.1f} times that"
            if reading:
                both = (seconds + reading) / (reference + reading)
                ratio += f"; with {reading:.2f} s of reading {both:4.1f} times"
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{name:10} {policy:5} {jobs:9,} jobs {seconds:7.2f} s {jobs / seconds:8,.0f} jobs/s "
            f"{memory:6,.0f} MB  mean wait {schedule.wait.mean():10,.0f} s  {ratio}",
            flush=True,
        )


def on_nodes(jobs: int, nodes: int, times: int) -> None:
    """Print how long EASY takes on nodes of one processor and in a pool of as many, in turn."""
    workload = generate(jobs, nodes, seed=1, load=LOAD)
    in_pool = partial(run_schedule, workload, Pool(nodes))
    apart = partial(run_schedule, workload, machine_of(NodeGroup(nodes, 1)))
    pairs = [(best(in_pool, 1)[0], best(apart, 1)[0]) for _ in range(times)]
    ratio = median(second / first for first, second in pairs)
    least = [min(column) for column in zip(*pairs, strict=True)]
    print(
        f"synthetic  EASY  {jobs:9,} jobs, a pool of {nodes:,}: {least[0]:.2f} s; as many nodes: "
        f"{least[1]:.2f} s, {ratio:.2f} times as long (median of {times})",
        flush=True,
    )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--log", type=Path, help="a log in SWF")
    parser.add_argument("--million", action="store_true", help="also a million synthetic jobs")
    parser.add_argument(
        "--times", type=int, default=3, help="runs of each, of which the best counts"
    )
    arguments = parser.parse_args()
    if arguments.log is not None:
        reading, workload = best(partial(read_swf, arguments.log), arguments.times)
        measure(arguments.log.name[:10], workload, arguments.times, reading=reading)
    for jobs in SIZES:
        measure("synthetic", generate(jobs, PROCESSORS, seed=1, load=LOAD), arguments.times)
    on_nodes(20_000, 5_040, arguments.times)
    if arguments.million:
        workload = generate(MILLION, PROCESSORS, seed=1, load=LOAD)
        measure("synthetic", workload, 1, compare=False)


if __name__ == "__main__":
    main()
