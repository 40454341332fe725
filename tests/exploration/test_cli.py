"""The commands explore, replay, draw and conformance as a user meets them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from rich.console import Console

from rebecsim.cli.explore import showing_progress
from rebecsim.exploration import Progress
from tests.conftest import Run

TICKETS = Path(__file__).resolve().parents[2] / "models" / "ticket_service.rebeca"
NEVER_BOTH = "ann.tickets != 2 || bob.tickets != 2"


def test_a_satisfied_model(run: Run) -> None:
    code, printed, _ = run("explore", TICKETS)
    assert code == 0
    assert printed.startswith("ticket_service: no violation in any order: 8,028 states, ")
    assert "\nLooked for: failed assertions, missed deadlines, full queues.\n" in printed
    assert "\nNo property was given. `--invariant CONDITION` or `--property FILE`" in printed
    assert all(len(line) <= 80 for line in printed.splitlines())


def test_the_figures_of_a_search_are_shown_if_wanted(run: Run) -> None:
    _, printed, _ = run("explore", TICKETS, "--verbose")
    assert "\nFTTS: 8,028 states, 15,715 transitions, " in printed


def test_a_given_property_is_among_what_was_looked_for(run: Run) -> None:
    code, printed, _ = run("explore", TICKETS, "--invariant", "office.left >= 0", "--no-deadlines")
    assert code == 0
    assert "\nLooked for: failed assertions, full queues, 1 given property.\n" in printed
    assert "No property was given" not in printed


def test_an_undecided_search_says_how_far_it_got_and_what_to_try(run: Run) -> None:
    code, printed, _ = run("explore", TICKETS, "--max-states", 100)
    assert code == 3
    assert printed.startswith(
        "ticket_service: undecided: the limit of 100 states was reached; no violation so far\n"
    )
    assert "\nSeen so far: 100 states and " in printed
    assert "\nTry a larger `--max-states`, or " in printed


def test_json_is_one_object(run: Run) -> None:
    code, printed, _ = run("explore", TICKETS, "--tts", "--json")
    assert code == 0
    result = json.loads(printed)
    assert (result["model"], result["mode"]) == ("ticket_service", "TTS")
    assert (result["verdict"], result["message"]) == ("satisfied", "")
    assert (result["states"], result["transitions"]) == (20043, 28828)
    assert result["seconds"] > 0
    assert result["peak_memory"] > 1_000_000
    assert "one for the initial state" in result["transitions_counted_as"]


def test_a_violation_is_shown_saved_drawn_and_done_again(run: Run, tmp_path: Path) -> None:
    saved, svg = tmp_path / "run.json", tmp_path / "run.svg"
    test = tmp_path / "test_run.py"
    files = ("--save", saved, "--svg", svg, "--as-test", test)
    code, printed, errors = run("explore", TICKETS, "--invariant", NEVER_BOTH, *files)
    assert code == 1
    assert f"property violated: {NEVER_BOTH}" in printed
    assert "office: buy(customer=bob)" in printed
    assert all(str(file) in errors for file in (saved, svg, test))
    code, printed, _ = run("replay", saved, TICKETS, "--svg", tmp_path / "again.svg")
    assert code == 1
    assert "office: buy(customer=bob)" in printed
    assert (tmp_path / "again.svg").read_text() == svg.read_text()


def test_a_verdict_that_says_all_has_no_empty_tail(run: Run, tmp_path: Path) -> None:
    file, saved = tmp_path / "never.rebeca", tmp_path / "run.json"
    file.write_text(
        "reactiveclass A(3) { A() { self.go(); } msgsrv go() { assertion(false); } }"
        " main { A a():(); }"
    )
    code, printed, _ = run("explore", file, "--save", saved)
    assert code == 1
    assert printed.startswith("never: assertion failed\n")
    code, printed, _ = run("replay", saved, file)
    assert code == 1
    assert printed.splitlines()[-1] == "assertion failed"


CORE = (
    "reactiveclass A(3) { knownrebecs { A b; } A() { self.go(); } msgsrv go() { b.go(); } }"
    " main { A a(b):(); A b(a):(); }"
)


def test_json_says_how_many_symmetries_were_used(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "core.rebeca"
    file.write_text(f"// rebeca: core\n{CORE}")
    code, printed, _ = run("explore", file, "--reduce", "--json")
    assert code == 0
    assert json.loads(printed)["symmetries"] == 2


@pytest.mark.parametrize(
    ("section", "complaint"),
    [
        (
            "LTL { a: G(ann.tickts > 1); }",
            "2:13: error: `ann` has no state variable `tickts`\n"
            "     LTL { a: G(ann.tickts > 1); }\n"
            "                ^^^^^^^^^^\nhint: did you mean `tickets`?",
        ),
        (
            "TCTL { a: AF(time <= -3, ann.asking); }",
            "2:23: error: the time limit must be a constant int, 0 or more\n"
            "     TCTL { a: AF(time <= -3, ann.asking); }\n"
            "                          ^^",
        ),
        (
            "TCTL { a: AF(time >= 5 && time <= 3, ann.asking); }",
            "2:15: error: the bound of `AF` must compare `time` with a constant\n",
        ),
        ("TCTL { a: AG(G(ann.asking)); }", "2:15: error: `G` is not a temporal operator of TCTL\n"),
        ("LTL { a: AG(ann.asking); }", "2:11: error: `AG` is not a temporal operator of LTL\n"),
    ],
)
def test_mistakes_in_formulas_are_pointed_at(
    run: Run, tmp_path: Path, section: str, complaint: str
) -> None:
    (tmp_path / "p.property").write_text(f"property {{\n {section}\n}}\n")
    code, printed, said = run("explore", TICKETS, "--property", "p.property", cwd=tmp_path)
    assert (code, printed) == (2, "")
    assert said.startswith(f"p.property:{complaint}")
    assert "\n     " in said
    assert "^^" in said


def test_both_reductions_go_together(run: Run, tmp_path: Path) -> None:
    clock = "reactiveclass A(2) { A() { self.go(); } msgsrv go() { self.go() after(1); } }"
    file = tmp_path / "clocks.rebeca"
    file.write_text(f"{clock} main {{ A a():(); A b():(); A c():(); }}")
    found = []
    for options in ((), ("--reduce",), ("--partial-order",), ("--reduce", "--partial-order")):
        code, printed, _ = run("explore", file, *options, "--json")
        assert code == 0
        found.append(json.loads(printed)["states"])
    plain, merged, ordered, both = found
    assert both <= min(merged, ordered) <= max(merged, ordered) < plain


@pytest.mark.parametrize("command", ["explore", "races"])
def test_a_core_model_that_is_read_as_timed_says_what_to_do(
    run: Run, tmp_path: Path, command: str
) -> None:
    file = tmp_path / "core.rebeca"
    file.write_text(CORE)
    _, _, errors = run(command, file)
    assert "With --core, or `// rebeca: core` in its first line, it is Core Rebeca" in errors
    file.write_text(f"// rebeca: core\n{CORE}")
    code, printed, errors = run(command, file)
    assert (code, errors) == (0, "")
    assert printed.startswith("core")
    for option in (["--tts"], ["--horizon", "5"]):
        code, _, errors = run(command, file, *option)
        assert code == 2
        assert "Core Rebeca" in errors


def test_step_waits_after_each_step(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = tmp_path / "run.json"
    run("explore", TICKETS, "--invariant", "ann.tickets == 0", "--save", saved)
    waited: list[None] = []
    monkeypatch.setattr(Console, "input", lambda _: waited.append(None))
    code, printed, _ = run("replay", saved, TICKETS, "--step")
    steps = json.loads(saved.read_text())["steps"]
    assert code == 1
    assert len(waited) == len(steps) - 1
    assert f"{len(steps)}/{len(steps)} " in printed


def test_out_of_bounds_is_neither_satisfied_nor_violated(run: Run) -> None:
    code, printed, _ = run("explore", TICKETS, "--max-states", 100)
    assert code == 3
    assert "undecided: the limit of 100 states was reached; no violation so far" in printed
    code, printed, _ = run("explore", TICKETS, "--strategy", "walks", "--walks", 2, "--depth", 5)
    assert code == 3
    code, printed, _ = run("explore", TICKETS, "--strategy", "bounded", "--depth", 3)
    assert code == 3


def test_what_was_left_out_is_said(run: Run) -> None:
    ignored = ("--ignore", "Customer.tickets")
    code, printed, _ = run("explore", TICKETS, "--horizon", 20, *ignored)
    assert code == 3
    assert "Left out of the state: Customer.tickets" in printed
    assert "States at different times count as different: horizon" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--invariant", "ann.nothing > 0"), "<invariant>:1:1: error: `ann` has no state variable"),
        (("--invariant", "ann.tickets >"), "<invariant>:1:"),
        (("--terminal", "nobody.x == 1"), "<terminal>:1:1"),
        (("--ignore", "ann.nothing"), "there is no 'ann.nothing'"),
        (("--property", "missing.property"), "missing.property"),
        (("--export", "space.png"), "space.png: must end in one of"),
        (("--strategy", "bounded"), "--depth"),
        (("--strategy", "depth", "--compact"), "--compact"),
        (("--depth", "3"), "--depth"),
        (("--seed", "3"), "--seed"),
        (("--core",), "error"),
    ],
)
def test_bad_input_gives_2(run: Run, arguments: tuple[str, ...], message: str) -> None:
    code, printed, errors = run("explore", TICKETS, *arguments)
    assert code == 2
    assert printed == ""
    assert message in errors


def test_a_property_file_for_another_model(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "other.property"
    file.write_text("property {\n  define { p = kiosk.cups > 0; }\n  Assertion { A: p; }\n}\n")
    code, _, errors = run("explore", TICKETS, "--property", file)
    assert code == 2
    assert f"{file}:2:" in errors
    assert "before the dot there must be the name of an instance" in errors


def test_a_run_of_another_model(run: Run, tmp_path: Path) -> None:
    saved, other = tmp_path / "run.json", tmp_path / "other.rebeca"
    run("explore", TICKETS, "--invariant", "ann.tickets == 0", "--save", saved)
    other.write_text(TICKETS.read_text().replace("office.buy(self) after(1)", "office.buy(self)"))
    code, _, errors = run("replay", saved, other)
    assert code == 2
    assert f"{saved}: step 2 of " in errors


def test_exports_and_drawings(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "space.aut"
    code, _, errors = run("explore", TICKETS, "--max-states", 50, "--export", file)
    assert code == 3
    assert "50 states" in errors
    assert "cut off at a limit" in errors
    assert file.read_text().startswith("des (0, ")
    code, _, _ = run("draw", TICKETS, "--out", tmp_path / "topology.svg")
    assert code == 0
    code, _, errors = run("draw", TICKETS, "--states", "--out", tmp_path / "space.svg")
    assert code == 2
    assert "up to 60 states" in errors


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite of one small model, of which the reference is wrong."""
    (tmp_path / "lamp.rebeca").write_text(
        "reactiveclass Lamp(2) { Lamp() { self.on(); } msgsrv on() { self.on() after(1); } }\n"
        "main { Lamp lamp():(); }\n"
    )
    ideal = {"verdict": "satisfied", "states": 1, "transitions": 2}
    results = [
        {"mode": "FTTS", "verdict": "deadlock", "states": 7, "transitions": 8, "ideal": ideal},
        {"mode": "TTS", "verdict": "satisfied", "states": 2, "transitions": 3},
    ]
    entry = {"file": "lamp.rebeca", "language": "timed", "results": results}
    (tmp_path / "manifest.json").write_text(json.dumps({"models": [entry]}))
    return tmp_path


def test_conformance_prefers_the_ideal(run: Run, suite: Path) -> None:
    code, printed, _ = run("conformance", suite)
    assert code == 0
    assert "satisfied 1/2 (ideal)" in printed
    assert "2 agree, 0 differ" in printed


def test_a_long_suite_says_how_far_it_is(
    run: Run, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "so far" not in run("conformance", suite).stderr
    monkeypatch.setattr("rebecsim.cli.check._PAUSE", 0.0)
    said = run("conformance", suite).stderr.splitlines()
    assert said[0].startswith("1 result so far, the last of ")


def test_conformance_notices_a_difference(run: Run, suite: Path) -> None:
    manifest = suite / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"states": 2', '"states": 3'))
    code, printed, _ = run("conformance", suite)
    assert code == 1
    assert "DIFFERS" in printed


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[]", '{"models": [{"file": "x"}]}', '{"models": 1}', '{"models": {"a": 1}}'),
        '{"models": [{"file": "lamp.rebeca", "language": "timed", "results": 1}]}',
        '{"models": [{"file": 1, "language": "timed", "results": []}]}',
        *(
            '{"models": [{"file": "lamp.rebeca", "language": "timed", "results": [{"mode": "FTTS", '
            f'"verdict": {more}}}]}}]}}'
            for more in ('["x"]', '"x", "ideal": 1', '"x", "states": "2"', '"x", "formula": 2')
        ),
        f'{{"models": {"[" * 10_000}{"]" * 10_000}}}',
    ],
)
def test_a_wrong_manifest_is_refused(run: Run, suite: Path, text: str) -> None:
    (suite / "manifest.json").write_text(text)
    code, _, errors = run("conformance", suite)
    assert code == 2
    assert "manifest.json: " in errors


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("patience", "shown"), [(0.0, True), (60.0, False)])
def test_progress_is_shown_of_searches_that_take_a_while(
    patience: float, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("rebecsim.cli.explore._PATIENCE", patience)
    with showing_progress() as progress:
        assert progress is not None
        progress(Progress(states=1234, transitions=5, frontier=6, seconds=2.0))
    assert ("1,234 states, 5 transitions, frontier 6, 617 states/s" in screen.getvalue()) is shown


def test_progress_is_not_shown_to_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with showing_progress() as progress:
        assert progress is None
