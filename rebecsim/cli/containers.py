"""The `workload` commands for traces of container jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rebecsim.cli.app import console, say
from rebecsim.cli.running import node_group
from rebecsim.clusters.kit.options import option
from rebecsim.errors import UserError
from rebecsim.wording import counted, suggestion
from rebecsim.workloads.files import SLS, SWIM

if TYPE_CHECKING:
    from rebecsim.interface import ContainerJobs
    from rebecsim.workloads import AlikeNodes, AppsRule, SwimRule, TraceModel

Dialect = Annotated[
    Literal["dss", "hadoop"] | None,
    typer.Option(show_default="dss", help="SLS: as DSS or as Hadoop reads it."),
]


@dataclass(frozen=True, kw_only=True)
class SwimOptions:
    """Options for traces without tasks; see `SwimRule` and `AppsRule`."""

    block: int | None = option("SWIM: MB of input of a map.", min=1, show_default="128")
    reducer: int | None = option("SWIM: MB shuffled to a reduce.", min=1, show_default="1024")
    throughput: int | None = option("SWIM: MB a task moves per second.", min=1, show_default="50")
    startup: int | None = option("SWIM: ms to start a task.", min=0, show_default="1000")
    task_memory: int | None = option("SWIM: MB of a container.", min=1, show_default="1024")

    task: int | None = option(
        "ResourceManager: seconds of a task of MapReduce or Tez.", min=1, show_default="60"
    )

    @property
    def of_swim(self) -> dict[str, int | None]:
        """The options for SWIM traces."""
        return {name: value for name, value in vars(self).items() if name != "task"}

    def rule(self) -> SwimRule:
        """Give the rule for SWIM. Raises UserError for an option that is not for it."""
        from rebecsim.workloads import SwimRule

        refuse("this is for applications of the ResourceManager", task=self.task)
        named = {"memory" if n == "task_memory" else n: v for n, v in self.of_swim.items()}
        return SwimRule(**{name: value for name, value in named.items() if value is not None})

    def apps_rule(self, path: Path) -> AppsRule | None:
        """Give the rule for the ResourceManager's applications, if one is asked for.

        Raises UserError for options that are for SWIM.
        """
        from rebecsim.workloads import AppsRule

        refuse(f"for traces of SWIM (.tsv) only, and {path} holds tasks", **self.of_swim)
        return None if self.task is None else AppsRule(self.task)


AS_USUAL = SwimOptions()
"""None given."""


@dataclass(frozen=True, kw_only=True)
class DrawnColumns:
    """Options of synthetic container jobs; see `TraceModel`."""

    sls: bool = option("Jobs of containers, as SLS JSON: .json, .json.gz.", False, "--sls")
    start: str | None = option("SLS: when jobs are submitted (s).", show_default="uniform:0-600")
    tasks: str | None = option("SLS: how many tasks a job has.", show_default="exponential:1-50")
    duration: str | None = option("SLS: duration of each task (s).", show_default="uniform:10-200")
    memory: str | None = option(
        "SLS: MB of each task, in hundreds.", show_default="uniform:500-8000"
    )

    def model(self, jobs: int | None) -> TraceModel:
        """Give the model. Raises UserError, with the option, for a spread that is none."""
        from rebecsim.workloads import Spread, TraceModel, WorkloadError

        spreads: dict[str, Any] = {}
        for each in fields(self)[1:]:
            text = getattr(self, each.name)
            if text is not None:
                try:
                    spreads[each.name] = Spread.of(text)
                except WorkloadError as error:
                    raise UserError(f"--{each.name} {error}") from error
        model = TraceModel() if jobs is None else TraceModel(jobs=jobs)
        return replace(model, **spreads)


NO_COLUMNS = DrawnColumns()
"""None given."""


def refuse(why: str, **options: object) -> None:
    """Raise UserError for given options that have no effect here."""
    given = [name for name, value in options.items() if value is not None and value is not False]
    if given:
        listed = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UserError(f"{listed}: {why}")


def show_containers(path: Path, options: SwimOptions) -> None:
    """Show what a trace is like, or the nodes of a topology."""
    from rebecsim.clusters.yarn.report.trace_text import topology_view
    from rebecsim.workloads import is_sls_topology, read_sls_topology

    if not path.name.endswith(SWIM) and is_sls_topology(path):
        refuse(f"for traces of SWIM (.tsv) only, and {path} holds nodes", **vars(options))
        console().print(topology_view(str(path), read_sls_topology(path)))
        return
    console().print(_read(path, options))


def convert_trace(
    path: Path, out: Path, options: SwimOptions, dialect: Literal["dss", "hadoop"]
) -> None:
    """Write the jobs of a trace in a dialect of SLS."""
    require_sls_name(out)
    _save(_read(path, options), out, dialect)


def generate_trace(
    columns: DrawnColumns,
    out: Path,
    dialect: Literal["dss", "hadoop"],
    *,
    jobs: int | None,
    like: Path | None,
    seed: int,
) -> None:
    """Draw a trace, and write it."""
    from rebecsim.interface import draw_containers

    require_sls_name(out)
    if like not in (None, Path("dss")):
        raise UserError(f"--like {like}: with --sls this is dss, whose random numbers are drawn")
    _save(draw_containers(columns.model(jobs), seed=seed, like_dss=like is not None), out, dialect)


def write_nodes(groups: Sequence[str], racks: int, out: Path) -> None:
    """Write a topology from groups of equal nodes."""
    from rebecsim.workloads import racks_of, write_sls_topology

    require_sls_name(out)
    made = racks_of([_alike(text) for text in groups], racks)
    write_sls_topology(made, out)
    nodes = sum(len(rack.nodes) for rack in made)
    say(f"{counted(nodes, 'node')} in {counted(racks, 'rack')} in {out}")


def _alike(text: str) -> AlikeNodes:
    from rebecsim.workloads import AlikeNodes

    count, amounts = node_group(text, "80:memory=64000,cores=16")
    for name in amounts:
        if name not in ("memory", "cores"):
            hint = suggestion(name, ("memory", "cores"))
            raise UserError(f"--nodes {text}: a node has no {name}; {hint}")
    try:
        return AlikeNodes(count, amounts.get("memory"), amounts.get("cores"))
    except UserError as error:
        raise UserError(f"--nodes {text}: {error}") from error


def require_sls_name(out: Path) -> None:
    """Raise UserError for a file name that is no trace's, or whose directory is missing."""
    if not out.name.endswith(SLS):
        raise UserError(f"{out}: the name of a trace should end with {' or '.join(SLS)}")
    if not out.parent.is_dir():
        raise UserError(f"{out}: there is no directory {out.parent}")


def _read(path: Path, options: SwimOptions) -> ContainerJobs:
    from rebecsim.interface import containers

    is_swim = path.name.endswith(SWIM)
    return containers(path, options.rule() if is_swim else options.apps_rule(path))


def _save(made: ContainerJobs, path: Path, dialect: Literal["dss", "hadoop"]) -> None:
    made.save(path, dialect)
    tasks = sum(each.count for job in made.jobs for each in job.classes)
    say(f"{counted(len(made.jobs), 'job')} with {counted(tasks, 'task')} in {path}")
