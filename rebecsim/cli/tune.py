"""The commands `tune` and `sensitivity`: search the cells of a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from rebecsim.cli.app import (
    EngineName,
    Explain,
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
from rebecsim.cli.compare import DASK, ON_DASK, OptionalAddress, require_cluster
from rebecsim.cli.running import SizeOptions, kept_or_temporary, run_plan
from rebecsim.clusters.kit.options import option
from rebecsim.extras import REPORTS, leave_pandas_alone, require

if TYPE_CHECKING:
    from rebecsim.search.space import What

_OVER = "Values to choose from, as in app_masters=1..8,policy=EDF,FIFO; repeatable."


@dataclass(frozen=True, kw_only=True)
class Searching(SizeOptions):
    """Options that both commands have."""

    over: list[str] | None = option(_OVER, metavar="KEY=VALUES")
    out: Path | None = option("Directory for results and report.")
    resume: bool = option("Resume an interrupted search.", False, "--resume")
    workers: Workers = None
    dask: str | None = option(ON_DASK, None, DASK)
    seed: int | None = option("Seed, instead of the scenario's.", min=0)
    engine: EngineName = "auto"
    trust: Trust = False
    explain: Explain = False
    plugin: Plugins = None


@app.command(cls=OptionalAddress)
@grouped
def tune(
    scenario: ScenarioName,
    minimise: str | None = option("The measure whose lowest value is searched."),
    maximise: str | None = option("The measure whose highest value is searched."),
    budget: int = option("Most runs of all cells together.", 1_000, min=1),
    options: Searching = Searching(),
) -> None:
    """Search for the best cell of a scenario, with a budget of runs.

    A run is one replication of one cell. The answer says how sure the choice is, and which other
    candidates were not told apart from it.
    """
    if minimise is not None and maximise is not None:
        raise typer.BadParameter("give one of --minimise and --maximise", param_hint="--maximise")
    better: Literal["lower", "higher"] | None = None
    if minimise or maximise:
        better = "lower" if minimise else "higher"
    asked = {"measure": (minimise or maximise, better), "budget": budget}
    _search("tune", scenario, options, asked)


@app.command(cls=OptionalAddress)
@grouped
def sensitivity(
    scenario: ScenarioName,
    measure: str | None = option("The measure; the first one unless given."),
    method: Literal["sobol", "morris"] = option(
        "sobol: shares of the variance; morris: a ranking, from fewer runs.", "sobol"
    ),
    replications: Replications = None,
    options: Searching = Searching(),
) -> None:
    """Find which parameters matter, and how much.

    Each value of a parameter is equally likely; numbers are levels, names are categories. SALib
    computes Sobol's indices from all cells, or Morris's elementary effects from some.
    """
    asked = {"measure": (measure, None), "replications": replications}
    _search("sensitivity" if method == "sobol" else "morris", scenario, options, asked)


def _search(what: What, name: str, options: Searching, asked: dict[str, Any]) -> None:
    if options.resume and options.out is None:
        raise typer.BadParameter("works only with `--out`", param_hint="--resume")
    require(f"rebecsim {'tune' if what == 'tune' else 'sensitivity'}", *REPORTS)
    if options.dask is not None:
        require_cluster(options.dask, options.workers)
    leave_pandas_alone()
    from rebecsim.clusters.scenarios import load
    from rebecsim.interface.comparing import Running
    from rebecsim.interface.searching import searched
    from rebecsim.search.space import read_over
    from rebecsim.studies.executors import available_workers
    from rebecsim.studies.running import comparison_size
    from rebecsim.studies.scenario_files import read_scenario_text

    use_plugins(options.plugin)
    loaded = searched(
        read_scenario_text(name),
        what,
        over=read_over(options.over or ()),
        seed=options.seed,
        loading=partial(load, consent=consent_of(options.trust)),
        **asked,
    )
    plan = loaded.plan()
    count = options.workers or available_workers()
    size = comparison_size(plan, False, count)
    with kept_or_temporary(options.out) as directory:
        how = Running(directory, False, options.resume, False, count, options.engine, options.dask)
        advice = f"{options.out or directory}: continue with --resume"
        kept = options.out is not None
        run_plan(plan, how, size, options, advice, options.explain, reported=kept)
