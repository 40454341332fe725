"""Options of `yarn` and `compare` for nodes and the files of Hadoop's schedulers.

`compare` takes the groups in `COMPARE_OPTIONS`; see `rebecsim.clusters.kinds`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rebecsim.cli.running import node_group
from rebecsim.errors import UserError

if TYPE_CHECKING:
    from rebecsim.studies.scenario_files import ScenarioText

NODES = "80:memory=64000,cores=16"
"""The form of an option for nodes, for messages."""

_NO_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST = 50


@dataclass(frozen=True, kw_only=True)
class QueueOptions:
    """Files of Hadoop 3's schedulers."""

    queues: Annotated[
        list[Path] | None,
        typer.Option(
            help="A capacity-scheduler.xml or fair-scheduler.xml as a scheduler; repeatable."
        ),
    ] = None
    yarn_site: Annotated[
        Path | None, typer.Option(help="The cluster's yarn-site.xml, beside the queue files.")
    ] = None

    def tables(self) -> list[dict[str, Any]]:
        """Give them as a scenario has them. Raises UserError for files that are not there."""
        files = self.queues or []
        if self.yarn_site is not None and not files:
            raise UserError("--yarn-site is for --queues FILE")
        for file in (*files, *filter(None, [self.yarn_site])):
            if not file.is_file():
                raise UserError(f"{file}: there is no such file")
        site = {} if self.yarn_site is None else {"yarn_site": str(self.yarn_site)}
        return [
            {"name": name, "queues": str(file), **site}
            for name, file in zip(_names(files), files, strict=True)
        ]


@dataclass(frozen=True, kw_only=True)
class ComparedFiles(QueueOptions):
    """Such files as the policies that are compared, instead of a scenario's."""

    nodes: Annotated[
        list[str] | None,
        typer.Option(help="With --queues: COUNT:memory=MB,cores=N; repeatable for other nodes."),
    ] = None
    topology: Annotated[
        Path | None, typer.Option(help="With --queues: racks and nodes in SLS JSON.")
    ] = None

    def scenario(self, trace: str) -> ScenarioText | None:
        """Give the scenario of a trace; None without files.

        Raises UserError for files that are not there, and for nodes that are not said.
        """
        from rebecsim.studies.scenario_files import ScenarioText

        schedulers = self.tables()
        if not schedulers:
            if self.nodes or self.topology:
                raise UserError(
                    "--nodes and --topology are for --queues FILE; scenarios name their own"
                )
            return None
        if trace.endswith(".toml"):
            raise UserError(
                f"{trace}: with --queues, give a trace of jobs (.json, or .tsv of SWIM); "
                "a scenario names its own queue files under `schedulers`"
            )
        if not Path(trace).is_file():
            raise UserError(f"{trace}: there is no such file; with --queues, give a trace of jobs")
        if not self.nodes and self.topology is None:
            raise UserError(f"give the nodes of the cluster: --nodes {NODES}, or --topology FILE")
        cluster: dict[str, Any] = {"nodes": [alike_nodes(text) for text in self.nodes or ()]}
        if self.topology is not None:
            cluster["topology"] = str(self.topology)
        values = {
            "kind": "yarn",
            "name": "queues",
            "title": " or ".join(each["name"] for each in schedulers),
            "schedulers": schedulers,
            "workload": {"trace": trace},
            "cluster": cluster,
        }
        return ScenarioText(trace, values, {}, Path())


def alike_nodes(text: str) -> dict[str, int]:
    """Read nodes that are alike. Raises UserError."""
    count, amounts = node_group(text, NODES)
    if set(amounts) != {"memory", "cores"}:
        raise UserError(f"--nodes {text}: write it as {NODES}")
    return {"count": count, **amounts}


def _names(files: Sequence[Path]) -> list[str]:
    """Call files by their names, and by as much of their paths as tells them apart."""
    paths = [file.with_suffix("").parts for file in files]
    names: list[str] = []
    for length in range(1, max(map(len, paths), default=0) + 1):
        names = [_name(parts[-length:]) for parts in paths]
        if len(set(map(str.lower, names))) == len(names):
            break
    return names


def _name(parts: Sequence[str]) -> str:
    name = _NO_NAME.sub("_", "_".join(parts)).strip("_.-")[-_LONGEST:].strip("_.-")
    return name if name[:1].isalpha() else f"queues_{name}"


COMPARE_OPTIONS = (ComparedFiles,)
"""What `compare` can make a scenario of this kind from, with a method `scenario`."""
