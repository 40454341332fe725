"""Tasks per second of YARN clusters, their growth, and their ratio to a plain Python loop.

`python benchmarks/yarn.py` draws traces as DSS's generator does and runs them: 1000 jobs with a
quarter of a million tasks on 100 and on 1000 nodes under REGULAR, and 100 jobs on 100 nodes under
PEEK. The plain loop is written below without rebecs, messages or schedulers; it must end every job
at the same time, and is timed in the same process, in turn. Times are processor seconds without
drawing the trace. `--growth` takes other sizes, each in a process of its own, and gives the most
memory that it has had; `--figure FILE.svg` draws that. With `--times N` it takes them in turn N
times, and gives the least seconds and the most memory of each.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from bisect import insort
from collections.abc import Sequence
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

from rebecsim.clusters.yarn import (
    QUIRKS_OF_DSS,
    Elasticity,
    NodeSize,
    YarnConfiguration,
    penalty_named,
    run_cluster,
)
from rebecsim.workloads import ContainerJob, Spread, TraceModel, generate_containers

MEMORY, CORES = 128_000, 32
SECOND = 1000
GROWTH = ((125, 100), (250, 100), (500, 100), (1000, 100), (1000, 200), (1000, 500), (1000, 1000))


def drawn(jobs: int) -> tuple[ContainerJob, ...]:
    """Draw a trace with some 240 tasks in each job."""
    model = TraceModel(
        jobs,
        Spread("uniform", 0, 20 * jobs),
        Spread("exponential", 1, 1800),
        Spread("uniform", 20, 400),
        Spread("uniform", 1000, 8000),
    )
    return generate_containers(model, 1, like_dss=True)


def node_sizes(count: int) -> list[NodeSize]:
    """Make nodes that are alike."""
    return [NodeSize(f"node{number}", number, MEMORY, CORES) for number in range(1, count + 1)]


def plain(jobs: Sequence[ContainerJob], nodes: int) -> list[int]:
    """Run REGULAR without reservations as a script would; give the end of each job (ms).

    Heartbeats of nodes and AppMasters have a period of a second; an AppMaster takes 1000 MB and a
    core. Each job has one class of tasks.
    """
    free, cores = [MEMORY] * nodes, [CORES] * nodes
    beat, awake = [0] * nodes, [True] * nodes
    booked: list[int] = [0] * nodes
    done: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    of: list[dict[str, Any]] = []
    queue: list[tuple[int, int, int]] = []  # memory, start, job
    events: list[tuple[int, int, int, int, int, int, int]] = []
    number = finished = 0
    ends = [0] * len(jobs)
    submit, node_beat, master_beat, end = range(4)

    def push(at: int, kind: int, one: int, other: int = 0, memory: int = 0) -> None:
        nonlocal number
        number += 1
        heappush(events, (at, 0, number, kind, one, other, memory))

    def wake_node(node: int, now: int) -> None:
        if not awake[node]:
            awake[node] = True
            push(now + ((beat[node] - now) % SECOND or SECOND), node_beat, node)

    def wake_master(job: int, now: int) -> None:
        state = of[job]
        if not state["awake"]:
            state["awake"] = True
            push(now + ((state["beat"] - now) % SECOND or SECOND), master_beat, job)

    def release(node: int, job: int, memory: int, now: int) -> None:
        free[node] += memory
        cores[node] += 1
        done[node].append((job, memory))
        wake_node(node, now)

    def move(job: int, memory: int) -> None:
        state = of[job]
        if state["rank"] is not None:
            queue.remove(state["rank"])
            state["rank"] = None
        state["used"] += memory
        if state["left"]:
            state["rank"] = (state["used"], state["start"], job)
            insort(queue, state["rank"])

    for job, each in enumerate(jobs):
        (task,) = each.classes
        of.append(
            {
                "left": 1 + task.count,
                "task": task,
                "used": 0,
                "start": each.start,
                "beat": 0,
                "awake": False,
                "master": None,
                "launched": False,
                "leaving": False,
                "rank": None,
                "alive": 0,
                "allocated": [],
                "acquired": [],
                "released": 0,
                "counted": 0,
            }
        )
        push(each.start or 0, submit, job)
    gap = SECOND / nodes
    for node in range(nodes):
        push(int(node * gap + 0.5), node_beat, node)

    while finished < len(jobs):
        now, _, _, kind, one, other, memory = heappop(events)
        if kind == end:
            release(one, other, memory, now)
        elif kind == submit:
            state = of[one]
            state["beat"], state["awake"] = now, True
            state["rank"] = (0, now, one)
            insort(queue, state["rank"])
            push(now + SECOND, master_beat, one)
            for node in range(nodes):
                wake_node(node, now)
        elif kind == node_beat:
            awake[one], beat[one] = False, now
            for job, size in done[one]:
                move(job, -size)
                if not of[job]["leaving"]:
                    wake_master(job, now)
                    of[job]["released"] += 1
            done[one].clear()
            given = False
            for _, _, job in queue:
                state = of[job]
                task = state["task"]
                is_master = state["master"] is None
                size = SECOND if is_master else task.memory
                if not (is_master or state["launched"]):
                    continue
                if size <= free[one] and cores[one]:
                    given = True
                    free[one] -= size
                    cores[one] -= 1
                    booked[one] += 1
                    state["left"] -= 1
                    state["alive"] += 1
                    if is_master:
                        state["master"] = (one, size)
                    state["allocated"].append((one, size, 0 if is_master else task.duration))
                    wake_master(job, now)
                    move(job, size)
                    break
            if queue and (given or booked[one]):
                wake_node(one, now)
        else:
            state = of[one]
            state["awake"], state["beat"] = False, now
            if not state["launched"]:
                if state["master"] is None:
                    state["awake"] = True
                    push(now + SECOND, master_beat, one)
                    continue
                state["allocated"] = []
                wake_node(state["master"][0], now)
                booked[state["master"][0]] -= 1
                state["launched"] = True
                for node in range(nodes):
                    wake_node(node, now)
            if state["leaving"]:
                ends[one] = now
                finished += 1
                continue
            launched = state["acquired"]
            for node, *_ in launched:
                wake_node(node, now)
            state["alive"] -= state["counted"]
            taken, ended = state["allocated"], state["released"]
            state["acquired"], state["counted"] = taken, ended
            state["allocated"], state["released"] = [], 0
            if state["alive"] == 1 and not state["left"] and not taken:
                state["leaving"] = True
            if state["leaving"] or taken or ended:
                state["awake"] = True
                push(now + SECOND, master_beat, one)
            for node, size, duration in launched:  # when all this has been sent
                booked[node] -= 1
                push(now + duration, end, node, one, size)
            if state["leaving"]:
                node, size = state["master"]
                release(node, one, size, now)
    return ends


def timed(work: Any, *arguments: Any) -> tuple[float, Any]:
    """Give the processor seconds of a call, and its result."""
    begun = time.process_time()
    result = work(*arguments)
    return time.process_time() - begun, result


def compare(jobs: int, nodes: int) -> None:
    """Run REGULAR here and as the plain loop, in turn, and print both."""
    trace = drawn(jobs)
    tasks = sum(each.count for job in trace for each in job.classes)
    ours, run = timed(
        run_cluster, trace, node_sizes(nodes), YarnConfiguration(quirks=QUIRKS_OF_DSS)
    )
    theirs, ends = timed(plain, trace, nodes)
    assert ends == [each.end for each in run.applications]
    print(
        f"REGULAR {jobs} jobs {tasks:,} tasks {nodes} nodes: {ours:.1f} s, "
        f"{run.messages / ours:,.0f} messages/s; plain loop {theirs:.1f} s, ratio "
        f"{ours / theirs:.2f}",
        flush=True,
    )


def peek(jobs: int, nodes: int) -> None:
    """Run PEEK and print how long that takes."""
    trace = drawn(jobs)
    elasticity = Elasticity(penalty_named("STEP", 1.5))
    seconds, _ = timed(
        run_cluster, trace, node_sizes(nodes), YarnConfiguration("PEEK", elasticity=elasticity)
    )
    print(f"PEEK {jobs} jobs {nodes} nodes: {seconds:.1f} s", flush=True)


def grown(jobs: int, nodes: int) -> None:
    """Print seconds and memory of one size, as a line for `--growth`."""
    trace = drawn(jobs)
    tasks = sum(each.count for job in trace for each in job.classes)
    seconds, _ = timed(
        run_cluster, trace, node_sizes(nodes), YarnConfiguration(quirks=QUIRKS_OF_DSS)
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(jobs, nodes, tasks, f"{seconds:.2f}", f"{peak:.0f}")


def growth(figure: Path | None, times: int) -> None:
    """Take several sizes in turn, each in a process of its own."""
    measured = [[_alone(jobs, nodes) for jobs, nodes in GROWTH] for _ in range(times)]
    rows = []
    for of_size in zip(*measured, strict=True):
        *size, _, _ = of_size[0]
        rows.append([*size, min(row[3] for row in of_size), max(row[4] for row in of_size)])
    for jobs, nodes, tasks, seconds, memory in rows:
        print(
            f"{jobs:5,.0f} jobs {tasks:8,.0f} tasks {nodes:5,.0f} nodes: {seconds:5.1f} s, "
            f"{memory:.0f} MB",
            flush=True,
        )
    if figure is not None:
        draw(rows, figure)


def _alone(jobs: int, nodes: int) -> list[float]:
    command = [sys.executable, __file__, "--one", str(jobs), str(nodes)]
    line = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [float(word) for word in line.split()]


def draw(rows: Sequence[Sequence[float]], path: Path) -> None:
    """Draw seconds and memory over tasks and over nodes."""
    from rebecsim.report.figures import BLUE, new_figure, plain_axes, write_figure

    def made() -> Any:
        figure = new_figure(9, 5.5)
        panels = figure.subplots(2, 2)
        by_tasks = [row for row in rows if row[1] == 100]
        by_nodes = [row for row in rows if row[0] == 1000]
        for column, (chosen, across, label) in enumerate(
            (
                (by_tasks, [row[2] / 1000 for row in by_tasks], "Thousands of tasks, on 100 nodes"),
                (by_nodes, [row[1] for row in by_nodes], "Nodes, of 1,000 jobs"),
            )
        ):
            for line, (value, name) in enumerate(((3, "CPU seconds"), (4, "Peak memory (MB)"))):
                axes = panels[line][column]
                up = [row[value] for row in chosen]
                axes.plot(across, up, "o-", color=BLUE)
                plain_axes(axes, "", label, name)
                axes.set_xlim(0, 1.05 * max(across))
                axes.set_ylim(0, 1.1 * max(up))
        return figure

    write_figure(path, made)


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--one", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        grown(*options.one)
    elif options.growth:
        growth(options.figure, options.times)
    else:
        compare(1000, 100)
        compare(1000, 1000)
        peek(100, 100)


if __name__ == "__main__":
    main()
