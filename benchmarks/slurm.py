"""Processor seconds of a cluster under Slurm, beside `batch` EASY on the same jobs.

`python benchmarks/slurm.py [--jobs 500000] [--loads 0.7 0.9]` draws jobs after Lublin and Feitelson
for 1,000 nodes of 16 cores: 200 users with Zipf shares in 20 accounts, three partitions (one with
half of the nodes and a higher tier of jobs of at most four hours), two QOS, and limits of 1 to 10
times the run time. Slurm has multifactor priorities with fair tree, and backfill with its defaults.
Then the same jobs run under `batch` EASY, in a pool of as many processors and on as many nodes.
Jobs of more than `--widest` cores are not drawn. Times are processor seconds of the run alone.
Memory is the most that the process has had until then.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rebecsim.clusters.batch import NodeGroup, Pool, machine_of, run_schedule
from rebecsim.clusters.slurm.configuration import (
    Accounting,
    Association,
    Cluster,
    NodeSpec,
    Partition,
    PriorityParameters,
    PriorityWeights,
    Qos,
    Selection,
)
from rebecsim.clusters.slurm.jobs import Job, Request
from rebecsim.clusters.slurm.run import run_cluster
from rebecsim.workloads import Workload
from rebecsim.workloads.generation import generate
from rebecsim.workloads.workload import with_load

NODES, CORES = 1_000, 16
USERS, ACCOUNTS = 200, 20
SEED = 1
SHORT = 4 * 3600


def cluster() -> Cluster:
    """Make 1,000 nodes with three partitions, accounts, users and two QOS."""
    names = tuple(f"n{number:04}" for number in range(NODES))
    half = names[: NODES // 2]
    accounts = [
        Association(account=f"a{n}", parent="root", shares=1 + n % 3) for n in range(ACCOUNTS)
    ]
    users = [Association(account=f"a{n % ACCOUNTS}", user=f"u{n}") for n in range(USERS)]
    qos = tuple(Qos(name=name, priority=rank) for name, rank in (("normal", 0), ("high", 100)))
    return Cluster(
        nodes=tuple(
            NodeSpec(name=name, sockets=2, cores=CORES // 2, cpus=CORES, memory=64_000)
            for name in names
        ),
        partitions=(
            Partition(name="main", nodes=names, is_default=True),
            Partition(name="short", nodes=half, time_limit=SHORT, priority_tier=2),
            Partition(name="low", nodes=names, priority_job_factor=0),
        ),
        selection=Selection(type="cons_tres", unit="CORE"),
        priority=PriorityParameters(
            type="multifactor",
            weights=PriorityWeights(age=1_000, fairshare=10_000, job_size=1_000, qos=2_000),
        ),
        accounting=Accounting(
            associations=(Association(account="root"), *accounts, *users),
            qos=qos,
        ),
    )


def draw(jobs: int, load: float, widest: int) -> Workload:
    """Draw jobs of at most so many cores, with requested times; the load is that of all cores."""
    drawn = generate(jobs, widest, seed=SEED, users=USERS)
    rng = np.random.default_rng(SEED)
    longer = drawn.run * rng.choice([1, 1.5, 2, 5, 10], size=jobs)
    estimate = (longer.astype(np.int64) // 600 + 1) * 600
    return with_load(drawn.with_columns(capacity=NODES * CORES, requested_time=estimate), load)


def jobs_of(workload: Workload) -> list[Job]:
    """Make Slurm's jobs of a workload: a tenth of high QOS, a fifth of low priority."""
    rng = np.random.default_rng(SEED + 1)
    luck = rng.random(len(workload)).tolist()
    requests: dict[int, Request] = {}
    found = []
    columns = (workload.submit, workload.run, workload.estimate, workload.processors, workload.user)
    rows = zip(*(each.tolist() for each in columns), strict=True)
    for number, (submit, run, limit, cores, user) in enumerate(rows, 1):
        request = requests.setdefault(cores, Request(tasks=cores))
        user %= USERS
        place = "main"
        if luck[number - 1] > 0.8:
            place = "low"
        elif limit <= SHORT and cores <= NODES * CORES // 8 and luck[number - 1] > 0.4:
            place = "short"
        found.append(
            Job(
                number=number,
                user=f"u{user}",
                account=f"a{user % ACCOUNTS}",
                partitions=(place,),
                qos="high" if luck[number - 1] < 0.1 else "normal",
                submit=submit,
                run=run,
                limit=limit,
                request=request,
            )
        )
    return found


def measured(name: str, run: Callable[[], Any], wait: Callable[[Any], float]) -> None:
    """Run something once, and print its processor seconds and the mean wait."""
    begin = time.process_time()
    found = run()
    seconds = time.process_time() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"  {name:18} {seconds:7.2f} s CPU {memory:6,.0f} MB  mean wait {wait(found):9,.0f} s",
        flush=True,
    )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=500_000)
    parser.add_argument("--loads", type=float, nargs="+", default=[0.7, 0.9])
    parser.add_argument("--widest", type=int, nargs="+", default=[1_024])
    arguments = parser.parse_args()
    for widest in arguments.widest:
        for load in arguments.loads:
            workload = draw(arguments.jobs, load, widest)
            jobs = jobs_of(workload)
            print(f"{len(jobs):,} jobs of at most {widest:,} cores, load {load}", flush=True)
            submit = {each.number: each.submit for each in jobs}

            def wait(found: Any, submit: dict[int, int] = submit) -> float:
                starts = found.starts()
                return float(np.mean([start - submit[n] for n, start in starts.items()]))

            measured("slurm", lambda jobs=jobs: run_cluster(cluster(), jobs), wait)
            for name, machine in (
                ("batch EASY, pool", Pool(NODES * CORES)),
                ("batch EASY, nodes", machine_of(NodeGroup(NODES, CORES))),
            ):

                def run(machine: Any = machine, workload: Workload = workload) -> Any:
                    return run_schedule(workload, machine, policy="EASY")

                measured(name, run, lambda found: float(found.wait.mean()))


if __name__ == "__main__":
    main()
