"""Runs beside a comparison: the same cells in other message orders, to see what is the race."""

from __future__ import annotations

from pathlib import Path

from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results
from rebecsim.studies.run_directory import RECORD

__all__ = ["companion_directory", "stored_companions"]


def companion_directory(results: Results, name: str) -> Path:
    """Give the directory of the runs in another order."""
    return results.directory / "orders" / name


def stored_companions(plan: Plan, results: Results) -> dict[str, tuple[Plan, Results]]:
    """Find the complete runs in other orders beside a comparison."""
    found: dict[str, tuple[Plan, Results]] = {}
    for name, other in plan.beside(plan.scenario.replications).items():
        runs = Results(companion_directory(results, name))
        if not (runs.directory / RECORD).exists():
            continue
        if all(runs.part(cell).exists() for cell in other.cells):
            found[name] = (other, runs)
    return found
