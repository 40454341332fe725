"""The commands `batch` and `validate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rebecsim.cli.app import Plugins, app, complain, grouped, say, use_plugins
from rebecsim.cli.running import (
    JobSize,
    Log,
    Processors,
    Showing,
    SizeOptions,
    Sort,
    node_group,
    read_log,
    show_answer,
    sized,
    told,
)
from rebecsim.clusters.batch.machine import Placement
from rebecsim.clusters.batch.policies.orders import Settings
from rebecsim.clusters.batch.scenario import BatchScenario, MachineTable
from rebecsim.clusters.kit.options import key, option
from rebecsim.errors import ExitCode, UserError
from rebecsim.wording import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rebecsim.clusters.batch import BatchPolicy, Machine, NodeGroup
    from rebecsim.clusters.batch.run import Estimates
    from rebecsim.workloads import Schedule


Believed = Literal["requested", "exact"]
"""Estimates by name."""


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    """What the jobs run on."""

    processors: int | None = key(
        MachineTable, "processors", "Pooled processors, instead of the header's."
    )
    nodes: list[str] | None = option(
        "Nodes instead, as COUNT:processors=N,memory=KB,...; repeatable for other nodes."
    )
    placement: Placement = key(MachineTable, "placement")

    def machine(self) -> Machine[Any] | None:
        """Give it, if one is asked for. Raises UserError for options that exclude each other."""
        from rebecsim.clusters.batch import Pool, machine_of

        if not self.nodes:
            if self.placement != "first-fit":
                raise UserError("--placement needs nodes; give them with --nodes")
            return None if self.processors is None else Pool(self.processors)
        if self.processors is not None:
            raise UserError("give --processors or --nodes, not both")
        return machine_of(*map(_node_group, self.nodes), placement=self.placement)


@dataclass(frozen=True, kw_only=True)
class EstimateOptions:
    """How long jobs are believed to run."""

    estimates: Believed = option("Estimates: the requested times, or the run times.", "requested")
    error: float | None = option(
        "Estimates from the run time to 1 + ERROR times it, at random.", min=0
    )

    def chosen(self) -> Estimates:
        """Give the estimates. Raises UserError for exact ones with an error."""
        from rebecsim.clusters.batch import InflatedEstimates

        if self.error is None:
            return self.estimates
        if self.estimates == "exact":
            raise UserError("--error needs estimates; leave out --estimates exact")
        return InflatedEstimates(self.error)


@dataclass(frozen=True, kw_only=True)
class ShowingFairness(Showing):
    """How much is printed, fair starts or not."""

    fair_starts: bool = key(BatchScenario, "fair_starts")


SHORTLY = ShowingFairness()
"""No more than the answer."""


@app.command()
@grouped
def batch(
    log: Log,
    policy: list[str] | None = option("Name of a batch policy; repeatable.", show_default="EASY"),
    on: MachineOptions = MachineOptions(),
    believed: EstimateOptions = EstimateOptions(),
    options: Settings = Settings(),
    size: JobSize = "requested",
    sort: Sort = False,
    seed: int = option("Seed of the error of estimates.", 0, min=0),
    out: Path | None = option("Write the schedule: .swf, .swf.gz; field 3 is the wait."),
    showing: ShowingFairness = SHORTLY,
    limits: SizeOptions = SizeOptions(),
    plugin: Plugins = None,
) -> None:
    """Run a job log through a batch scheduler, or several."""
    from rebecsim.clusters.batch import PolicySettings, run_schedule
    from rebecsim.clusters.batch.report.text import answer_of_schedules, batch_table, fairness_table
    from rebecsim.clusters.batch.run import size_of_jobs
    from rebecsim.files import Size
    from rebecsim.metrics.metric import batch_metrics, fairness_metrics
    from rebecsim.workloads import write_schedule

    use_plugins(plugin)
    chosen = {each.name: each for each in map(_known_policy, policy or ["EASY"])}
    if out is not None and len(chosen) > 1:
        raise UserError("--out writes one schedule; give one --policy, or leave out --out")
    estimates = believed.chosen()
    machine = on.machine()
    capacity = on.processors if machine is None else machine.processors
    workload = read_log(log, capacity, size, sort)
    with sized(Size.of([(1, size_of_jobs(len(workload)))] * len(chosen)), limits):
        schedules = {
            name: run_schedule(
                workload,
                machine,
                each,
                estimates=estimates,
                settings=PolicySettings(**options.model_dump()),
                seed=seed,
                fair_starts=showing.fair_starts,
            )
            for name, each in chosen.items()
        }

    def more() -> list[RenderableType]:
        tables = [batch_table([(name, batch_metrics(each)) for name, each in schedules.items()])]
        if showing.fair_starts:
            fair = [(name, fairness_metrics(each)) for name, each in schedules.items()]
            tables.append(fairness_table(fair))
        return [*tables]

    answer = answer_of_schedules(schedules, exact=believed.error is None)
    show_answer(answer, more, showing)
    if out is not None:
        write_schedule(next(iter(schedules.values())), out)
        say(f"schedule in {out}")


@app.command()
@grouped
def validate(
    schedule: Annotated[
        Path, typer.Argument(help="A schedule: a log with waits, SWF, PBS or sacct.")
    ],
    processors: Processors = None,
    fcfs: bool = option("Also: jobs start in the order of submission.", False, "--fcfs"),
    easy: bool = option(
        "Also: no head of the queue starts after its first reservation.", False, "--easy"
    ),
    estimates: Believed = option("--easy: the estimates that reservations used.", "requested"),
) -> None:
    """Check that a machine could have run a schedule."""
    import rebecsim.clusters.batch as rules

    read = _read_validated(schedule, processors)
    workload = read.workload
    capacity = workload.capacity
    checks = [rules.check_submissions(read), rules.check_capacity(read, capacity)]
    if fcfs:
        checks.append(rules.check_start_order(read))
    if easy:
        estimate = workload.estimate if estimates == "requested" else read.duration
        checks.append(rules.check_head_reservations(read, capacity, estimate))
    say(f"{schedule}: {len(read):,} jobs on {capacity:,} processors")
    for check in checks:
        if check.holds:
            say(f"  holds: {check.rule}")
        else:
            say(f"  broken by {counted(len(check.offenders), 'job')}: {check.rule}")
            say(f"    first by job {workload.job[check.offenders[0]]}, which {check.first}")
    if not all(check.holds for check in checks):
        raise typer.Exit(ExitCode.VIOLATED)


def _known_policy(name: str) -> BatchPolicy:
    from rebecsim.clusters import UnknownNameError
    from rebecsim.clusters.batch import batch_policy

    try:
        return batch_policy(name)
    except UnknownNameError as error:
        raise UserError(f"--policy: {error}") from error


def _node_group(text: str) -> NodeGroup:
    """Read a group of nodes as in `120:processors=2,memory=1048576`."""
    from rebecsim.clusters.batch import NodeGroup

    count, amounts = node_group(text, "120:processors=2,memory=1048576")
    if "processors" not in amounts:
        raise UserError(f"--nodes {text}: say how many processors a node has, processors=2")
    return NodeGroup(count, amounts.pop("processors"), amounts)


def _read_validated(path: Path, processors: int | None) -> Schedule:
    """Read a schedule as it is: with jobs that start too early or are larger than the machine.

    Of jobs submitted at one time, the smaller number was submitted first: other tools write rows
    in the order of starts or ends.
    """
    import numpy as np

    from rebecsim.workloads import CleaningRules, Schedule, read_log
    from rebecsim.workloads.workload import UNKNOWN

    rules = CleaningRules(size="allocated", sort=True, fits_machine=False)
    workload = told(path, read_log(path, processors=processors, rules=rules))
    known = workload.wait != UNKNOWN
    if not known.any():
        raise UserError(f"{path}: no job has a wait, so this is a log, not a schedule")
    if not known.all():
        complain(f"{path}: {counted(int((~known).sum()), 'job')} without a wait left out")
    order = np.lexsort((workload.job, workload.submit))
    jobs = workload.select(order[known[order]])
    return Schedule(jobs, jobs.submit + jobs.wait, policy=path.name)
