"""`rebecsim races --try` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Run

pytestmark = pytest.mark.large

ACCOUNT = """
reactiveclass Account(5) {
  statevars { int money; int read; }
  Account() { money = 10; }
  msgsrv withdraw(int sum) { read = money; if (read >= sum) { self.pay(sum); } }
  msgsrv pay(int sum) { money = money - sum; assertion(money >= 0, "overdrawn"); }
}
reactiveclass User(3) {
  knownrebecs { Account account; }
  User() { self.go() after(1); }
  msgsrv go() { account.withdraw(6); }
}
main { Account account():(); User ann(account):(); User bob(account):(); }
"""
RACE = "account.pay<account~account.withdraw<ann"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "account.rebeca"
    file.write_text(ACCOUNT)
    return file


def _cures(printed: str) -> list[str]:
    return printed[printed.index("\ncures of") :].splitlines()[1:]


def test_a_table_of_cures_and_the_change_that_removes_the_race(run: Run, model: Path) -> None:
    code, printed, _ = run("races", "--no-deadlock", model, "--try")
    assert code == 1  # the model has its race still
    assert printed.count("\ncures of") == 1  # bob's race is that of ann with rebecs exchanged
    lines = _cures(printed)
    assert lines[:3] == [
        "cures of 1. account.pay from account / account.withdraw from ann",
        "   removes    @priority: account.pay before account.withdraw",
        "              satisfied",
    ]
    assert "   hides      @priority: account.withdraw before account.pay" in lines
    assert lines[lines.index("   the first one changes:") :] == [
        "   the first one changes:",
        "   --- account-unchanged.rebeca",
        "   +++ account-priority-account.pay-before-account.withdraw.rebeca",
        "   @@ -17,2 +17,3 @@",
        "",
        "   +    @priority(1)",
        "        msgsrv pay(int sum) {",
    ]
    assert max(map(len, lines)) <= 80


def test_the_changed_models_are_saved_and_are_what_was_said(
    run: Run, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "cures" / "of account"
    code, printed, said = run("races", "--no-deadlock", model, "--save-cures", out, "--only", RACE)
    assert code == 1
    names = {file.name for file in out.iterdir()}
    assert f"{len(names) - 1} changed models in {out}" in said
    assert "account-unchanged.rebeca" in names
    assert "account-atomic-account.pay.rebeca" in names
    # the change is between the two files
    assert "   removes    atomic: account.pay done at once by what sends it" in _cures(printed)
    code, again, _ = run("races", "--no-deadlock", out / "account-atomic-account.pay.rebeca")
    assert (code, again.splitlines()[0]) == (0, "account_atomic_account_pay: no races")
    code, again, _ = run("races", "--no-deadlock", out / "account-unchanged.rebeca")
    assert (code, again.splitlines()[0]) == (
        1,
        "account_unchanged: 2 of 2 kinds of races are harmful",
    )


def test_cures_as_plain_values(run: Run, model: Path) -> None:
    code, printed, _ = run("races", "--no-deadlock", model, "--try", "--json")
    assert code == 1
    (cured,) = json.loads(printed)["cures"]
    assert cured["race"] == RACE
    assert cured["removed_by"] == "priority-account.pay-before-account.withdraw"
    first, *others = cured["tried"]
    assert first["outcome"] == "removes"
    assert first["violations"] == []
    assert "+    @priority(1)" in first["diff"]
    worse = next(each for each in others if each["outcome"] == "worse")
    assert worse["found"]
    not_applicable = next(each for each in others if each["outcome"] == "n/a")
    assert not_applicable["diff"] is None


def test_without_the_option_nothing_is_tried(run: Run, model: Path) -> None:
    _, printed, _ = run("races", "--no-deadlock", model, "--json")
    assert "cures" not in json.loads(printed)


def test_what_a_limit_hides_is_not_cured(run: Run, model: Path) -> None:
    code, printed, _ = run("races", "--no-deadlock", model, "--try", "--max-states", 12)
    assert code == 3
    assert printed.splitlines()[-1] == "no race to cure: none matters"


def test_nothing_to_cure(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "fine.rebeca"
    file.write_text("reactiveclass A(2) { A() { self.go(); } msgsrv go() { } } main { A a():(); }")
    code, printed, _ = run("races", "--no-deadlock", file, "--try")
    assert code == 0
    assert printed.splitlines()[-1] == "no race to cure: none matters"


def test_only_one_race_is_shown_with_its_number(run: Run) -> None:
    races = Path(__file__).resolve().parents[3] / "models/races"
    asked = ("races", races / "natjam_no_lock.rebeca", "--property", races / "mirror.property")
    code, printed, _ = run(*asked, "--only", "rm.tick<rm~rm.update<am")
    assert code == 1
    lines = printed.splitlines()
    assert lines[0] == "natjam_no_lock: 5 of 5 kinds of races are harmful"
    assert lines[2].startswith("4. rm.tick from rm / rm.update from am: a violation 3 steps")
    assert [line[:2] for line in lines if line[:1].isdigit()] == ["4."]
    assert lines[-1].startswith("Looked at 8,321 states")


def test_a_race_that_there_is_not(run: Run, model: Path) -> None:
    code, _, said = run("races", "--no-deadlock", model, "--try", "--only", "a<b")
    assert code == 2
    assert f"there is no race 'a<b'; the races are: {RACE}" in said


def test_python_that_is_not_understood_is_refused(run: Run, tmp_path: Path) -> None:
    known = Path(__file__).resolve().parents[3] / "models/teaching/yarn_reservations.py"
    model = tmp_path / "not_understood.py"
    changed = known.read_text().replace("        self.", "        repr(self)\n        self.", 1)
    model.write_text(changed)
    code, printed, said = run("races", model, "--try")
    assert (code, printed) == (2, "")
    assert "cures change Rebeca text" in said


def test_a_directory_that_cannot_be_written(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, printed, said = run("races", model, "--save-cures", tmp_path / "file" / "cures")
    assert (code, printed) == (2, "")  # before anything takes long
    assert str(tmp_path / "file") in said
