"""`simulate --runs`: many runs of one model, as a study."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from rebecsim.cli.app import complain, console
from rebecsim.cli.sizes import sized
from rebecsim.cli.studies.compare import (
    kept_or_temporary,
    show_written,
    showing_runs,
)
from rebecsim.clusters.scenarios import LoadedScenario
from rebecsim.extras import REPORTS, require
from rebecsim.native.engines import Engine
from rebecsim.studies.storage.arrow import leave_pandas_alone


def run_many(
    loaded: LoadedScenario,
    out: Path | None,
    workers: int | None,
    engine: Engine,
    explain: bool = False,
) -> None:
    """Run a scenario, print what was observed, and with `out` keep results and report."""
    require("rebecsim simulate --runs", *REPORTS)
    leave_pandas_alone()
    from rebecsim.clusters.workers import executor_with_plugins
    from rebecsim.report import report_view, write_report
    from rebecsim.report.comparison import compared
    from rebecsim.studies.plan import plan_size
    from rebecsim.studies.running.comparing import StudyRunner
    from rebecsim.studies.running.executors import available_workers
    from rebecsim.studies.running.runner import PlannedRun
    from rebecsim.studies.running.simulated_study import modules_of, per_task
    from rebecsim.studies.storage.results import Results
    from rebecsim.studies.study import How

    plan = loaded.plan()
    count = min(workers or available_workers(), -(-plan.total // per_task(plan.study, trace=False)))
    modules = modules_of(plan.study, engine)
    with (
        sized(plan_size([plan], count)) as watch,
        kept_or_temporary(out) as directory,
        executor_with_plugins(count, modules) as executor,
    ):
        plan.prepare(How(engine), complain)
        run = PlannedRun(plan, Results.create(directory, plan))
        showing = partial(showing_runs, str(directory), watch=watch)
        report = compared(run, StudyRunner(executor, engine, showing, complain), False)
        console().print(report_view(report, explain))
        if out is not None:
            show_written(write_report(report, out, executor), directory / "parts")
