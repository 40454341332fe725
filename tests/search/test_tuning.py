"""The best cell is found with few runs, and nothing is said that was not decided."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rebecsim as rs
from benchmarks.tuning import searched as in_workflows, workflow_tables
from rebecsim.clusters.scenarios import load_scenario, plan_scenario
from rebecsim.errors import UserError
from rebecsim.search.space import Candidate, Question, read_over
from rebecsim.search.tuning import choose, rounds_of
from reproductions.dispatch.comparison import (
    MEASURED_RUNS,
    PUBLISHED_TABLES,
    PublishedTable,
    reproduction_scenarios,
)
from reproductions.framework import MOST_ERRORS, errors_apart
from tests.search.counted import SMALL, Drawn, InMemory, drawn_plan, searched


def question(budget: int, *over: str, measure: str = "deadline_misses") -> Question:
    return Question(what="tune", measure=measure, better="lower", over=list(over), budget=budget)


# --- rounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("candidates", [2, 3, 4, 7, 24, 300])
@pytest.mark.parametrize("cells", [1, 6])
@pytest.mark.parametrize("each", [2, 3, 10, 77])
def test_rounds_spend_no_more_than_the_budget(candidates: int, cells: int, each: int) -> None:
    budget = candidates * cells * each
    rounds = rounds_of(candidates, cells, budget)
    runs = [0, *(one.runs for one in rounds)]
    more = [after - before for before, after in pairwise(runs)]
    spent = sum(one.candidates * some * cells for one, some in zip(rounds, more, strict=True))
    assert spent <= budget
    assert spent > budget - cells * (candidates + 2 * len(rounds) + 2) * 2
    assert all(some > 0 for some in more)
    assert [one.left for one in rounds] == [*(one.candidates for one in rounds[1:]), 1]


def test_a_budget_that_is_too_small_is_refused() -> None:
    with pytest.raises(UserError, match=r"budget: 47 runs are too few: 4 candidates of 6 cells"):
        rounds_of(4, 6, 47)


# --- who is found, in runs whose truth is known --------------------------------------------------


def drawn(means: Sequence[float], seed: int) -> Drawn:
    """Runs with known means, one error that all cells share, and errors of their own."""
    random = np.random.default_rng(seed)
    shared = random.normal(0, 5, 500)
    return Drawn(np.stack([mean + shared + random.normal(0, 1, 500) for mean in means]))


def test_the_best_is_found_and_is_ruled_out_as_seldom_as_is_said() -> None:
    """A shared error of five times a run's own does no harm: candidates are compared in pairs."""
    plan, means = drawn_plan(12), [10 + 0.7 * abs(place - 5) for place in range(12)]
    found = lost = told = 0
    for seed in range(200):
        counted = drawn(means, seed)
        choice = choose(plan, question(12 * 20), counted, counted.run)
        spent = sum(counted.runs.values())
        assert spent == choice.used <= 12 * 20
        found += choice.best.values["queue_size"] == 9
        verdicts = {each.candidate.values["queue_size"]: each.verdict for each in choice.standings}
        lost += verdicts[9] == "ruled out"
        told += len(choice.not_told_apart)
    assert found >= 190
    assert lost <= 10  # at most one in twenty, by the bound
    assert told < 200 * 6  # most of the eleven others are ruled out


def test_candidates_that_are_the_same_are_not_told_apart() -> None:
    plan = drawn_plan(12)
    wrong = 0
    for seed in range(100):
        counted = drawn([10.0] * 12, seed)
        choice = choose(plan, question(12 * 20), counted, counted.run)
        wrong += any(each.verdict == "ruled out" for each in choice.standings)
    assert wrong <= 30  # any of the twelve: each claim alone is wrong with less than one in twenty


def test_candidates_that_are_the_same_in_every_run_tie() -> None:
    """Misses are rare: three cells have none at all, two have one in 500 runs."""
    rows = np.zeros((12, 500))
    rows[3, 7] = rows[4, 70] = 1
    rows[5:] = np.random.default_rng(1).poisson(3, (7, 500))
    plan = drawn_plan(12)
    for seed in range(20):
        counted = Drawn(rows[:, np.random.default_rng(seed).permutation(500)])
        choice = choose(plan, question(12 * 20), counted, counted.run)
        tied = {counted.cell_of(each) for each in (choice.best, *choice.tied)}
        assert {0, 1, 2} <= tied <= {0, 1, 2, 3, 4}
        assert set(choice.tied) <= set(choice.not_told_apart)


def test_a_tie_is_said() -> None:
    found = rs.tune({**SMALL, "app_masters": [6]}, budget=200, progress=False)
    assert len(found.tied) == 3
    assert "Best of 4: EDF, queue_size=4, tied with 3" in str(found)
    fewest = min(each.runs for each in found.choice.standings)
    assert f"The same in the first {fewest} runs: " in str(found)
    assert "Not told apart" not in str(found)
    two = rs.tune({**SMALL, "policies": ["EDF"], "app_masters": [6]}, budget=20, progress=False)
    assert "The same in every run: queue_size=12. Choose" in str(two)


# --- published tables ----------------------------------------------------------------------------


def known_best(table: PublishedTable, plan: Any) -> set[str]:
    """The policies whose published figures are not told apart from the best one.

    As everywhere in the reproductions: within three standard errors of the difference, from the
    spread of our runs and the number of runs behind a figure that was measured again.
    """
    runs = InMemory(plan)
    runs.run(plan.cells, 100)
    errors = {}
    for row in table.rows:
        cells = tuple(each for each in plan.cells if each.cell.policy == row.policy)
        counts, _ = runs.counts(Candidate({}, cells), plan.metrics[0], 100)
        spread = counts.var(axis=1, ddof=1).sum() / len(cells) ** 2
        errors[row.policy] = float(np.sqrt(spread / MEASURED_RUNS))
    figures = {row.policy: row.measured["deadline_misses"] for row in table.rows}
    best = min(figures, key=lambda policy: figures[policy])
    return {
        policy
        for policy, figure in figures.items()
        if abs(errors_apart(figure - figures[best], errors[policy], errors[best])) <= MOST_ERRORS
    }


def found_in(table: PublishedTable, seeds: range) -> int:
    """Count the seeds with which a tenth of the runs of the table finds its best policy."""
    scenario = reproduction_scenarios(load_scenario(table.scenario))["rmc"]
    plan = plan_scenario(scenario)
    best = known_best(table, plan)
    assert len(best) < len(table.rows)
    tenth = question(plan.total // 10)
    plans = (plan_scenario(scenario.replace(seed=seed)) for seed in seeds)
    return sum(searched(each, tenth).best.values["policy"] in best for each in plans)


@pytest.mark.parametrize("table", PUBLISHED_TABLES[:1], ids=lambda table: table.scenario)
def test_a_tenth_of_the_runs_finds_the_best_policy_of_a_published_table(
    table: PublishedTable,
) -> None:
    assert found_in(table, range(3)) == 3


@pytest.mark.slow
@pytest.mark.parametrize("table", PUBLISHED_TABLES, ids=lambda table: table.scenario)
def test_a_tenth_finds_it_with_95_of_100_seeds(table: PublishedTable) -> None:
    assert found_in(table, range(100)) >= 95


WORKFLOWS = {each.name: each for each in workflow_tables()}


def test_a_tenth_of_the_runs_finds_the_best_cell_of_a_workflow_table() -> None:
    counts = in_workflows(WORKFLOWS["D.1 turnaround"], range(5))
    assert (counts.found, counts.lost) == (5, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKFLOWS)
def test_it_finds_all_but_one_with_95_of_100_seeds(name: str) -> None:
    """Six cells of that one differ by no more than their errors: they are not told apart."""
    counts = in_workflows(WORKFLOWS[name], range(100))
    assert counts.lost <= 5
    assert counts.found >= (80 if name == "D.15 late" else 95)


# --- through the pipeline ------------------------------------------------------------------------


def kept(directory: Path) -> dict[str, bytes]:
    """All files of a run but the lock; of its record, all but the time."""
    files = {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.name != ".lock"
    }
    files["run.json"] = re.sub(rb'"started": "[^"]*"', b"", files["run.json"])
    return files


def test_it_resumes_byte_for_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import rebecsim.studies.running as running

    close = {**SMALL, "sweep": {"queue_size": [10, 11, 12]}}
    whole = rs.tune(close, budget=300, out=tmp_path / "whole", progress=False)
    whole.write(tmp_path / "whole")
    real, calls = running.run_plans, []

    def interrupted(*given: Any, **how: Any) -> None:
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(*given, **how)

    with monkeypatch.context() as patched:
        patched.setattr(running, "run_plans", interrupted)
        with pytest.raises(KeyboardInterrupt):
            rs.tune(close, budget=300, out=tmp_path / "part", progress=False)
    resumed = rs.tune(
        close, budget=300, out=tmp_path / "part", resume=True, workers=2, progress=False
    )
    resumed.write(tmp_path / "part")
    assert resumed.choice.used == whole.choice.used <= 300
    assert kept(tmp_path / "part") == kept(tmp_path / "whole")
    again = rs.open(tmp_path / "whole")
    again.write(tmp_path / "again")
    assert (tmp_path / "again/report.html").read_bytes() == kept(tmp_path / "whole")["report.html"]
    with pytest.raises(UserError, match="begun with another question"):
        rs.tune(close, budget=310, out=tmp_path / "whole", resume=True, progress=False)
    with pytest.raises(UserError, match="another"):
        rs.compare(close, out=tmp_path / "whole", resume=True, orders=False, progress=False)


def test_over_chooses_policies_lists_and_keys() -> None:
    over = read_over(["app_masters=1..3,policy=FIFO,EDF", "epsilon=1.0,2.0"])
    assert over == {"app_masters": [1, 2, 3], "policy": ["FIFO", "EDF"], "epsilon": [1.0, 2.0]}
    found = rs.tune(SMALL, over=over, budget=24 * 2, progress=False)
    levels = found.choice.space.levels
    assert levels == {
        "policy": ("FIFO", "EDF"),
        "app_masters": (1, 2, 3),
        "queue_size": (4, 12),
        "epsilon": (1.0, 2.0),
    }
    assert found.choice.space.pooled == ()
    one = rs.tune(SMALL, over={"policy": "EDF", "app_masters": 2}, budget=12, progress=False)
    assert list(one.choice.space.levels) == ["queue_size"]


def test_what_is_not_searched_is_averaged() -> None:
    found = rs.tune(SMALL, budget=60, progress=False)
    assert list(found.choice.space.levels) == ["policy", "queue_size"]
    assert found.choice.space.pooled == ("app_masters",)
    assert "averages over app masters" in str(found)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"minimise": "nothing"}, "there is no measure 'nothing'"),
        ({"minimise": "a", "maximise": "b"}, "give one of minimise and maximise"),
        ({"over": {"policy": ["SJF"]}}, "there is no 'SJF'"),
        ({"over": {"polcy": ["EDF"]}}, "over: polcy: .* did you mean policy"),
        ({"over": {"app_mastrs": [1, 2]}}, "over: app_mastrs: .* did you mean app_masters"),
        ({"over": {"queue_sze": [1, 2]}}, "over: queue_sze: .* did you mean queue_size"),
        ({"over": {"zzz": [1, 2]}}, "over: zzz: .* known are policy, app_masters, eviction"),
        ({"over": {"app_masters": [0, 1]}}, r"over: app_masters\[0\]: must be at least 1"),
        ({"over": {"app_masters": "2"}}, r"over: app_masters\[0\]: must be a whole number"),
        ({"budget": 5}, "need at least 16 runs"),
        ({"over": {"policy": ["EDF"], "queue_size": [4]}}, "one candidate only"),
    ],
)
def test_mistakes_are_named(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as raised:
        rs.tune(SMALL, **asked, progress=False)
    assert "--" not in str(raised.value)  # a function has no options


def test_runs_without_chance_are_compared_exactly() -> None:
    found = rs.tune("changed_queues", minimise="mean_duration", budget=6, progress=False)
    assert {each.runs for each in found.choice.standings} == {1}
    assert "Nothing in these runs is random" in str(found)
    assert found.not_told_apart == []
    with pytest.raises(UserError, match="each of the 6 cells needs one run"):
        rs.tune("changed_queues", minimise="mean_duration", budget=5, progress=False)


def test_variants_of_a_model_are_searched_by_their_parameters() -> None:
    over = read_over(["east.phase=0,3"])
    assert "east.phase=3" in str(rs.tune("fresh_readings", over=over, budget=60, progress=False))
    found = rs.tune("fresh_readings", budget=60, progress=False)
    assert list(found.choice.space.levels) == ["FRESH", "east.phase"]
