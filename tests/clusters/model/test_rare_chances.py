"""Rare events by splitting, beside the exact probabilities, and how they are asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rebecsim as rs
from rebecsim.clusters.model.chances import Effort, RareChance, rare_chance
from rebecsim.errors import ExitCode, UserError
from rebecsim.exploration.orders import Levels, Quantity, SplitRuns
from rebecsim.interface import LoadedModel
from tests.conftest import Run

QUEUE = """
reactiveclass Source(3) {
    knownrebecs { Server server; }
    Source() { self.tick(); }
    msgsrv tick() {
        if (?(0, 0, 1) == 1) { server.job(); }
        self.tick() after(1);
    }
}
reactiveclass Server(20) {
    statevars { int waiting; }
    Server() { self.serve(); }
    msgsrv job() { waiting++; assertion(waiting < 5); }
    msgsrv serve() {
        if (waiting > 0 && ?(0, 1) == 1) { waiting--; }
        self.serve() after(1);
    }
}
main { Source source(server):(); Server server():(); }
"""
RELAY = """
reactiveclass Runner(3) {
    knownrebecs { Runner other; }
    statevars { int lap; }
    Runner() { self.go(); }
    msgsrv go() {
        if (?(true, false)) { lap++; other.trip() after(1); } else { lap = 0; }
        self.go() after(1);
    }
    msgsrv trip() { if (?(true, false, false)) { lap = 0; } }
}
main { Runner ann(bob):(); Runner bob(ann):(); }
"""
FULL = Quantity("goes wrong")
FAR = Quantity("reached", "ann.lap >= 6")


def split(
    model: LoadedModel, quantity: Quantity, expression: str, at: tuple[float, ...], effort: Effort
) -> RareChance:
    levels = Levels(expression, at)
    walks = SplitRuns(model.model, quantity, levels, 9, checked=model.checked)
    each = [walks.estimate(effort.runs, effort.seed, place) for place in range(effort.repetitions)]
    return rare_chance(each, quantity, levels, effort)


@pytest.mark.parametrize(
    ("text", "quantity", "expression", "at"),
    [
        (QUEUE, FULL, "server.waiting", (1.0, 2.0, 3.0, 4.0)),
        (RELAY, FAR, "ann.lap", (2.0, 4.0, 5.0)),
        (RELAY, FAR, "ann.lap - bob.lap", (0.5, 1.0)),  # poor, and still without bias
    ],
)
def test_the_exact_value_lies_in_the_interval(
    text: str, quantity: Quantity, expression: str, at: tuple[float, ...]
) -> None:
    model = rs.loads(text)
    reach = [quantity.text] if quantity.text else []
    exact = rs.exact(model, until=9, reach=reach, goes_wrong=not reach)
    truth = exact[quantity.text or quantity.kind]["expected"]
    assert 0 < truth < 0.02
    found = split(model, quantity, expression, at, Effort(25, 60, seed=1))
    assert found.low <= truth <= found.high < 3 * truth + 0.01
    assert found.was_seen


def test_repetitions_are_alike_whatever_was_run_before() -> None:
    model = rs.loads(RELAY)
    few = split(model, FAR, "ann.lap", (2.0, 4.0), Effort(3, 40))
    more = split(model, FAR, "ann.lap", (2.0, 4.0), Effort(5, 40))
    assert more.each[:3] == few.each
    assert len(set(split(model, FAR, "ann.lap", (2.0, 4.0), Effort(9, 40)).each)) > 1


def test_it_is_found_from_python_as_well() -> None:
    model = rs.loads(RELAY)
    found = rs.rare(
        model, until=9, reach=FAR.text, split="ann.lap", at=[2, 4], per_level=40, repeat=3
    )
    assert found.chance.each == split(model, FAR, "ann.lap", (2.0, 4.0), Effort(3, 40)).each
    assert found.to_json()["runs_per_level"] == 40
    wrong = rs.rare(rs.loads(QUEUE), until=9, split="server.waiting", at=[2], repeat=2)
    assert wrong.chance.quantity == FULL


def test_figures_do_not_depend_on_the_number_of_workers() -> None:
    asked = {"until": 9, "reach": FAR.text, "split": "ann.lap", "at": [2, 4]}
    model = rs.loads(RELAY)
    alone = rs.rare(model, **asked, per_level=30, repeat=4)
    shared = rs.rare(model, **asked, per_level=30, repeat=4, workers=2)
    assert shared.to_json() == alone.to_json()
    assert len(set(shared.chance.each)) > 1
    with pytest.raises(UserError, match="only this program knows the model"):
        rs.rare(model.model, **asked, workers=2)


def test_what_no_run_shows_has_no_interval() -> None:
    never = Quantity("reached", "ann.lap > 100")
    found = split(rs.loads(RELAY), never, "ann.lap", (1.0, 2.0), Effort(2, 20))
    assert (found.value, found.was_seen) == (0.0, False)
    assert found.to_json()["high"] is None


def test_what_is_true_at_the_start_is_certain() -> None:
    sure = Quantity("reached", "ann.lap == 0")
    assert split(rs.loads(RELAY), sure, "ann.lap", (3.0,), Effort(2, 5)).each == (1.0, 1.0)


def test_time_that_stands_still_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rebecsim.exploration.orders.splitting._MOST_AT_ONE_TIME", 20)
    endless = """
    reactiveclass A(2) { statevars { int n; } A() { self.go(); } msgsrv go() { self.go(); } }
    main { A a():(); }
    """
    with pytest.raises(UserError, match="time need not advance"):
        split(rs.loads(endless), Quantity("reached", "a.n > 9"), "a.n", (1.0,), Effort(2, 5))


def test_the_command_as_a_user_gives_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "relay.rebeca").write_text(RELAY)
    words = ("estimate", "relay.rebeca", "--until", "9", "--reach", "ann.lap >= 6")
    asked = (*words, "--split", "ann.lap", "--at", "2", "--at", "4", "--repeat", "3")
    found = run(*asked, "--per-level", "50", "--workers", "1", cwd=tmp_path)
    shared = run(*asked, "--per-level", "50", "--workers", "3", cwd=tmp_path)
    assert (shared.returncode, shared.stdout) == (0, found.stdout)
    assert (found.returncode, found.stderr) == (0, "")
    heading = "split where ann.lap comes to 2, 4: 3 times, 50 runs on each level\n"
    assert found.stdout.startswith(heading)
    few = run(*asked, "--per-level", "1", "--json", cwd=tmp_path)
    assert few.returncode == ExitCode.UNDECIDED
    assert json.loads(few.stdout)["probability"] == 0
    for options, text in (
        (("--at", "2"), "works only with `--split`"),
        (("--split", "ann.lap"), "in increasing order"),
        (("--split", "ann.lap", "--at", "3", "--at", "3"), "in increasing order"),
        (
            ("--split", "ann.lpa", "--at", "3"),
            "    ann.lpa\n    ^^^^^^^\nhint: did you mean `lap`?",
        ),
        (("--split", "ann.lap > 1", "--at", "3"), "expected a number, found boolean\n    ann.lap"),
        (("--split", "ann.lap", "--at", "3", "--error", "0.1"), "use --repeat and --per-level"),
        (("--split", "ann.lap", "--at", "3", "--goes-wrong"), "one probability only"),
    ):
        wrong = run(*words, *options, cwd=tmp_path)
        assert wrong.returncode == ExitCode.BAD_INPUT
        assert text in wrong.stderr
