"""A comparison on Dask workers beside the same in one process, and what scheduling costs on many.

    python benchmarks/dask_cluster.py                         seconds on 1 and 2 workers
    python benchmarks/dask_cluster.py --draw docs/assets/dask-scheduling.svg

Measured are the work of a full task (the replications that a worker is sent at a time), whole runs,
and tasks that do nothing, which is what scheduling one costs. Many workers are computed from these:
a scheduler hands out one task after the other, so that n tasks take no less than n times its cost.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from rebecsim.clusters.scenarios import load
from rebecsim.report.figures import COLOURS, new_figure, plain_axes, write_figure
from rebecsim.studies.dask_executor import LOCAL, TaskInputs, dask_executor
from rebecsim.studies.executors import Executor, ThisProcess
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results
from rebecsim.studies.running import PlannedRun, run_plans

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCENARIO = "for_edf"
WORKERS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
PER_WORKER = 20
"""Full tasks that each worker gets in what is computed."""


@dataclass(frozen=True)
class Measured:
    """Seconds: of a full task, of scheduling one, and of runs by who did them."""

    task: float
    scheduling: float
    runs: dict[str, float]


def planned(replications: int) -> Plan:
    """Plan the cells of the first policy of the scenario."""
    plan = load(SCENARIO).plan(replications=replications)
    first = plan.cells[0].cell.policy
    return replace(plan, cells=tuple(each for each in plan.cells if each.cell.policy == first))


def seconds_of_run(executor: Executor, replications: int) -> float:
    """Run the scenario by the Python engine, in one order; seconds without starting workers."""
    plan = planned(replications)
    with tempfile.TemporaryDirectory() as folder:
        run = PlannedRun(plan, Results.create(Path(folder, "run"), plan))
        began = time.perf_counter()
        run_plans([run], executor, engine="python")
        return time.perf_counter() - began


def import_all(modules: Sequence[str]) -> None:
    """Import what tasks need, which is not to be measured."""
    for each in modules:
        import_module(each)


def nothing() -> None:
    """Do nothing, on a worker."""


def seconds_of_scheduling(executor: Executor, tasks: int) -> float:
    """Have tasks done that do nothing; seconds for each."""
    began = time.perf_counter()
    for told in [executor.submit(nothing) for _ in range(tasks)]:
        told.result()
    return (time.perf_counter() - began) / tasks


def measure(replications: int, tasks: int) -> Measured:
    """Measure one process and local clusters of 1 and 2 workers."""
    plan = planned(replications)
    seconds_of_run(ThisProcess(), 2)  # imports, and whatever else is done once
    runs = {"one process": seconds_of_run(ThisProcess(), replications)}
    scheduling = []
    for workers in (1, 2):
        with dask_executor(LOCAL, workers, TaskInputs(), print) as executor:
            modules = ("rebecsim.simulation.montecarlo", "rebecsim.studies.simulated")
            for told in [executor.submit(import_all, modules) for _ in range(4 * workers)]:
                told.result()
            name = f"Dask, {workers} worker{'s' * (workers > 1)}"
            runs[name] = seconds_of_run(executor, replications)
            scheduling.append(seconds_of_scheduling(executor, tasks))
    each = runs["one process"] / plan.total
    return Measured(each * plan.study.replications_per_task, min(scheduling), runs)


def efficiency(task: float, scheduling: float, workers: int) -> float:
    """Give the part of all workers' time that is work, with PER_WORKER tasks for each."""
    ideal = PER_WORKER * task
    return ideal / max(PER_WORKER * (task + scheduling), PER_WORKER * workers * scheduling)


def drawn(measured: Measured) -> Figure:
    """Draw the efficiency by the number of workers, for tasks of several sizes."""
    figure = new_figure(7, 3.6)
    axes = figure.subplots()
    plain_axes(axes, "", "Workers", "Part of the time that is work")
    for part, colour in zip((1.0, 0.1, 0.01), COLOURS, strict=False):
        task = measured.task * part
        found = [efficiency(task, measured.scheduling, count) for count in WORKERS]
        axes.plot(WORKERS, found, color=colour, marker="o", markersize=4, label=f"{task:.2g} s")
    axes.set_xscale("log")
    axes.set_xticks([1, 10, 100, 1_000], ["1", "10", "100", "1,000"])
    axes.set_ylim(0, 1.05)
    axes.legend(title="A task takes", frameon=False)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table; draw the figure where that is wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--replications", type=int, default=100, help="of each of the 6 cells")
    parser.add_argument("--tasks", type=int, default=300, help="that do nothing")
    parser.add_argument("--draw", type=Path, help="write the figure there")
    options = parser.parse_args(arguments)
    measured = measure(options.replications, options.tasks)
    for name, seconds in measured.runs.items():
        print(f"{name:<20} {seconds:6.2f} s")
    print(f"a full task          {measured.task:6.2f} s")
    print(f"scheduling a task    {measured.scheduling * 1000:6.2f} ms")
    for workers in (100, 1_000):
        print(f"{workers:,} workers: {efficiency(measured.task, measured.scheduling, workers):.1%}")
    if options.draw is not None:
        options.draw.parent.mkdir(parents=True, exist_ok=True)
        write_figure(options.draw, partial(drawn, measured))


if __name__ == "__main__":
    main()
