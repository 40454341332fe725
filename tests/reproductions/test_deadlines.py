"""Published figures of MapReduce with deadlines beside ours: text, a page, and runs."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from rebecsim.clusters.stages.scenario import StagesScenario
from rebecsim.errors import UserError
from rebecsim.studies.scenario import validated
from reproductions import framework
from reproductions.deadlines import running as deadline_runs
from reproductions.deadlines.cells import DeadlinePart
from reproductions.deadlines.checks import deadline_parts
from reproductions.deadlines.experiments import (
    DeadlineExperiments,
    deadlines_markdown,
    deadlines_view,
    distance_notes,
)
from reproductions.deadlines.running import (
    DeadlineExtent,
    Figures,
    FoundDeadlines,
    compared_name,
    earliest_name,
    error_name,
    experiments,
    facebook_name,
    hadoop_name,
    published_deadlines,
    sweep_name,
)
from reproductions.framework import within_count
from tests.conftest import Run

SOME = Figures(late=0.0, turnaround=100.0, completion=10.0, processing=0.1, batch=1.0, limited=0.0)
_DEFAULTS = ("generic", "generic_reserved")

BETTER: Mapping[str, Figures] = {
    "HCP_RM": replace(SOME, turnaround=40.0),
    "EDF": replace(SOME, late=9.0, processing=0.0),
    "PSEH_HCP_RM": SOME,
    "MRCP_RM": SOME,
    "WFBB_PD_SL_TSP1": replace(SOME, late=0.5, processing=0.01),
    "MRCP_RM_MATCHING_AHEAD": SOME,
    "MINEDF_WC": replace(SOME, late=9.0),
    "MILP": replace(SOME, completion=5.0, batch=170.0),
}


def as_published() -> FoundDeadlines:
    """Give what the thesis says as if it were ours."""
    found = {
        name: {policy: BETTER[policy] for policy in values["policies"]}
        for name, values in experiments(DeadlineExtent()).items()
    }
    for sweep in published_deadlines()["sweeps"]:
        for level, late in sweep["late"].items():
            name = sweep_name(sweep["factor"], float(level))
            found[name] = {"MRCP_RM": replace(SOME, late=late)}
        steps = {"up": 1.0, "down": -1.0, "flat": 0.0}
        step, late_step = (steps[sweep["trends"][each]] for each in ("turnaround", "late"))
        names = [sweep_name(sweep["factor"], level) for level in sweep["levels"]]
        for place, name in enumerate(names):
            after = place - next(at for at, each in enumerate(names) if each in _DEFAULTS)
            late = found[name]["MRCP_RM"].late
            if f"{sweep['levels'][place]:g}" not in sweep["late"]:
                late = 0.3 + 0.1 * late_step * after
            taken = {"up": place + 1, "down": 9 - place}[sweep["trends"]["processing"]] / 1e5
            figures = replace(SOME, late=late, turnaround=100.0 + step * after, processing=taken)
            found[name] = {"MRCP_RM": figures}
    for factor in published_deadlines()["earliest"]:
        for place, level in enumerate(factor["levels"]):
            taken = {"up": place + 1, "down": 9 - place}[factor["trends"]["processing"]] / 1e2
            found[earliest_name(factor["factor"], level)]["HCP_RM"] = replace(
                BETTER["HCP_RM"], late=2.0 - 0.1 * place, processing=taken
            )
    worse = earliest_name("longest_map", 15)
    found[worse]["HCP_RM"] = replace(found[worse]["HCP_RM"], late=4.4)
    found[worse]["EDF"] = replace(BETTER["EDF"], late=4.0)
    for place, error in enumerate(published_deadlines()["tables"]["errors"]):
        for interval in (60, 30):
            found[error_name(interval, error)]["HCP_RM"] = replace(
                SOME, late=9.0 - place, turnaround=200.0 - error, processing=0.1 + 0.01 * place
            )
    found["budgets_rate_0p025"]["MRCP_RM"] = replace(SOME, late=2.0)
    tables = published_deadlines()["tables"]
    for interval in tables["intervals"]:
        for short, manager in (("H", "HCP_RM"), ("EH", "PSEH_HCP_RM")):
            for place, error in enumerate(tables["errors"]):
                found[hadoop_name(interval, error)][manager] = replace(
                    SOME,
                    late=tables["late"][f"{interval} {short}"][place],
                    turnaround=tables["turnaround"][f"{interval} {short}"][place],
                    processing=tables["processing"][f"{interval} {short}"][place],
                )
        for model in ("feitelson", "variable"):
            late = 5.0 if model == "variable" else 0.0
            found[hadoop_name(interval, model)]["HCP_RM"] = replace(SOME, late=late, processing=0.2)
    found["batch_small_2"]["MILP"] = replace(BETTER["MILP"], completion=10 / 1.81)
    found["batch_medium"]["MILP"] = replace(SOME, completion=10 / 1.13, batch=4.75)
    found["batch_large_1"]["MILP"] = replace(BETTER["MILP"], completion=30.0)
    return found


@pytest.fixture(scope="module")
def parts() -> tuple[DeadlinePart, ...]:
    return deadline_parts(as_published())


def test_what_is_published_holds(parts: tuple[DeadlinePart, ...]) -> None:
    missed = [cell for part in parts for cell in part.cells if not cell.holds]
    assert missed == []
    assert [len(part.cells) for part in parts] == [39, 5, 43, 28, 52, 22, 12, 46, 12]
    assert within_count([cell for part in parts for cell in part.cells]) == (259, 259)


def test_what_is_not_as_published_is_missed() -> None:
    found = {name: dict(each) for name, each in as_published().items()}
    found["generic_count_25"]["MRCP_RM"] = replace(SOME, late=0.5, turnaround=90)
    found[hadoop_name(30)]["HCP_RM"] = replace(SOME, late=9.0)
    found[facebook_name(0.001)]["MRCP_RM"] = replace(SOME, late=9.0, turnaround=120.0)
    found["budgets_rate_0p025"]["MRCP_RM"] = replace(SOME, late=-1.0)
    found["batch_small_1"]["MILP"] = replace(SOME, late=20.0)
    found[hadoop_name(45, -0.9)]["HCP_RM"] = replace(
        found[hadoop_name(45, -0.9)]["HCP_RM"], processing=3.0
    )
    found[hadoop_name(25, "variable")]["HCP_RM"] = SOME
    missed = [cell.says for part in deadline_parts(found) for cell in part.cells if not cell.holds]
    assert missed == [
        *("resources 25: P %", "resources: T s", "resources: most O/T %"),
        *("rate 0.001: P %", "rate 0.001: T s", "rate 0.025: P %"),
        *("synthetic, a job in s 30: P %", "synthetic, a job in s 30: T s"),
        "1/25 variable: P % of EH",
        "1/45 H, f = -0.9: O by that of f = 0",
        *("1/45, f = -0.9: O s of EH", "1/45 H by f: O s", "1/25 variable: O s of EH"),
        *("small_1: P %", "small_1: PO s"),
    ]


def test_as_much_is_neither_less_nor_more_and_ten_times_are_not_a_hundred() -> None:
    found = {name: dict(each) for name, each in as_published().items()}
    found["budgets_rate_0p01"]["WFBB_PD_SL_TSP1"] = replace(
        found["budgets_rate_0p01"]["WFBB_PD_SL_TSP1"], late=0.0
    )
    low, high = (sweep_name("reserved", each) for each in (0.1, 0.9))
    found[low] = found[high]
    pair = found[earliest_name("longest_map", 15)]
    pair["EDF"] = replace(pair["EDF"], late=pair["HCP_RM"].late)
    found[earliest_name("longest_map", 25)] = {
        **found[earliest_name("longest_map", 25)],
        "HCP_RM": replace(BETTER["HCP_RM"], processing=pair["HCP_RM"].processing),
        "EDF": replace(BETTER["EDF"], late=BETTER["HCP_RM"].late),
    }
    found[error_name(60, 2.0)] = found[error_name(60, -0.9)]
    found["batch_small_1"]["MILP"] = replace(BETTER["MILP"], batch=10.0)
    found["batch_small_2"]["MILP"] = replace(BETTER["MILP"], completion=10.0)
    missed = [cell.says for part in deadline_parts(found) for cell in part.cells if not cell.holds]
    assert missed == [
        *(f"reserved, probability: {each}" for each in ("P %", "T s", "O s")),
        "rate 0.01: P %",
        *("synthetic, longest map, s 15: P %", "synthetic, longest map, s 25: P %"),
        "synthetic, longest map, s: O s",
        *("1/60 H by f: P %", "1/60 H by f: O s", "1/60 H by f: T s"),
        *("small_1: PO s", "small_2: C s"),
    ]


def test_distances_are_those_of_all_figures_of_a_part() -> None:
    found = {name: dict(each) for name, each in as_published().items()}
    for interval in published_deadlines()["tables"]["intervals"]:
        name = hadoop_name(interval, 2.0)
        for manager, figures in found[name].items():
            found[name][manager] = replace(figures, turnaround=1.5 * figures.turnaround)
    (tables,) = (part for part in deadline_parts(found) if "Tables 6.1" in part.title)
    assert distance_notes(tables) == (
        "Distance from what is published, median and 90th percentile: P 0.0 % and 0.0 % (27 "
        "cells), T 0.0 % and 50.0 % (24 cells).",
    )
    _, _, budgets, earliest, *_ = deadline_parts(found)
    assert distance_notes(budgets) == ()
    assert distance_notes(earliest)[0].endswith("P 0.0 % and 0.0 % (1 cell).")


def test_half_as_much_less_as_published_on_average_is_enough_and_less_is_not() -> None:
    found = {name: dict(each) for name, each in as_published().items()}
    for name, each in found.items():
        if name.startswith("budgets_"):
            each["WFBB_PD_SL_TSP1"] = replace(each["WFBB_PD_SL_TSP1"], processing=0.09)
        if name.startswith("hadoop_multiplier_"):
            each["EDF"] = replace(each["EDF"], turnaround=41.0)
        if "HCP_RM" in each and "PSEH_HCP_RM" in each:
            each["PSEH_HCP_RM"] = replace(each["PSEH_HCP_RM"], late=0.9 * each["HCP_RM"].late)
    missed = [cell for part in deadline_parts(found) for cell in part.cells if not cell.holds]
    shown = {cell.says: cell.published for cell in missed if cell.says.endswith("on average")}
    assert shown == {
        "O s with WFBB-RM on average": "77 to 85 % lower",
        "synthetic, em_max: T s on average": "65 % lower",
        "EH by H: P % on average": "29 % lower",
    }


def test_the_page_says_where_cells_could_not_fail() -> None:
    few = deadlines_markdown(as_published(), DeadlineExtent(replications=1))
    assert "Cells have fewer than 5 runs here, and could not really fail" in few
    assert "could not really fail" not in deadlines_markdown(as_published(), DeadlineExtent())
    assert DeadlineExtent().runs == 5


def test_every_experiment_is_a_scenario() -> None:
    every = experiments(DeadlineExtent())
    assert len(every) == 77
    for name, values in every.items():
        validated(StagesScenario, name, {**values, "name": f"deadlines_{name}"}, {})
    quick = experiments(DeadlineExtent(quick=True))
    assert quick.items() <= every.items()
    assert len(quick) == 49


def test_each_part_can_be_run_by_itself() -> None:
    every = experiments(DeadlineExtent())
    by_part = {name: experiments(DeadlineExtent(parts=(name,))) for name in deadline_runs.PARTS}
    assert set().union(*by_part.values()) == set(every)
    published = as_published()
    for name, some in by_part.items():
        shown = deadline_parts({each: published[each] for each in some})
        assert shown, name
        assert len(shown) < 9
        assert all(cell.holds for part in shown for cell in part.cells)
    both = DeadlineExtent(quick=True, parts=("edf", "closed"))
    assert both.command == "rebecsim reproduce deadlines --quick --parts edf,closed"
    assert set(experiments(both)) <= set(by_part["edf"]) | set(by_part["closed"])
    with pytest.raises(UserError, match=r"there is no part fctors; did you mean factors\?"):
        experiments(DeadlineExtent(parts=("fctors",)))


def test_each_factor_is_varied_alone() -> None:
    """What a figure of the thesis is about is the only thing that differs between its levels."""
    every = experiments(DeadlineExtent())
    for factor, name in (("longest_map", earliest_name), ("multiplier", earliest_name)):
        levels = next(
            each["levels"] for each in published_deadlines()["earliest"] if each["factor"] == factor
        )
        found = [every[name(factor, level)] for level in levels]
        differing = {
            key
            for each in found
            for key, value in each["workload"].items()
            if value != found[0]["workload"][key]
        }
        assert differing == {"map_reduce" if factor == "longest_map" else factor}
    counts = [every[compared_name("count", level)]["resources"]["count"] for level in (25, 50, 100)]
    assert counts == [25, 50, 100]


def test_the_output_fits_a_terminal_and_ends_with_the_count() -> None:
    file = io.StringIO()
    Console(file=file, width=80).print(
        deadlines_view(as_published(), DeadlineExtent(replications=5))
    )
    lines = file.getvalue().rstrip().split("\n")
    assert lines[-1] == "259 of 259 cells (100 %) are within the bounds of their parts."
    assert max(len(line.rstrip()) for line in lines) <= 80


def test_the_page_says_how_it_was_made() -> None:
    text = deadlines_markdown(as_published(), DeadlineExtent(quick=True))
    assert text.startswith("<!-- Made by `rebecsim reproduce deadlines --quick --page FILE`")
    assert "1 replication of each experiment" in text
    assert "| resources 25: P % | 3.89 | 3.89 | holds |" in text
    assert DeadlineExtent(replications=1).command == "rebecsim reproduce deadlines --replications 1"


def test_the_command_shows_what_was_run_and_writes_a_page(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def ran(wanted: DeadlineExperiments, directory: Path, runner: object) -> FoundDeadlines:
        asked.append({plan.scenario.replications for plan in wanted.plans().values()})
        asked.append(set(wanted.by_name))
        return as_published()

    monkeypatch.setattr(framework, "run_experiments", ran)
    refused = run("reproduce", "capacity", "--parts", "edf")
    assert refused.returncode == 2
    assert "is for deadlines only" in refused.stderr
    run("reproduce", "deadlines", "--parts", "edf, closed", "--workers", 1)
    assert asked.pop() == set(experiments(DeadlineExtent(parts=("edf", "closed"))))
    assert asked.pop() == {5}
    page = tmp_path / "page.md"
    done = run("reproduce", "deadlines", "--replications", 3, "--workers", 1, "--page", page)
    assert done.returncode == 0, done.stderr
    assert "259 of 259 cells (100 %) are within the bounds" in done.stdout
    assert asked == [{3}, set(experiments(DeadlineExtent()))]
    assert "3 replications of each experiment" in page.read_text("utf-8")


@pytest.mark.slow
def test_the_command_runs_experiments_and_goes_on(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline_runs, "GENERIC_JOBS", 3)

    def few(extent: DeadlineExtent) -> dict[str, dict[str, Any]]:
        return {
            name: experiments(extent)[name] for name in ("generic_rate_0p001", "budgets_rate_0p01")
        }

    monkeypatch.setattr(deadline_runs, "experiments", few)
    words = ("reproduce", "deadlines", "--quick", "--workers", 1, "--out", tmp_path / "out")
    for _ in range(2):
        done = run(*words, "--page", tmp_path / "page.md")
        assert done.returncode == 0, done.stderr
        assert "of 5 cells" in done.stdout
    assert "arrivals a second 0.001: P %" in (tmp_path / "page.md").read_text()
    assert len(list((tmp_path / "out").iterdir())) == 2
