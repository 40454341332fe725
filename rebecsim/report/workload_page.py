"""The report of a workload scenario as one HTML page that needs no network."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rebecsim.experiments.workload_diff import ScheduleDifference
from rebecsim.experiments.workload_scenario import WorkloadScenario
from rebecsim.experiments.workload_summary import WorkloadSummary
from rebecsim.report.html import scenario_rows
from rebecsim.report.templates import page_template
from rebecsim.report.workload_tables import (
    difference_summary,
    figure_tables,
    summary_notes,
    variant_text,
)

__all__ = ["Picture", "render_workload_page"]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the page: its name in files, its heading, and how to read it."""

    name: str
    title: str
    caption: str


def render_workload_page(
    scenario: WorkloadScenario,
    record: Mapping[str, Any],
    summary: WorkloadSummary,
    differences: Sequence[ScheduleDifference],
    pictures: Sequence[tuple[Picture, bytes]],
) -> str:
    """Render the page; pictures are SVG files. All text is escaped."""
    return page_template("workload.html.j2").render(
        title=scenario.heading,
        paragraphs=[part.strip() for part in scenario.description.split("\n\n") if part.strip()],
        summary=summary,
        schedules=len(summary.policies) * sum(summary.replications.values()),
        tables=figure_tables(summary),
        of_first=_of_first(summary),
        notes=summary_notes(summary),
        differences=difference_summary(differences),
        pictures=[(picture, _address(content)) for picture, content in pictures],
        scenario_rows=list(scenario_rows(scenario.model_dump(mode="json", exclude_none=True))),
        seed=scenario.seed,
        log=scenario.workload.log,
        log_blake2b=record.get("log_blake2b"),
        versions=record["versions"],
        plugins=record.get("plugins", []),
    )


def _of_first(summary: WorkloadSummary) -> str:
    """Say which schedules are compared job by job and drawn, where there are others as well."""
    if len(summary.estimates) == len(summary.policies) and set(summary.replications.values()) == {
        1
    }:
        return ""
    variant = variant_text(summary, summary.variants[0])
    return f"Of the schedules with {variant[0].lower()}{variant[1:]}, first replication."


def _address(picture: bytes) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(picture).decode("ascii")
