"""Explore the cluster of a scenario, cut to a small size: options and answer."""

from __future__ import annotations

import json as json_format
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import Plugins, complain, open_model, say, say_parts, use_plugins
from rebecsim.clusters.kit.options import option
from rebecsim.errors import ExitCode

if TYPE_CHECKING:
    from rebecsim.interface import Explored, LoadedCluster, LoadedModel

ModelOrScenario = Annotated[
    Path,
    typer.Argument(
        metavar="model",
        help="A model (.rebeca, or .py with a global `model`), or a scenario, whose cluster is cut "
        "small.",
    ),
]


def is_scenario(file: Path) -> bool:
    """Whether this is a scenario: a TOML file, or the name of one that is built in."""
    if file.suffix:
        return file.suffix == ".toml"
    from rebecsim.studies.scenario_files import builtin_scenarios

    return str(file) in builtin_scenarios()


@dataclass(frozen=True, kw_only=True)
class CutOptions:
    """Options for the size of the cluster; models have none."""

    jobs: int | None = option("Scenario: number of jobs to keep.", min=1, show_default="3")
    nodes: int | None = option(
        "Scenario: number of nodes, or pooled processors, to keep.", min=1, show_default="2"
    )
    policy: list[str] | None = option("Scenario: only this policy; repeatable.")
    cell: str | None = option(
        "Scenario of models: the cell of this name.", show_default="the first one"
    )
    plugin: Plugins = None

    def clusters(self, file: Path) -> Mapping[str, LoadedCluster] | LoadedModel | None:
        """Give the clusters of a scenario by name; None for a model.

        Of a scenario whose cells are models as they stand it is the chosen one. Raises what
        `rs.small_clusters` and `load_cell` raise.
        """
        if not is_scenario(file):
            self._refuse(file)
            return None
        from rebecsim.clusters.scenarios import load
        from rebecsim.interface.loading import cell_of
        from rebecsim.interface.small import cut_small, is_whole
        from rebecsim.studies.small import Cut

        use_plugins(self.plugin)
        source = file if file.suffix else str(file)
        plan, policies = load(source).plan(), self.policy or []
        if is_whole(plan) and self.jobs is None and self.nodes is None:
            if len(policies) > 1:
                raise typer.BadParameter("choose one", param_hint="--policy")
            return cell_of(plan, self.cell or "", "".join(policies), source)
        if self.cell is not None:
            raise typer.BadParameter(
                f"{file} is cut by `--jobs`, `--nodes` and `--policy`", param_hint="--cell"
            )
        cut = Cut(self.jobs or Cut.jobs, self.nodes or Cut.nodes)
        return cut_small(plan, cut, policies, source, lambda why: complain(f"left out: {why}"))

    def _refuse(self, model: Path) -> None:
        """Raise BadParameter for an option, which a model has no use for."""
        given = ("jobs", self.jobs), ("nodes", self.nodes), ("policy", self.policy)
        for name, each in (*given, ("cell", self.cell)):
            if each is not None:
                raise typer.BadParameter(
                    f"{model} is a model; this option works only for scenarios",
                    param_hint=f"--{name}",
                )

    def open(self, file: Path, core: bool) -> LoadedModel:
        """Load a model, or the cluster of a scenario. Raises what `one` and `open_model` raise."""
        return self.one(file) or open_model(file, core)

    def one(self, file: Path) -> LoadedModel | None:
        """Give the cluster, or the chosen cell, of a scenario; None for a model.

        Raises what `clusters` raises, and BadParameter if there are several clusters.
        """
        clusters = self.clusters(file)
        if not isinstance(clusters, Mapping):
            return clusters
        if len(clusters) > 1:
            raise typer.BadParameter(
                f"{file} has several clusters; choose one of {', '.join(clusters)}",
                param_hint="--policy",
            )
        return next(iter(clusters.values()))


def show_clusters(
    scenario: Path, clusters: Mapping[str, LoadedCluster], found: Mapping[str, Explored], json: bool
) -> ExitCode:
    """Say whose scheduler breaks a promise, and which starts depend on the order of messages.

    Gives the worst exit code.
    """
    from rebecsim.report.small_clusters import ExploredCluster, cluster_parts, cluster_to_json

    shown = {}
    for name, each in found.items():
        decided = each.verdict == "satisfied"
        starts = clusters[name].starts(each) if decided else None
        shown[name] = ExploredCluster(clusters[name].cluster, each.result, starts)
    if json:
        values = {name: cluster_to_json(each) for name, each in shown.items()}
        say(json_format.dumps(values, ensure_ascii=False))
    else:
        say_parts(cluster_parts(str(scenario), shown))
    if any("interrupt" in each.result.bounds for each in found.values()):
        return ExitCode.INTERRUPTED
    if any(each.result.is_violation for each in found.values()):
        return ExitCode.VIOLATED
    are_decided = all(each.starts is not None for each in shown.values())
    return ExitCode.FINE if are_decided else ExitCode.UNDECIDED
