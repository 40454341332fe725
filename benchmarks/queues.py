"""Seconds of runs under files of Hadoop's queues: many tasks on many nodes.

`python benchmarks/queues.py` draws a trace with a fixed seed and runs it under a
capacity-scheduler.xml and under a fair-scheduler.xml, on nodes of 16 GB with 8 cores. Capacities
are run twice: in a cluster that is full, and with users who are stopped by their limits while nodes
stay free. Times are processor seconds without drawing the trace. `--tasks` and `--nodes` take other
sizes, `--only` one of the files.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rebecsim.clusters.yarn import NodeSize, YarnConfiguration, run_cluster
from rebecsim.clusters.yarn.queue_files.reading import read_queues
from rebecsim.workloads import ContainerJob, TaskClass

MEMORY, CORES = 16_384, 8
PREFIX = "yarn.scheduler.capacity."


def capacities(**values: str) -> str:
    """Write a capacity-scheduler.xml with two leaves, and one with two more."""
    names = {
        "root.queues": "a,b",
        "root.a.capacity": "40",
        "root.b.capacity": "60",
        "root.b.queues": "x,y",
        "root.b.x.capacity": "50",
        "root.b.y.capacity": "50",
        **values,
    }
    entries = "".join(
        f"<property><name>{PREFIX}{name}</name><value>{value}</value></property>\n"
        for name, value in names.items()
    )
    return f"<configuration>{entries}</configuration>"


FILES = {
    "capacities": capacities(**{"user-limit-factor": "-1", "maximum-am-resource-percent": "0.5"}),
    "user limits": capacities(**{"maximum-am-resource-percent": "0.5"}),
    "fair shares": '<allocations><queue name="a"/><queue name="b"><queue name="x"/>'
    '<queue name="y"/></queue></allocations>',
}


def drawn(tasks: int, nodes: int) -> list[ContainerJob]:
    """Draw jobs of some 1000 tasks of a minute or less, which load the nodes a little too much."""
    draws = random.Random(1)
    jobs = []
    while tasks > 0:
        count = min(tasks, draws.randint(1, 2000))
        tasks -= count
        duration, memory = draws.randint(5000, 60_000), draws.choice((1024, 2048, 4096))
        work = (TaskClass("map", count, duration, memory, 1),)
        queue = draws.choice(("root.a", "root.b.x", "root.b.y"))
        user = draws.choice("uvw")
        jobs.append(ContainerJob(len(jobs), None, None, work, queue=queue, user=user))
    area = sum(each.count * each.memory * each.duration for job in jobs for each in job.classes)
    span = int(0.9 * area / (nodes * MEMORY))
    starts = sorted(draws.randrange(span) for _ in jobs)
    return [
        ContainerJob(job.number, start, None, job.classes, queue=job.queue, user=job.user)
        for job, start in zip(jobs, starts, strict=True)
    ]


def main() -> None:
    """Run each file, and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--only", choices=FILES)
    given = parser.parse_args()
    jobs = drawn(given.tasks, given.nodes)
    sizes = [NodeSize(f"n{at}", at, MEMORY, CORES) for at in range(1, given.nodes + 1)]
    for name, text in FILES.items():
        if given.only not in (None, name):
            continue
        with TemporaryDirectory() as folder:
            path = Path(folder) / "queues.xml"
            path.write_text(text)
            queues = read_queues(path)
        begun = time.process_time()
        run = run_cluster(jobs, sizes, YarnConfiguration(queues=queues))
        seconds = time.process_time() - begun
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        last = max(each.end or 0 for each in run.applications) // 1000
        print(
            f"{name}: {given.tasks:,} tasks on {given.nodes:,} nodes: {seconds:.1f} s, "
            f"{run.messages:,} messages, makespan {last:,} s, at most {most:,} MB so far",
            flush=True,
        )


if __name__ == "__main__":
    main()
