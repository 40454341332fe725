"""Running one plan, as tests want it."""

from __future__ import annotations

from typing import Any

from rebecsim.native.engines import Engine
from rebecsim.studies import Plan, PlannedRun, Results, run_plans
from rebecsim.studies.executors import executor_of
from rebecsim.studies.study import modules_of


def run_plan(
    plan: Plan,
    results: Results,
    *,
    workers: int = 1,
    trace: bool = False,
    replications: int | None = None,
    engine: Engine = "auto",
    **told: Any,
) -> None:
    """Run a plan on worker processes of its own; `told` is as for `run_plans`."""
    run = PlannedRun(plan, results, trace, replications)
    with executor_of(workers, modules_of(plan.study, engine)) as executor:
        run_plans([run], executor, engine=engine, **told)
