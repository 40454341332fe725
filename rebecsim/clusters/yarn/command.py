"""The command `yarn`: a trace on a YARN cluster, under one scheduler or several."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rebecsim.cli.app import Plugins, app, complain, console, grouped, say, use_plugins
from rebecsim.cli.running import ShowingFiles, SizeOptions, show_answer, sized
from rebecsim.clusters.kit.options import key, option
from rebecsim.clusters.yarn.compare_options import NODES, QueueOptions, alike_nodes
from rebecsim.clusters.yarn.scenario import ClusterTable
from rebecsim.errors import UserError

if TYPE_CHECKING:
    from rebecsim.clusters.yarn.inputs import RunSetup


_WORTH_WORKERS = 4.0
"""Estimated seconds from which on each run has a process of its own; these take one to begin."""


@dataclass(frozen=True, kw_only=True)
class NodeOptions:
    """The nodes of the cluster."""

    nodes: list[str] | None = option("As COUNT:memory=MB,cores=N; repeatable for other nodes.")
    topology: Path | None = key(
        ClusterTable, "topology", "Racks and nodes in SLS JSON, instead of --nodes."
    )
    memory: int | None = key(
        ClusterTable, "memory", "Memory of nodes for which the topology gives none, in MB."
    )
    cores: int | None = key(
        ClusterTable, "cores", "Cores of nodes for which the topology gives none."
    )
    meganode: bool = key(
        ClusterTable, "meganode", "Replace each rack by one node of its total size."
    )
    node_heartbeat: int = key(
        ClusterTable, "node_heartbeat", "Milliseconds between heartbeats of a node."
    )
    master_heartbeat: int = key(
        ClusterTable, "master_heartbeat", "Milliseconds between heartbeats of an AppMaster."
    )
    master_memory: int = key(ClusterTable, "master_memory", "Memory of an AppMaster, in MB.")
    master_cores: int = key(ClusterTable, "master_cores", "Cores of an AppMaster.")

    def table(self) -> dict[str, Any]:
        """Give them as a scenario has them. Raises UserError for nodes that cannot be read."""
        values: dict[str, Any] = {
            name: value
            for name, value in vars(self).items()
            if name not in ("nodes", "topology") and value is not None
        }
        if self.topology is not None:
            values["topology"] = str(self.topology)
        if self.nodes:
            values["nodes"] = [alike_nodes(text) for text in self.nodes]
        if not self.nodes and self.topology is None:
            raise UserError(f"say which nodes there are: --nodes {NODES}, or --topology FILE")
        return values


@dataclass(frozen=True, kw_only=True)
class AssignmentOptions:
    """How containers are given to jobs."""

    reservations: bool = key(
        ClusterTable, "reservations", "Reserve nodes for tasks that do not fit."
    )
    gaps: bool = key(ClusterTable, "gaps", "Run tasks on reserved nodes until these are needed.")
    gaps_for_masters: bool = key(ClusterTable, "gaps_for_masters", "The same for AppMasters.")
    assign_multiple: bool = key(
        ClusterTable, "assign_multiple", "Assign as many containers as fit at each heartbeat."
    )


@dataclass(frozen=True, kw_only=True)
class ShowingRuns(ShowingFiles):
    """What is printed of the runs."""

    why: str | None = option("Explain what this job waits for, by Hadoop's rules.", metavar="JOB")


@app.command()
@grouped
def yarn(
    trace: Annotated[
        Path,
        typer.Argument(
            help="Jobs. .json: SLS, Rumen, or the ResourceManager's /ws/v1/cluster/apps; "
            ".tsv: SWIM. Also .gz.",
            show_default=False,
        ),
    ],
    scheduler: Annotated[
        list[str] | None,
        typer.Option(
            show_default="REGULAR, without --queues", help="Name of a scheduler; repeatable."
        ),
    ] = None,
    files: QueueOptions = QueueOptions(),
    on: NodeOptions = NodeOptions(),
    how: AssignmentOptions = AssignmentOptions(),
    penalty: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL:BUMP",
            help="How much longer a task takes with less memory, as in STEP:1.5.",
        ),
    ] = None,
    like: Annotated[
        Literal["dss"] | None, typer.Option(help="Behave exactly like this simulator.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random choices.")] = 2015,
    out: Annotated[
        Path | None, typer.Option(help="Directory to write tables to, as CSV files.")
    ] = None,
    showing: ShowingRuns = ShowingRuns(),
    limits: SizeOptions = SizeOptions(),
    plugin: Plugins = None,
) -> None:
    """Run container traces on a YARN cluster; compare queue files."""
    from rebecsim.clusters.kinds import executor_with_plugins
    from rebecsim.clusters.yarn.inputs import run_size
    from rebecsim.clusters.yarn.report.stored import answer_of_tables
    from rebecsim.clusters.yarn.report.text import run_tables, shown_run, write_tables
    from rebecsim.clusters.yarn.report.waits import (
        reasons_table,
        require_explained,
        waits_lines,
        waits_table,
    )
    from rebecsim.clusters.yarn.tables import QUEUE_JOBS
    from rebecsim.files import Size
    from rebecsim.studies.executors import available_workers

    use_plugins(plugin)
    setups = _setups(
        trace,
        tuple(scheduler or (() if files.queues else ("REGULAR",))),
        schedulers=files.tables(),
        cluster={**on.table(), **vars(how)},
        elasticity={} if penalty is None else {"penalty": _penalty(penalty)},
        compatibility=like,
        seed=seed,
    )
    for note in setups[0].left_out:
        complain(note)
    if showing.why is not None:
        require_explained(setups, showing.why)
    whole = showing.more or out is not None or len(setups) == 1
    sizes = [(1, run_size(setup)) for setup in setups]
    is_long = Size.of(sizes).seconds > _WORTH_WORKERS
    workers = min(available_workers(), len(setups)) if is_long else 1
    size = Size.of(sizes, workers)
    with sized(size, limits), executor_with_plugins(workers, (shown_run.__module__,)) as executor:
        done = executor.map(shown_run, setups, repeat(whole), repeat(showing.why))
        runs = dict(zip((setup.scheduler for setup in setups), done, strict=True))
    for name, each in runs.items():
        if each.stuck:
            complain(f"{name}: {each.stuck}; figures are of the {each.served} others")
    tables = {name: each.tables[QUEUE_JOBS] for name, each in runs.items()}
    names = next(iter(runs.values())).names
    waits = {name: each.waited for name, each in runs.items() if each.waited is not None}
    if waits:
        for line in chain.from_iterable(map(waits_lines, waits.values())):
            say(line)
        for table in (*map(waits_table, waits.values()), reasons_table(waits)):
            console().print(table)
    else:
        answer = answer_of_tables(tables, names, exact=True)
        show_answer(answer, lambda: run_tables(runs), showing)
    queues = [setup.queues for setup in setups]
    showing.tell_idle(line for each in queues if each is not None for line in each.idle)
    if out is not None:
        write_tables(runs, out)
        say(f"tables in {out}")


def _setups(trace: Path, policies: tuple[str, ...], **values: Any) -> list[RunSetup]:
    """Give what is run. Raises UserError for options that a scenario could not have."""
    from rebecsim.clusters.yarn.inputs import RunSetup
    from rebecsim.clusters.yarn.scenario import YarnScenario
    from rebecsim.studies.scenario import validated

    given = {"name": "yarn", "policies": policies, "workload": {"trace": str(trace)}, **values}
    scenario = validated(YarnScenario, "yarn", given, {})
    return [RunSetup(scenario, Path(), name) for name in scenario.compared]


def _penalty(text: str) -> dict[str, Any]:
    model, _, bump = text.partition(":")
    try:
        return {"model": model.upper(), "bump": float(bump or 1)}
    except ValueError:
        raise UserError(f"--penalty {text}: write it as STEP:1.5") from None
