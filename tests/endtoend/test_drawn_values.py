"""A choice is shown by the value that was drawn, and kept by its number, in every command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.program import Ended

DICE = """reactiveclass Dice(2) {
    statevars { int rolled; boolean lucky; }
    Dice() { self.roll(3); }
    msgsrv roll(int times) {
        rolled = ?(20, 40);
        lucky = ?(true, false);
        assertion(rolled == 20 || lucky, "bad luck");
        if (times > 1) { self.roll(times - 1) after(1); }
    }
}
main { Dice dice():(); }
"""
BAD_LUCK = "40, false"  # the second alternative of both


@pytest.fixture
def dice(run: Run, tmp_path: Path) -> Run:
    """Run a command in a directory with the model."""
    (tmp_path / "dice.rebeca").write_text(DICE, "utf-8")

    def here(command: str, typed: str = "") -> Ended:
        return run(*command.split(), cwd=tmp_path, typed=typed)

    return here


@pytest.mark.parametrize("engine", ["python", "native"])
def test_simulate_shows_the_values(dice: Run, engine: str) -> None:
    _, out, _ = dice(f"simulate dice.rebeca --seed 2 --engine {engine}")
    rows = [line for line in out.splitlines() if "roll(" in line]
    assert rows
    assert all(f"dice: roll(times={3 - number})" in row for number, row in enumerate(rows))
    for row in rows:
        rolled = "40" if "rolled = 40" in row else "20"
        assert f" {rolled}, {'true' if 'lucky = true' in row else 'false'} " in row


def test_a_saved_run_holds_the_numbers_and_is_done_again(dice: Run, tmp_path: Path) -> None:
    _, first, _ = dice("simulate dice.rebeca --seed 2 --save run.json")
    choices = json.loads((tmp_path / "run.json").read_text("utf-8"))["choices"]
    assert {tuple(row[::2]) for row in choices if row[0] == "value"} == {("value", 2)}
    assert all(row[1] in (0, 1) for row in choices)
    _, again, _ = dice("simulate dice.rebeca --replay run.json")
    assert [line for line in again.splitlines() if "roll(" in line] == [
        line for line in first.splitlines() if "roll(" in line
    ]


def test_explore_shows_the_values_and_keeps_the_numbers(dice: Run, tmp_path: Path) -> None:
    code, out, _ = dice("explore dice.rebeca --engine python --save bad.json --svg bad.svg")
    assert code == 1
    assert "dice: roll(times=3)" in out
    assert BAD_LUCK in out
    kept = json.loads((tmp_path / "bad.json").read_text("utf-8"))
    assert kept["steps"][-1]["choices"] == [[1, 2], [1, 2]]
    assert kept["steps"][-1]["arguments"] == [3]
    picture = (tmp_path / "bad.svg").read_text("utf-8")
    assert f"chooses {BAD_LUCK}" in picture
    assert "roll(times=3)" in picture
    code, replayed, _ = dice("replay bad.json dice.rebeca")
    assert code == 1
    assert BAD_LUCK in replayed


def test_step_offers_the_values(dice: Run) -> None:
    code, out, _ = dice("step dice.rebeca", "1.4\n")
    assert code == 0
    for drawn in ("20, true", "20, false", "40, true", BAD_LUCK):
        assert f"chooses {drawn}" in out
    assert f"dice -> dice: roll(times=3); chooses {BAD_LUCK}; rolled = 40" in out


def test_an_export_labels_its_edges_with_the_values(dice: Run, tmp_path: Path) -> None:
    dice("explore dice.rebeca --engine python --export space.dot --no-deadlock")
    assert f"roll(times=3) [{BAD_LUCK}]" in (tmp_path / "space.dot").read_text("utf-8")


def test_live_shows_the_values_and_refuses_logs_without_them(dice: Run, tmp_path: Path) -> None:
    _, out, _ = dice("live dice.rebeca --seed 1 --log log.json --until 9")
    shown = [line for line in out.splitlines() if "roll(" in line]
    assert all("roll(times=" in line for line in shown)
    assert all(("20, " in line) != ("40, " in line) for line in shown)
    log = json.loads((tmp_path / "log.json").read_text("utf-8"))
    assert all(len(row["drawn"]) == len(row["choices"]) == 2 for row in log["served"])
    _, replayed, _ = dice("live dice.rebeca --replay log.json")
    assert [line for line in replayed.splitlines() if "roll(" in line] == shown
    for row in log["served"]:
        del row["drawn"]
    (tmp_path / "old.json").write_text(json.dumps(log), "utf-8")
    code, _, error = dice("live dice.rebeca --replay old.json")
    assert (code, error) == (2, "old.json: message 1: `drawn` is missing\n")


def test_a_log_whose_values_are_not_those_of_the_model_is_refused(
    dice: Run, tmp_path: Path
) -> None:
    dice("live dice.rebeca --seed 1 --log log.json --until 9 --quiet")
    log = json.loads((tmp_path / "log.json").read_text("utf-8"))
    log["served"][0]["drawn"] = [99, True]
    (tmp_path / "log.json").write_text(json.dumps(log), "utf-8")
    code, _, _ = dice("live dice.rebeca --replay log.json")
    assert code == 2
