"""What a comparison says about its own figures, as a user reads it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run

pytestmark = pytest.mark.usefixtures("without_charts")

SCENARIO = """
kind = "dispatch"
name = "words"
policies = ["EDF", "MDF"]
app_masters = [2]
queue_size = 4
epsilon = 0.5
replications = 6
ticks = 20
seed = 3

[[arrivals]]
pattern = "uniform"
count = 1

[[lengths]]
pattern = "nondet"
minimum = 1
maximum = 4
"""
WITHOUT_CHANCE = SCENARIO.replace("minimum = 1\nmaximum = 4", "minimum = 3\nmaximum = 3").replace(
    "seed = 3", 'seed = 3\norder = "ticks-first"'
)
NEVER_LATE = SCENARIO.replace("app_masters = [2]", "app_masters = [8]").replace(
    "epsilon = 0.5", "epsilon = 20.0"
)


@pytest.fixture
def said(run: Run) -> Callable[..., str]:
    """Run a command; give what it printed, in one line."""

    def words(*arguments: object) -> str:
        code, printed, complaint = run(*arguments, columns=80)
        assert code == 0, complaint
        return " ".join((printed + complaint).split())

    return words


@pytest.fixture
def compare(said: Callable[..., str], tmp_path: Path) -> Callable[..., str]:
    """Compare the policies of a scenario; give what is said."""

    def compared(scenario: str, *options: object) -> str:
        (tmp_path / "words.toml").write_text(scenario)
        command = ("compare", tmp_path / "words.toml", "--out", tmp_path / "out")
        return said(*command, "--engine", "python", "--explain", *options)

    return compared


def page(directory: Path) -> str:
    text = (directory / "out" / "report.html").read_text()
    return " ".join(text.partition("<script>")[0].split())


def test_a_precision_that_is_not_reached_is_said(compare, tmp_path):
    limits = ("--precision", "1%", "--max-replications", 60, "--no-orders")
    shown = compare(SCENARIO, *limits)
    for text in (shown, page(tmp_path)):
        assert "Precision: 1 % of Deadline misses was NOT reached by EDF (" in text
        assert "as 60 runs of each cell were the limit" in text
    assert "<td>60 (at most 60)</td>" in page(tmp_path)


def test_a_precision_that_is_reached_is_said_with_the_runs_that_ran(compare, said, tmp_path):
    shown = compare(SCENARIO, "--precision", "30%", "--no-orders")
    assert "reached by every policy after 50 runs of each cell" in shown
    assert "<td>50 (at most 10000)</td>" in page(tmp_path)
    table = said("runs", tmp_path / "out")
    assert " 50 3 fair" in table
    assert "10000" not in table
    asked = said("query", "select replications from runs", tmp_path / "out", "--csv")
    assert asked == "replications 50"


def test_without_any_miss_the_runs_end(compare, tmp_path):
    shown = compare(NEVER_LATE, "--precision", "1%", "--no-orders")
    assert "EDF: Deadline misses are 0 in all" in shown
    assert "confidence fewer than" in shown


def test_models_without_chance_differ_for_certain(compare, tmp_path):
    shown = compare(WITHOUT_CHANCE, "--replications", 1)
    for text in (shown, page(tmp_path)):
        assert ", in every run." in text
        assert "Nothing is random in these models" in text
    assert "95 % interval" not in shown


def test_a_run_in_another_order_says_why_there_is_no_comparison_of_orders(compare, tmp_path):
    shown = compare(SCENARIO, "--order", "updates-first")
    for text in (shown, page(tmp_path)):
        assert "were served in the order updates-first alone" in text


def test_updates_and_ticks_are_explained(compare, tmp_path):
    shown = compare(SCENARIO)
    for text in (shown, page(tmp_path)):
        assert "An update is the message of an AppMaster that its job has ended" in text
        assert "overlapping intervals do not" in text


@pytest.mark.parametrize("form", ["rebeca", "python"])
def test_generate_says_that_the_order_is_not_in_the_models(said, tmp_path, form):
    path = tmp_path / "ordered.toml"
    path.write_text(WITHOUT_CHANCE)
    shown = said("generate", path, "--out", tmp_path / form, "--form", form)
    assert "the models leave out order 'ticks-first'" in shown
    path.write_text(SCENARIO)
    assert "order" not in said("generate", path, "--out", tmp_path / "random", "--form", form)
