"""The command `compare`: run the policies of a scenario and print who does best."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer
from typer.core import TyperCommand

from rebecsim.cli.app import (
    EngineName,
    Explain,
    GroupsOfKinds,
    Law,
    Plugins,
    Replications,
    ScenarioName,
    Trust,
    Workers,
    app,
    consent_of,
    grouped,
    use_plugins,
)
from rebecsim.cli.running import SizeOptions, run_plan
from rebecsim.clusters.kit.options import option
from rebecsim.extras import REPORTS, leave_pandas_alone, require

if TYPE_CHECKING:
    from rebecsim.studies import Study

DASK, LOCAL = "--dask", "local"
ON_DASK = "Run on Dask: a scheduler such as tcp://host:8786; with no address: this machine."
_ADDRESS = re.compile(r"local$|\S+://|\S+:\d+$")
"""What may follow --dask; anything else is the next argument."""

_MOST_REPLICATIONS = 10_000
"""Runs per cell after which a wanted precision is given up, unless the user says otherwise."""


class OptionalAddress(TyperCommand):
    """A command whose option --dask may stand without an address."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give the option its usual value where no address follows."""
        filled = [
            f"{DASK}={LOCAL}" if word == DASK and not _ADDRESS.match(after) else word
            for word, after in zip_longest(args, args[1:], fillvalue="")
        ]
        return super().parse_args(ctx, filled)


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Options that replace values of the scenario."""

    replications: Replications = None
    seed: int | None = option("Seed, instead of the scenario's.", min=0)
    sweep: list[str] | None = option(
        "Values that a key takes in turn, as in workload.rate=0.01,0.02; repeatable.",
        metavar="KEY=VALUES",
    )
    law: Law | None = option("Choice law, instead of the scenario's.")
    order: Literal["random", "updates-first", "ticks-first", "fifo"] | None = option(
        "Which messages of one time unit are served first."
    )


@dataclass(frozen=True, kw_only=True)
class Sought:
    """Options that say how precise the figures must be."""

    precision: str | None = option(
        "Run until the first figure has this precision: 1%; or late=10%,turnaround=5%."
    )
    max_replications: int | None = option(
        "Most runs per cell with --precision.", min=2, show_default="10000"
    )

    def replications(self, changes: Changes, trace: bool) -> int | None:
        """Give the most runs of a cell. Raises BadParameter for options that exclude each other."""
        if self.precision is not None:
            _refuse("--precision", ("--replications", changes.replications), ("--trace", trace))
            return self.max_replications or _MOST_REPLICATIONS
        if self.max_replications is not None:
            raise typer.BadParameter(
                "works only with `--precision`", param_hint="--max-replications"
            )
        return changes.replications


@dataclass(frozen=True, kw_only=True)
class AllOrders:
    """Options about message orders other than the random one."""

    orders: bool = option("Run other message orders too, to see how much they change.", True)
    exact: bool = option(
        "Also compute best case, worst case and mean over all message orders.", False, "--exact"
    )
    exact_states: int | None = option(
        "With --exact: most states of each cell; beyond it, bounds are given.",
        min=1,
        show_default="300000",
    )

    def most_states(self) -> int | None:
        """Give how many states are looked at. Raises BadParameter if nothing is to be found."""
        if self.exact_states is not None and not self.exact:
            raise typer.BadParameter("works only with `--exact`", param_hint="--exact-states")
        if not self.exact:
            return None
        from rebecsim.studies.study import MOST_STATES

        return self.exact_states or MOST_STATES


@dataclass(frozen=True, kw_only=True)
class Making(SizeOptions):
    """Options about how runs are made: seed, law, workers, engine."""

    engine: EngineName = "auto"
    trust: Trust = False
    explain: Explain = False


@app.command(cls=OptionalAddress)
@grouped
def compare(
    scenario: ScenarioName,
    out: Path | None = option("Directory for results and report; required without --dry-run."),
    resume: bool = option(
        "Resume an interrupted run, or add --replications to it.", False, "--resume"
    ),
    workers: Workers = None,
    dask: str | None = option(ON_DASK, None, DASK),
    changes: Changes = Changes(),
    orders: AllOrders = AllOrders(),
    sought: Sought = Sought(),
    of_kinds: GroupsOfKinds = (),
    trace: bool = option("Record every message served.", False, "--trace"),
    making: Making = Making(),
    plugin: Plugins = None,
) -> None:
    """Compare policies: tables, charts, data and a report.

    With --queues, compare files of Hadoop's schedulers instead: SCENARIO is a trace of jobs then.
    """
    from rebecsim.clusters.kinds import starts_workers_early
    from rebecsim.report.figures import DRAWING_MODULES
    from rebecsim.studies.executors import available_workers, simulation_modules, start_server
    from rebecsim.studies.scenario_files import read_scenario_text
    from rebecsim.studies.sweeps import read_sweep

    if out is None and not making.dry_run:
        raise typer.BadParameter("give a directory for the results", param_hint="--out")
    engine = making.engine
    replications = sought.replications(changes, trace)
    most_states = orders.most_states()
    if dask is not None:
        require_cluster(dask, workers)
    count = workers or available_workers()
    made = (each.scenario(scenario) for each in of_kinds)
    text = next(filter(None, made), None) or read_scenario_text(scenario)
    text = text.with_sweep(read_sweep(changes.sweep or ()))
    if dask is None and starts_workers_early(text.values.get("kind")) and not making.dry_run:
        # Workers start while this process still imports.
        start_server(count, (*simulation_modules(engine), *DRAWING_MODULES))
    require("rebecsim compare", *REPORTS)
    leave_pandas_alone()

    from rebecsim.clusters.scenarios import load
    from rebecsim.interface.comparing import Running
    from rebecsim.studies.running import comparison_size

    use_plugins(plugin)
    loaded = load(text, consent_of(making.trust))
    given = {
        "law": changes.law,
        "order": changes.order,
        "orders": not orders.orders,
        "exact": orders.exact,
        "trace": trace,
        "engine": engine != "auto",
    }
    _require_meaning(loaded.study, given)
    plan = loaded.plan(
        replications=replications,
        seed=changes.seed,
        precision=sought.precision,
        choice_law=changes.law,
        order=changes.order,
    )
    how = Running(out, orders.orders, resume, trace, count, engine, dask, most_states)
    advice = f"{out}: continue with --resume"
    how_large = comparison_size(plan, orders.orders, count)
    run_plan(plan, how, how_large, making, advice, making.explain or orders.exact)


def require_cluster(address: str, workers: int | None) -> None:
    """Refuse options that do not fit a Dask cluster, before any work is done."""
    from rebecsim.studies.dask_executor import require_dask

    if address != LOCAL:
        _refuse("an address of --dask", ("--workers", workers))
    require_dask()


def _require_meaning(study: Study, given: Mapping[str, object]) -> None:
    """Refuse options that a kind of study does not have."""
    for name, value in given.items():
        if value and name not in study.options:
            option = f"--{'no-' if name == 'orders' else ''}{name}"
            raise typer.BadParameter(
                f"does not work for scenarios of the kind {study.kind}", param_hint=option
            )


def _refuse(option: str, *others: tuple[str, object]) -> None:
    for name, given in others:
        if given:
            raise typer.BadParameter(f"cannot be given with {name}", param_hint=option)
