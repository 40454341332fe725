"""The command `mapreduce`: jobs on map and reduce slots, under one scheduler or several."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rebecsim.cli.app import Plugins, app, grouped, say, use_plugins
from rebecsim.cli.running import SHORTLY_OF_FILES, ShowingFiles, SizeOptions, show_answer, sized
from rebecsim.clusters.kit.options import key, option
from rebecsim.clusters.mapreduce.configuration import ClusterTable
from rebecsim.errors import UserError

if TYPE_CHECKING:
    from rebecsim.clusters.mapreduce.inputs import RunSetup

_JOBS = "FAMILY:count=4,maps=40,reduces=2,queue=NAME"
_CLASS = "10:map_slots=2,reduce_slots=1"
_CHANGE = "at=600:KEY=VALUE or queue=NAME,below=1:KEY=VALUE"
_NUMBERS = ("count", "maps", "reduces")
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")
_WORDS = ("queue", "user", "priority", "program")


@dataclass(frozen=True, kw_only=True)
class JobOptions:
    """The jobs, where there is no trace of them."""

    jobs: list[str] | None = option(f"Jobs as {_JOBS}; repeatable.")
    mix: Literal["separated", "interleaved", "apart"] | None = option(
        "50 jobs of the published mix for each queue, in this order."
    )
    queue: list[str] | None = option(
        "Queue of jobs of a mix or of SWIM; `--mix apart`: that of small jobs first."
    )

    def table(self, trace: Path | None) -> dict[str, Any]:
        """Give them as a scenario has them. Raises UserError for jobs that cannot be read."""
        queues = self.queue or ["default"]
        found: dict[str, Any] = {}
        if trace is not None and trace.name.removesuffix(".gz").endswith(".json"):
            found["rumen"] = {"trace": str(trace)}
        elif trace is not None:
            found["swim"] = {"trace": str(trace), "queues": queues}
        if self.mix is not None:
            found["mix"] = _mix(self.mix, queues)
        if self.jobs:
            found["jobs"] = [_group(text) for text in self.jobs]
        if not found:
            raise UserError(f"give jobs: a trace, --mix separated, or --jobs {_JOBS}")
        return found


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """The nodes of the cluster."""

    nodes: int = key(ClusterTable, "nodes", "Nodes that run tasks.")
    racks: int = key(ClusterTable, "racks", "Racks of these nodes.")
    map_slots: int = key(ClusterTable, "map_slots", "Map slots of a node.")
    reduce_slots: int = key(ClusterTable, "reduce_slots", "Reduce slots of a node.")
    cores: int = key(ClusterTable, "cores", "Cores of a node.")
    disks: int = key(ClusterTable, "disks", "Disks of a node.")
    disk_read: float = key(ClusterTable, "disk_read", "Read rate of a disk, MiB/s.")
    disk_write: float = key(ClusterTable, "disk_write", "Write rate of a disk, MiB/s.")
    link: float = key(ClusterTable, "link", "Link of a node, Gbit/s.")
    replication: int = key(ClusterTable, "replication", "Copies of each input block.")
    classes: list[str] | None = option(
        f"The first nodes, as {_CLASS}; repeatable for the next ones."
    )

    def table(self) -> dict[str, Any]:
        """Give them as a scenario has them. Raises UserError for classes that cannot be read."""
        return vars(self) | {"classes": [_class(text) for text in self.classes or ()]}


@app.command()
@grouped
def mapreduce(
    trace: Annotated[
        Path | None,
        typer.Argument(
            help="Jobs: SWIM (.tsv), or a history by Rumen (.json), also .gz.", show_default=False
        ),
    ] = None,
    scheduler: Annotated[
        list[str] | None,
        typer.Option(
            show_default="FIFO",
            help="A scheduler: NAME, or NAME=FILE with its settings; repeatable.",
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Setting of CAPACITY without a file; repeatable."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(help=f"Settings that change during the run: {_CHANGE}; repeatable."),
    ] = None,
    of: JobOptions = JobOptions(),
    on: ClusterOptions = ClusterOptions(),
    warm_up: Annotated[
        float, typer.Option(min=0, max=0.9, help="Share of the first jobs that figures leave out.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random choices.")] = 2015,
    out: Annotated[
        Path | None, typer.Option(help="Directory to write tables to, as CSV files.")
    ] = None,
    showing: ShowingFiles = SHORTLY_OF_FILES,
    limits: SizeOptions = SizeOptions(),
    plugin: Plugins = None,
) -> None:
    """Run jobs on the map and reduce slots of Hadoop 1."""
    from rebecsim.clusters.mapreduce.inputs import run_size
    from rebecsim.clusters.mapreduce.report.tables import answer_of_runs, run_tables
    from rebecsim.clusters.mapreduce.tables import tables_of
    from rebecsim.files import Size
    from rebecsim.report.numbers import write_stacked

    use_plugins(plugin)
    setups = _setups(
        variants=[
            each | {"changes": [_change(text) for text in changes or ()]}
            for each in _variants(scheduler or ["FIFO"], _settings("--setting", setting or ()))
        ],
        workload=of.table(trace),
        cluster=on.table(),
        warm_up=warm_up,
        seed=seed,
    )
    with sized(Size.of([(1, run_size(setup)) for setup in setups]), limits):
        idle = [line for setup in setups for line in setup.require_sense()]
        runs = {setup.name: setup.recorded(0) for setup in setups}
    for name, run in runs.items():
        if run.nothing_ran:
            say(f"{name}: {run.nothing_ran}")
    if ran := {name: run for name, run in runs.items() if not run.nothing_ran}:
        measured = {name: run.measured for name, run in runs.items()}
        show_answer(answer_of_runs(ran), lambda: list(run_tables(measured)), showing)
    showing.tell_idle(idle)
    if out is not None:
        write_stacked("variant", {name: tables_of(run) for name, run in runs.items()}, out)
        say(f"tables in {out}")


def _setups(**values: Any) -> list[RunSetup]:
    """Give what is run. Raises UserError for options that a scenario could not have."""
    from rebecsim.clusters.mapreduce.inputs import RunSetup
    from rebecsim.clusters.mapreduce.scenario import MapReduceScenario
    from rebecsim.studies.scenario import validated

    scenario = validated(MapReduceScenario, "mapreduce", {"name": "mapreduce", **values}, {})
    for name in scenario.names:
        file = scenario.variant(name).file
        if file is not None and not Path(file).is_file():
            raise UserError(f"--scheduler: there is no file {file}")
    return [RunSetup(scenario, Path(), name) for name in scenario.names]


def _variants(given: Sequence[str], settings: dict[str, str]) -> list[dict[str, Any]]:
    """Name each scheduler by its file, or else by itself."""
    found: list[dict[str, Any]] = []
    for text in given:
        name, _, file = text.partition("=")
        variant: dict[str, Any] = {"scheduler": name.upper()}
        if file:
            variant |= {"name": _identifier(Path(file)), "file": file}
        else:
            variant["name"] = name.upper()
            if variant["scheduler"] == "CAPACITY":
                variant["settings"] = settings
        found.append(variant)
    if settings and not any("settings" in each for each in found):
        raise UserError("--setting is of CAPACITY without a file; add --scheduler CAPACITY")
    return found


def _identifier(file: Path) -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "_", file.name.removesuffix(".xml")).strip("_")
    return name if name[:1].isalpha() else f"file_{name}"


def _class(text: str) -> dict[str, Any]:
    """Read some nodes and what each has."""
    count, colon, rest = text.partition(":")
    found = {"count": count.strip()}
    for part in rest.split(",") if colon else ():
        name, _, value = part.partition("=")
        found[name.strip()] = value.strip()
    if not all(_NUMBER.fullmatch(each) for each in found.values()):
        raise UserError(f"--classes {text}: write it as {_CLASS}")
    return {name: _number(value) for name, value in found.items()}


def _change(text: str) -> dict[str, Any]:
    """Read when settings change, and which."""
    begin, _, rest = text.partition(":")
    found: dict[str, Any] = {"settings": _settings("--changes", rest.split(","))}
    for part in begin.split(","):
        name, _, value = (each.strip() for each in part.partition("="))
        is_number = name in ("at", "below", "above")
        if name not in ("at", "queue", "figure", "below", "above") or (
            is_number and not _NUMBER.fullmatch(value)
        ):
            raise UserError(f"--changes {text}: write it as {_CHANGE}")
        table = found if name == "at" else found.setdefault("when", {})
        table[name] = _number(value) if is_number else value
    return found


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _settings(option: str, given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise UserError(f"{option} {text}: write settings as queue.NAME.capacity=60")
        found[key.strip()] = value.strip()
    return found


def _mix(pattern: str, queues: Sequence[str]) -> dict[str, Any]:
    if pattern != "apart":
        return {"pattern": pattern, "queues": list(queues)}
    half = len(queues) // 2
    if len(queues) % 2:
        raise UserError("--mix apart: give queues in pairs, first those of small jobs")
    return {"pattern": pattern, "small_queues": list(queues[:half]), "queues": list(queues[half:])}


def _group(text: str) -> dict[str, Any]:
    family, colon, rest = text.partition(":")
    found: dict[str, Any] = {"family": family.strip()}
    for part in rest.split(",") if colon else ():
        name, equals, value = (each.strip() for each in part.partition("="))
        if not equals or name not in (*_NUMBERS, *_WORDS):
            raise UserError(f"--jobs {text}: write it as {_JOBS}; {part!r} is none of these")
        if name in _NUMBERS and not re.fullmatch(r"\d{1,15}", value):
            raise UserError(f"--jobs {text}: {name} should be a whole number, not {value!r}")
        found[name] = int(value) if name in _NUMBERS else value
    if not found["family"] or "maps" not in found:
        raise UserError(f"--jobs {text}: write it as {_JOBS}, with maps at least")
    return found
