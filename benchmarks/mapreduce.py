"""Time of one run of a published experiment on 30 nodes, messages per second, and what takes it.

`python benchmarks/mapreduce.py` runs experiment 1, or another one with `--experiment`, in one
process and gives processor seconds, which are without making jobs and loading modules; the first
run on a machine also compiles the loops over flows and is not counted. Messages are counted by who
serves them. `--profile` says in which modules the time goes, which takes twice as long.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time
from collections import Counter
from pathlib import Path

from rebecsim.clusters.kit import queued
from rebecsim.clusters.mapreduce.cluster import run_mapreduce
from rebecsim.clusters.mapreduce.inputs import RunSetup
from rebecsim.clusters.mapreduce.records import FinishedRun
from rebecsim.clusters.scenarios import load_scenario

PACKAGE = Path(queued.__file__).parents[2]


def main() -> None:
    """Run the experiment and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiment", type=int, default=1)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    setup = setup_of(options.experiment)
    run(setup)
    began = time.process_time()
    finished = run(setup)
    seconds = time.process_time() - began
    makespan = max(job.end or 0 for job in finished.jobs) / 1e6
    print(
        f"experiment {options.experiment}: {len(finished.jobs)} jobs, "
        f"{len(finished.attempts):,} attempts, {makespan:,.0f} s simulated\n"
        f"{seconds:.1f} s of processor, {finished.messages:,} messages, "
        f"{finished.messages / seconds:,.0f} messages/s"
    )
    for name, number in counted_messages(setup).most_common():
        print(f"  {number:9,}  {name}")
    if options.profile:
        profiled(setup)


def setup_of(number: int) -> RunSetup:
    """Find an experiment among the variants of the built-in scenarios."""
    variant = f"experiment_{number}"
    for name in ("capacity_separated", "capacity_interleaved", "capacity_apart"):
        scenario = load_scenario(name)
        if variant in {each.name for each in scenario.variants}:
            return RunSetup(scenario.replace(replications=1), Path(), variant)
    raise SystemExit(f"there is no experiment {number}; they are 1 to 32")


def run(setup: RunSetup) -> FinishedRun:
    """Run the first replication."""
    return run_mapreduce(setup.jobs(0), setup.configuration, setup.scheduler.build, seed=1)


def counted_messages(setup: RunSetup) -> Counter[str]:
    """Count messages by class and message server."""
    counts: Counter[str] = Counter()
    send = queued.QueuedSystem.send

    def counting(system, receiver, server, *others):  # type: ignore[no-untyped-def]
        counts[f"{type(receiver).__name__}.{server.name}"] += 1
        send(system, receiver, server, *others)

    queued.QueuedSystem.send = counting  # type: ignore[method-assign]
    try:
        run(setup)
    finally:
        queued.QueuedSystem.send = send  # type: ignore[method-assign]
    return counts


def profiled(setup: RunSetup) -> None:
    """Print the time spent in each module itself, which is inflated for many short calls."""
    profile = cProfile.Profile()
    profile.runcall(run, setup)
    modules: Counter[str] = Counter()
    for (file, _, _), (_, _, own, _, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        path = Path(file)
        inside = path.is_relative_to(PACKAGE)
        modules[str(path.relative_to(PACKAGE)) if inside else "elsewhere"] += own
    whole = sum(modules.values())
    for name, own in modules.most_common(14):
        print(f"  {own / whole:6.1%}  {name}")


if __name__ == "__main__":
    main()
