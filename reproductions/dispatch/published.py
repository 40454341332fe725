"""Published figures of the built-in scenarios, and figures of the original tools run again.

They stand in `published.toml`, which says where they come from and what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rebecsim.clusters.dispatch.scenario import Scenario
from rebecsim.errors import UserError
from reproductions.framework import read_beside

PUBLISHED_RUNS = 100
"""Runs per cluster size behind a published figure."""

MEASURED_RUNS = 500
"""Runs per cluster size behind a measured figure."""

FIGURES = ("deadline_misses", "job_request_success", "am_job_success")
"""The columns of a table, by the names of their metrics."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One policy in one table: figures by the names of their metrics, shares in percent.

    Attributes:
        policy: its name.
        published: as printed, with two decimals.
        measured: what the original tools give when run again.
        unmet: published figures that these do not give either.
    """

    policy: str
    published: Mapping[str, float]
    measured: Mapping[str, float]
    unmet: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """One table of results and the built-in scenario with its parameters.

    Attributes:
        scenario: name of the built-in scenario.
        number: that of the table in the thesis.
        rows: one for each policy.
        kind: what policies choose: the job that runs next, or the one that is put aside.
        remark: why the figures that a row names as `unmet` differ; empty where there is none.
    """

    scenario: str
    number: str
    rows: tuple[PublishedRow, ...]
    kind: Literal["dispatch", "eviction"] = "dispatch"
    remark: str = ""

    def row(self, policy: str) -> PublishedRow:
        """Return the row of a policy. Raises KeyError when the table has none."""
        return {row.policy: row for row in self.rows}[policy]


def _table(entry: Mapping[str, Any], remark: str) -> PublishedTable:
    unmet = entry.get("unmet", {})
    rows = (
        PublishedRow(
            policy,
            dict(zip(FIGURES, figures, strict=True)),
            dict(zip(FIGURES, entry["measured"][policy], strict=True)),
            tuple(unmet.get(policy, ())),
        )
        for policy, figures in entry["published"].items()
    )
    kind = entry.get("kind", "dispatch")
    return PublishedTable(
        entry["scenario"], entry["number"], tuple(rows), kind, remark if unmet else ""
    )


def _read() -> tuple[PublishedTable, ...]:
    content = read_beside(__file__)
    return tuple(_table(entry, content["remark"]) for entry in content["tables"])


PUBLISHED_TABLES = _read()
"""The published tables of results in the order of the thesis."""


def tables_of(scenario: str | None = None) -> tuple[PublishedTable, ...]:
    """Return the published tables of a built-in scenario; all of them when none is named.

    Raises UserError when nothing is published for a scenario of that name.
    """
    tables = tuple(table for table in PUBLISHED_TABLES if scenario in (None, table.scenario))
    if not tables:
        known = ", ".join(table.scenario for table in PUBLISHED_TABLES)
        raise UserError(f"{scenario}: no published scenario of that name; published are {known}")
    return tables


def reproduction_scenarios(scenario: Scenario, corrected: bool = False) -> dict[str, Scenario]:
    """Return what to run for a published scenario: "rmc" as the original, "fair" the fair law.

    All are run with the original's mistakes, so that "fair" differs by the law alone; with
    `corrected` there is a third scenario without them, under the fair law, where they matter: the
    same jobs for all policies, or eviction that loses nothing.
    """
    eviction = scenario.eviction
    if eviction is None:
        original = scenario.replace(workload="as-published")
        without = scenario.replace(workload="same")
        corrected = corrected and original.has_unequal_jobs
    else:
        original, without = (
            scenario.replace(eviction=eviction.model_copy(update={"as_published": mistaken}))
            for mistaken in (True, False)
        )
    found = {law: original.replace(choice_law=law) for law in ("rmc", "fair")}
    if corrected:
        found["corrected"] = without.replace(choice_law="fair")
    return found
