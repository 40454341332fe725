"""Explore the cluster of a scenario, cut to a small size: options and answer."""

from __future__ import annotations

import json as json_format
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rebecsim.cli.app import Plugins, open_model, say, say_parts, use_plugins
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

    jobs: int | None = option("Of a scenario: how many jobs are left.", min=1, show_default="3")
    nodes: int | None = option(
        "Of a scenario: how many nodes are left, or pooled processors.", min=1, show_default="2"
    )
    policy: list[str] | None = option("Of a scenario: only this policy; repeatable.")
    cell: str | None = option(
        "Of a scenario whose cells are models: this one, by its name.", show_default="the first one"
    )
    plugin: Plugins = None

    def clusters(self, file: Path) -> Mapping[str, LoadedCluster]:
        """Give the clusters of a scenario by name; none for a model.

        A scenario whose cells are models as they stand has none, too. Raises what
        `rs.small_clusters` raises.
        """
        sizes = {"jobs": self.jobs, "nodes": self.nodes}
        wanted: dict[str, Any] = {**sizes, "policies": self.policy}
        wanted = {name: each for name, each in wanted.items() if each is not None}
        if is_scenario(file):
            from rebecsim.interface.small import is_whole, small_clusters

            use_plugins(self.plugin)
            source = file if file.suffix else str(file)
            if is_whole(source) and set(sizes.values()) == {None}:
                return {}
            if self.cell is not None:
                raise typer.BadParameter(
                    f"{file} is cut by `--jobs`, `--nodes` and `--policy`", param_hint="--cell"
                )
            return small_clusters(source, **wanted)
        if self.cell is not None:
            wanted["cell"] = self.cell
        if wanted:
            raise typer.BadParameter(
                f"{file} is a model; this option works only for scenarios",
                param_hint=f"--{next(iter(wanted)).replace('policies', 'policy')}",
            )
        return {}

    def only_cluster(self, file: Path) -> LoadedCluster | None:
        """Give the cluster of a scenario; None for a model.

        Raises what `clusters` raises, and BadParameter if there are several.
        """
        clusters = self.clusters(file)
        if len(clusters) > 1:
            raise typer.BadParameter(
                f"{file} has several clusters; choose one of {', '.join(clusters)}",
                param_hint="--policy",
            )
        return next(iter(clusters.values()), None)

    def open(self, file: Path, core: bool) -> LoadedModel:
        """Load a model, or the cluster of a scenario.

        Raises what `only_cluster` and `open_model` raise.
        """
        source = self.source(file)
        return open_model(source, core) if isinstance(source, Path) else source

    def source(self, file: Path) -> LoadedModel | Path:
        """Give the cluster of a scenario, or the path of a model, which is not read.

        Raises what `only_cluster` and `model` raise.
        """
        return self.only_cluster(file) or self.model(file) or file

    def model(self, file: Path) -> LoadedModel | None:
        """Give the chosen cell of a scenario whose cells are models; None for a model.

        Raises what `load_cell` raises.
        """
        if not is_scenario(file):
            return None
        from rebecsim.interface.loading import load_cell

        if len(self.policy or ()) > 1:
            raise typer.BadParameter("choose one", param_hint="--policy")
        policy = self.policy[0] if self.policy else ""
        return load_cell(file if file.suffix else str(file), self.cell or "", policy)


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
