"""Probabilities from runs, beside the exact ones, and how they are asked for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import rebecsim as rs
from rebecsim.clusters.model.chances import ChanceQuestion, chances, hits_of, looks_of
from rebecsim.clusters.model.variants import ModelText
from rebecsim.errors import ExitCode, UserError
from rebecsim.exploration.orders import Quantity, QuantityKind
from rebecsim.simulation import simulator
from rebecsim.studies.executors import ThisProcess
from tests.conftest import Run

JOBS = """
reactiveclass Client(2) {
    knownrebecs { Machine machine; }
    Client(int size, int due) { self.submit(size, due); }
    msgsrv submit(int size, int due) { machine.work(size * ?(1, 2), due); }
}
reactiveclass Machine(4) {
    statevars { int late; boolean torn; }
    msgsrv work(int size, int due) {
        delay(size);
        torn = true;
        assertion(now <= due + 3);
        torn = false;
        if (now > due) { late++; }
    }
}
main {
    Client ann(machine):(1, 2);
    Client bob(machine):(2, 4);
    Machine machine():();
}
"""
FILE = "jobs.rebeca"


def question(kind: QuantityKind, text: str = "", source: str = JOBS) -> ChanceQuestion:
    return ChanceQuestion(ModelText(FILE, source), Quantity(kind, text), until=9)


def test_the_exact_values_lie_in_the_intervals() -> None:
    reach = ["machine.late == 1", "machine.late == 2", "machine.torn", "machine.late >= 0"]
    model = rs.loads(JOBS, "jobs")
    exact = rs.exact(model, until=9, reach=reach, goes_wrong=True)
    found = rs.estimate(model, until=9, reach=reach, goes_wrong=True, error=0.1, seed=3)
    for name in (*reach, "goes wrong"):
        assert found[name].low <= exact[name]["expected"] <= found[name].high, name
        assert found[name].error <= 0.1
    assert 0 < exact["goes wrong"]["expected"] < 1
    assert found["machine.torn"].hits == 0  # the step that goes wrong leads to no state
    assert found["machine.late >= 0"].hits == found["machine.late >= 0"].runs


def test_runs_are_the_same_in_whatever_parts_they_are_done() -> None:
    asked = question("reached", "machine.late == 1")
    parts = [hits_of(asked, range(first, first + 20)) for first in (0, 20, 40)]
    assert hits_of(asked, range(60)) == sum(parts)
    assert 0 < sum(parts) < 60
    assert len({hits_of(replace(asked, seed=each), range(60)) for each in range(4)}) > 1


@pytest.mark.slow
def test_compiled_code_and_workers_come_to_the_same(run: Run, tmp_path: Path) -> None:
    asked = question("goes wrong")
    engines = [replace(asked, engine="native"), replace(asked, engine="python")]
    assert len({hits_of(each, range(400)) for each in engines}) == 1
    (tmp_path / FILE).write_text(JOBS)
    words = ("estimate", FILE, "--until", "9", "--goes-wrong", "--error", "0.03", "--json")
    said = [run(*words, "--workers", each, cwd=tmp_path).stdout for each in "12"]
    assert said[0] == said[1] != ""


def test_too_few_runs_are_said_and_the_interval_is_wider() -> None:
    asked = question("reached", "machine.late == 1")
    few = chances([asked], looks_of(0.05, 0.95, 30), 0.95, ThisProcess())
    assert (few.is_precise, few.each[0].found.runs) == (False, 30)
    assert few.each[0].found.error > 0.1


def test_time_that_stands_still_is_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator, "MOST_AT_ONE_TIME", 50)
    endless = (
        "reactiveclass A(2) { A() { self.go(); } msgsrv go() { self.go(); } } main { A a():(); }"
    )
    with pytest.raises(UserError, match="time need not advance"):
        hits_of(question("goes wrong", source=endless), range(1))


def test_the_command_as_a_user_gives_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(JOBS)
    words = ("estimate", FILE, "--until", "9", "--workers", "1")
    found = run(*words, "--reach", "machine.late == 1", "--error", "0.2", cwd=tmp_path)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("jobs up to time 9, to within 0.2\n")
    few = run(*words, "--goes-wrong", "--max-runs", "20", "--json", cwd=tmp_path)
    assert few.returncode == ExitCode.UNDECIDED
    told = json.loads(few.stdout)["quantities"][0]
    assert (told["runs"], told["is_precise"]) == (20, False)
    for options, text in (
        ((), "name at least one probability to estimate"),
        (("--reach", "machine.lat"), "did you mean `late`?"),
        (
            ("--reach", "machine.late"),
            "a condition must be boolean, not int\n    machine.late\n    ^^^^^^^^^^^^",
        ),
        (("--goes-wrong", "--error", "0.7"), "between 0 and 0.5"),
        (("--goes-wrong", "--level", "1"), "between 0 and 1"),
        (("--reach", "machine.torn", "--engine", "native"), "the native engine supports only"),
    ):
        wrong = run(*words, *options, cwd=tmp_path)
        assert wrong.returncode == ExitCode.BAD_INPUT
        assert text in wrong.stderr
