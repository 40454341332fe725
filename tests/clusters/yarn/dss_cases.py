"""Cases of DSS: how it was called, what it wrote, and what we would write."""

from __future__ import annotations

import argparse
import shlex
import tarfile
from pathlib import Path

from rebecsim.clusters.yarn.cluster import Finished, run_cluster
from rebecsim.clusters.yarn.configuration import Configuration, Elasticity, InjectedError
from rebecsim.clusters.yarn.elasticity.penalties import penalty_named
from rebecsim.clusters.yarn.node import NodeSize
from rebecsim.clusters.yarn.quirks import QUIRKS_OF_DSS
from rebecsim.clusters.yarn.report.dss_files import dss_files, occupancy_file
from rebecsim.clusters.yarn.schedulers.registry import SCHEDULERS
from rebecsim.workloads.containers.jobs import ContainerJob
from rebecsim.workloads.containers.sls import read_sls_jobs
from rebecsim.workloads.containers.topology import read_sls_topology

RUN_DURATION = "<RUN_DURATION>"
_ERRORS = ("duration", "mem", "ib")


def unpacked(archive: Path, folder: Path) -> Path:
    """Unpack the cases into a folder."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder


def inputs(case: Path) -> tuple[tuple[ContainerJob, ...], list[NodeSize], Configuration]:
    """Read what a case starts from."""
    options = _parser().parse_args(shlex.split((case / "cmd.txt").read_text())[2:])
    sizes: list[NodeSize] = []
    for number, rack in enumerate(read_sls_topology(case / options.topology), start=1):
        count = len(rack.nodes)
        if options.meganode:
            sizes = [NodeSize("meganode1", number, options.memory * count, options.cores * count)]
            continue
        sizes += (
            NodeSize(node.name, place, options.memory, options.cores)
            for place, node in enumerate(rack.nodes, start=len(sizes) + 1)
        )
    return read_sls_jobs(case / options.trace), sizes, _configuration(options)


def written(run: Finished) -> dict[str, str]:
    """Give the files of a run by name."""
    scheduler = SCHEDULERS[run.configuration.scheduler].scheduler
    files = dict(dss_files(run, scheduler.elastic, RUN_DURATION))
    if run.configuration.occupancy_interval:
        files["occupancy.out"] = occupancy_file(run.occupancy)
    return files


def run_case(case: Path) -> dict[str, str]:
    """Run a case, and give its files by name."""
    return written(run_cluster(*inputs(case)))


def expected(case: Path) -> dict[str, str]:
    """Give the files that DSS wrote, by name."""
    return {path.name: path.read_text() for path in case.glob("*.out")}


def _configuration(options: argparse.Namespace) -> Configuration:
    low, high = map(float, options.mem_overestimate_range.split("-"))
    values = vars(options)
    duration, memory, bump = (
        InjectedError(
            values[f"{name}_error"],
            values[f"{name}_error_type"].upper(),
            values[f"{name}_error_mode"].upper(),
        )
        for name in _ERRORS
    )
    elasticity = Elasticity(
        penalty_named(options.penalty, options.ib) if options.penalty else None,
        options.ep,
        (low, high),
        options.mem_overestimate_assume,
        memory,
        bump,
        duration,
        options.duration_error_only_elastic,
    )
    return Configuration(
        options.scheduler.upper(),
        options.node_heartbeat,
        options.master_heartbeat,
        options.master_memory,
        options.master_cores,
        options.r,
        options.use_gaps,
        options.gaps_allow_ams,
        options.assign_multiple,
        options.p.upper() if options.p else None,
        elasticity,
        options.occupancy_stats_interval * 1000,
        quirks=QUIRKS_OF_DSS,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    for flags in (
        ["-r"],
        ["-g", "--use-gaps"],
        ["--gaps-allow-ams"],
        ["--assign-multiple"],
        ["--meganode"],
        ["--duration-error-only-elastic"],
    ):
        parser.add_argument(*flags, action="store_true")
    parser.add_argument("-v", action="count")
    parser.add_argument("-p")
    parser.add_argument("--ep", type=int)
    for name in _ERRORS:
        parser.add_argument(f"--{name}-error", type=int, default=0)
        parser.add_argument(f"--{name}-error-type", default="MIXED")
        parser.add_argument(f"--{name}-error-mode", default="CONSTANT")
    parser.add_argument("--mem-overestimate-range", default="1-1")
    parser.add_argument("--mem-overestimate-assume", type=float, default=1.0)
    parser.add_argument("--occupancy-stats-interval", type=int, default=0)
    parser.add_argument("--occupancy-stats-file")
    for name in ("trace", "topology"):
        parser.add_argument(name)
    for name in (
        *("memory", "cores", "node_heartbeat"),
        *("master_heartbeat", "master_memory", "master_cores"),
    ):
        parser.add_argument(name, type=int)
    parser.add_argument("scheduler", nargs="?", default="regular")
    parser.add_argument("penalty", nargs="?")
    parser.add_argument("ib", nargs="?", type=float)
    return parser
