"""The command `dss`: arguments, options and files as in the simulator DSS."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from rebecsim.cli.app import app, grouped, say
from rebecsim.cli.running import SizeOptions, sized
from rebecsim.clusters.kit.options import argument, option
from rebecsim.errors import UserError

if TYPE_CHECKING:
    from rebecsim.clusters.yarn import Elasticity, InjectedError, NodeSize, YarnConfiguration

_RANGE = re.compile(r"(\d+(?:\.\d+)?)(?:-(\d+(?:\.\d+)?))?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """What a run starts from, in the order of DSS."""

    trace: Path = argument("Jobs, in the JSON of SLS.")
    topology: Path = argument("Racks and nodes.")
    node_memory: int = argument("MB of each node.")
    node_cores: int = argument("Cores of each node.")
    node_heartbeat: int = argument("Milliseconds between heartbeats of a node.")
    master_heartbeat: int = argument("Milliseconds between heartbeats of an AppMaster.")
    master_memory: int = argument("Memory of an AppMaster, in MB.")
    master_cores: int = argument("Cores of an AppMaster.")
    scheduler: str = argument("Scheduler, in upper or lower case.", "regular")
    penalty: str | None = argument("How much longer a task takes with less memory; needs IB.", None)
    ib: float | None = argument("The bump of the penalty.", None)


@dataclass(frozen=True, kw_only=True)
class Assigning:
    """How nodes are given to jobs."""

    reservations: bool = option("Reserve nodes.", False, "-r", "--use-reservations")
    gaps: bool = option(
        "Run tasks on reserved nodes until these are needed.", False, "-g", "--use-gaps"
    )
    gaps_for_masters: bool = option("The same for AppMasters.", False, "--gaps-allow-ams")
    assign_multiple: bool = option(
        "Assign several containers at each heartbeat.", False, "--assign-multiple"
    )
    meganode: bool = option("Make one node of each rack.", False, "--meganode")
    ep: int | None = option("Percent of nodes that are elastic.", None, "--ep", min=0, max=100)
    race_metric: str = option(
        "RACE_LOCKSTEP: TOTAL_JRT, MAKESPAN, CDF_50, _75, _90 or _99.", "TOTAL_JRT"
    )
    push_back: str | None = option(
        "PEEK's push-back strategy.", None, "-p", "--peek-pushback-strategy", metavar="STRATEGY"
    )


@dataclass(frozen=True, kw_only=True)
class ErrorOptions:
    """Errors in what schedulers believe."""

    duration_error: int | None = option("Percent.", min=0)
    duration_error_type: str = option("MIXED, POSITIVE, NEGATIVE.", "MIXED")
    duration_error_mode: str = option("CONSTANT, RANDOM.", "CONSTANT")
    duration_error_only_elastic: bool = option(
        "Count elastic containers only.", False, "--duration-error-only-elastic"
    )
    mem_error: int | None = option("Percent of the ideal memory.", min=0)
    mem_error_type: str = option("As above.", "MIXED")
    mem_error_mode: str = option("As above.", "CONSTANT")
    ib_error: int | None = option("Percent of the bump.", min=0)
    ib_error_type: str = option("As above.", "MIXED")
    ib_error_mode: str = option("As above.", "CONSTANT")
    mem_overestimate_range: str = option(
        "Factor by which jobs overstate their memory; 2 means 2-2.", "1-1", metavar="A-B"
    )
    mem_overestimate_assume: float = option("Penalty factor that schedulers assume.", 1.0, min=0.01)

    def error(self, name: str) -> InjectedError:
        """Give the error of `duration`, `mem` or `ib`. Raises UserError for unknown words."""
        from rebecsim.clusters.yarn import InjectedError
        from rebecsim.clusters.yarn.configuration import ErrorMode, ErrorSign

        return InjectedError(
            getattr(self, f"{name}_error"),
            _word(f"--{name}-error-type", getattr(self, f"{name}_error_type"), ErrorSign),
            _word(f"--{name}-error-mode", getattr(self, f"{name}_error_mode"), ErrorMode),
        )

    def overestimated(self) -> tuple[float, float]:
        """Give the range of factors. Raises UserError for a text that is none."""
        found = _RANGE.fullmatch(self.mem_overestimate_range)
        low, high = (0.0, 0.0)
        if found:
            low, high = float(found[1]), float(found[2] or found[1])
        if not 0 < low <= high:
            raise UserError(
                f"--mem-overestimate-range {self.mem_overestimate_range}: write it as 2 or as 1-2.5"
            )
        return low, high


@dataclass(frozen=True, kw_only=True)
class Output:
    """What is written."""

    occupancy_stats_interval: int = option(
        "Seconds between samples of the occupancy; 0: one sample.", 0, min=0
    )
    occupancy_stats_file: Path | None = option("File for these samples; needed with an interval.")
    out: Path | None = option("Directory for the files, instead of this one.", show_default=False)
    verbose: int = option("Without effect.", 0, "-v", "--verbose", count=True)
    oracle_debug: bool = option("Without effect.", False, "--oracle-debug")


@app.command()
@grouped
def dss(
    given: Arguments,
    assigning: Assigning = Assigning(),
    errors: ErrorOptions = ErrorOptions(),
    output: Output = Output(),
    limits: SizeOptions = SizeOptions(),
) -> None:
    """Run a trace as the simulator DSS does, byte for byte."""
    from rebecsim.clusters.yarn import run_cluster
    from rebecsim.clusters.yarn.inputs import size_of_jobs
    from rebecsim.clusters.yarn.report.dss_files import write_dss_files
    from rebecsim.files import Size
    from rebecsim.workloads.sls import read_sls_jobs

    interval, file = output.occupancy_stats_interval, output.occupancy_stats_file
    if interval and file is None:
        raise UserError("--occupancy-stats-interval needs --occupancy-stats-file")
    configuration = _configuration(
        given, assigning, errors, None if file is None else interval * 1000
    )
    nodes = _nodes(given, assigning.meganode)
    begun = time.process_time()
    jobs = read_sls_jobs(given.trace)
    with sized(Size.of([(1, size_of_jobs(jobs, nodes, configuration.scheduler))]), limits):
        run = run_cluster(jobs, nodes, configuration)
    seconds = f"{time.process_time() - begun:.2f}"
    if run.stuck is not None:
        raise run.stuck
    for path in write_dss_files(run, output.out or Path(), seconds, file):
        say(f"{path}")


def _nodes(given: Arguments, meganode: bool) -> tuple[NodeSize, ...]:
    from rebecsim.clusters.yarn.inputs import mega_nodes, node_sizes
    from rebecsim.workloads.container_jobs import read_sls_topology

    racks = read_sls_topology(given.topology)
    if meganode:
        return mega_nodes(racks, given.node_memory, given.node_cores, last_rack=True)
    return node_sizes(racks, given.node_memory, given.node_cores)


def _configuration(
    given: Arguments, assigning: Assigning, errors: ErrorOptions, interval: int | None
) -> YarnConfiguration:
    from rebecsim.clusters import UnknownNameError
    from rebecsim.clusters.yarn import QUIRKS_OF_DSS, YarnConfiguration, yarn_scheduler
    from rebecsim.clusters.yarn.configuration import PushBack, RaceMetric

    strategy = assigning.push_back
    try:
        scheduler = yarn_scheduler(given.scheduler.upper())
    except UnknownNameError as error:
        raise UserError(str(error)) from error
    return YarnConfiguration(
        scheduler=scheduler.name,
        node_heartbeat=given.node_heartbeat,
        master_heartbeat=given.master_heartbeat,
        master_memory=given.master_memory,
        master_cores=given.master_cores,
        reservations=assigning.reservations,
        gaps=assigning.gaps,
        gaps_for_masters=assigning.gaps_for_masters,
        assign_multiple=assigning.assign_multiple,
        push_back=None if strategy is None else _word("-p", strategy, PushBack),
        race_metric=_word("--race-metric", assigning.race_metric, RaceMetric),
        elasticity=_elasticity(given, assigning, errors),
        occupancy_interval=interval,
        quirks=QUIRKS_OF_DSS,
    )


def _elasticity(given: Arguments, assigning: Assigning, errors: ErrorOptions) -> Elasticity:
    from rebecsim.clusters.yarn import Elasticity, penalty_named

    if (given.penalty is None) != (given.ib is None):
        raise UserError("give a penalty with its IB, as in: step 1.5")
    return Elasticity(
        penalty=None if given.penalty is None else penalty_named(given.penalty, given.ib or 1.0),
        elastic_percent=assigning.ep,
        overestimated=errors.overestimated(),
        assumed_overestimate=errors.mem_overestimate_assume,
        memory_error=errors.error("mem"),
        most_needed=given.node_memory,
        bump_error=errors.error("ib"),
        duration_error=errors.error("duration"),
        only_elastic=errors.duration_error_only_elastic,
    )


def _word(option: str, text: str, words: Any) -> Any:
    """Give one of the words of a literal type, which may be written in any case."""
    known = get_args(words)
    if text.upper() not in known:
        raise UserError(f"{option} {text}: should be {' or '.join(known)}")
    return text.upper()
