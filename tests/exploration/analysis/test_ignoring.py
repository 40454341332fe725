"""What a variable that is left out of the state decides."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner

from rebecsim.cli.app import app
from rebecsim.errors import ExitCode
from rebecsim.exploration import Limits, Mode, Problem, abstraction, explore, pose, state_space
from rebecsim.exploration.properties import decided_by
from rebecsim.generate import build_model
from rebecsim.generate.module import load_checked
from rebecsim.lang import check_source

MODEL = """
reactiveclass A(3) {
  knownrebecs { B b; }
  statevars { int n; int m; int[2] cells; }
  A() { self.go(); }
  msgsrv go() {
    BODY
    self.go() after(1);
  }
  int next(int k) { return k + 1; }
}
reactiveclass B(3) { msgsrv take(int k) { } }
main { A a(b):(); B b():(); }
"""


def _decides(body: str, *names: str) -> tuple[str, ...]:
    checked = check_source(MODEL.replace("BODY", body), "decides.rebeca")
    model = build_model(checked, "decides.rebeca")
    return tuple(map(str, decided_by(model, abstraction(model, names or ["a.n"]), checked)))


@pytest.mark.parametrize(
    "body",
    [
        "n++;",
        "n = n + 1; if (n > 5) { n = 1; }",
        "n = (n + m) % 7;",
        "int k = n; k = k + 1; n = k;",
        "cells[0] = m; m = 1; n = cells[0];",
    ],
)
def test_what_nobody_looks_at_decides_nothing(body: str) -> None:
    assert _decides(body) == ()


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("n++; if (n > 2) { b.take(1); }", "a branch"),
        ("n++; assertion(n < 9);", "an assertion"),
        ("n++; b.take(n);", "what is sent"),
        ("n++; b.take(1) after(n);", "a time"),
        ("n++; b.take(1) deadline(n);", "a time"),
        ("n++; delay(n);", "a time"),
        ("n++; m = n;", "the value of m"),
        ("n++; if (n > 2) { m = 1; }", "the value of m"),
        ("n++; int k = n; if (k > 2) { b.take(1); }", "a branch"),
        ("n++; while (n > 2) { n--; }", "a branch"),
        ("n++; cells[n] = 1;", "an index"),
        ("n++; cells[n % 2] = 1;", "whether there is a remainder"),
        ("n++; m = 6 / n;", "whether there is a quotient"),
        ("n++; m = next(n);", "what a method is given"),
    ],
)
def test_what_is_looked_at_decides(body: str, what: str) -> None:
    (found,) = _decides(body)
    assert found.startswith(f"a.n (it decides {what}, decides.rebeca:7)")


def test_variables_that_are_left_out_together_may_feed_each_other() -> None:
    assert _decides("n++; m = n;", "a.n", "a.m") == ()
    found = _decides("n++; m = n; if (m > 2) { b.take(1); }", "a.n", "a.m")
    assert [each.partition(" ")[0] for each in found] == ["a.n", "a.m"]


# --- against exploring with the variable ----------------------------------------------------------

NAMES = ["m", "x", "p", "cells[0]", "cells[1]", "2"]
FOLLOWED = """
reactiveclass A(4) {
  knownrebecs { B b; }
  statevars { int n; int m; boolean flag; int[2] cells; }
  A() { self.go(0); }
  msgsrv go(int x) { int p = 0; ONE }
  msgsrv come(int x) { int p = 1; TWO }
  int next(int k) { return (k + m) % 3; }
}
reactiveclass B(4) {
  knownrebecs { A a; }
  msgsrv take(int x) { if (x >= 0) { a.come(x) after(1); } }
}
main { A a(b):(); B b(a):(); }
"""


def _name(rng: Random, often: float = 0.04) -> str:
    return "n" if rng.random() < often else rng.choice(NAMES)


def _value(rng: Random, often: float) -> str:
    left, right = _name(rng, often), _name(rng, often)
    whole = [f"({left} {rng.choice('+-*')} {right}) % 3", left, f"{left} == 1 ? {right} : 0"]
    rare = [f"({left} + 3) / (1 + {right} * {right})", f"next({left})", f"{left} / {right}"]
    return rng.choice([*whole, *whole, *rare])


def _drawn_statement(rng: Random, depth: int = 0) -> str:
    condition = f"{_name(rng)} {rng.choice(['<', '=='])} 1"
    target = rng.choice(["m", "p", "cells[0]", f"cells[{_name(rng)} % 2]"])
    kinds = [f"{target} = {_value(rng, 0.04)};", f"n = {_value(rng, 0.5)};"] * 2
    kinds += [f"if (n {rng.choice(['<', '=='])} 1) {{ n = {_value(rng, 0.5)}; }}"]
    kinds += [f"p = {_value(rng, 0.5)}; n = p;"]
    kinds += [f"n += {rng.choice('mx1')}; n = n % 4;", "flag = !flag;", f"flag = {condition};"]
    kinds += [f"assertion({condition} || flag || m < 2);", "m = ?(0, 1);", "n = ?(0, 1, 2);"]
    kinds += [f"b.take({_name(rng)});", f"delay({rng.choice('11mm')});"]
    if depth < 2:
        inner, other = _drawn_statement(rng, depth + 1), _drawn_statement(rng, depth + 1)
        kinds += [f"if ({condition}) {{ {inner} }} else {{ {other} }}"] * 3
        kinds += [
            f"for (int i{depth} = 0; i{depth} < {rng.choice('12m')}; i{depth}++) {{ {inner} }}"
        ]
        kinds += [f"switch (m) {{ case 0: {inner} break; default: {other} }}"]
    return rng.choice(kinds)


def _drawn_source(rng: Random) -> str:
    bodies = [" ".join(_drawn_statement(rng) for _ in range(rng.randint(1, 3))) for _ in range(2)]
    one = f"{bodies[0]} b.take(x) after(1); self.go(x) after(1);"
    return FOLLOWED.replace("ONE", one).replace("TWO", bodies[1])


def _projected(problem: Problem) -> int:
    """Count the states that differ in more than a.n."""
    space = state_space(problem)
    position = problem.system.runner.names[0].index("n")

    def seen(local: Any) -> tuple[Any, ...]:
        kept = local.variables
        if local.owner == 0:
            kept = kept[:position] + kept[position + 1 :]
        return kept, local.clock, local.bag

    return len({tuple(seen(local) for local in state[:2]) for state in space.states})


def _is_the_same_without(source: str, mode: Mode) -> bool:
    """Check that a model does the same without `a.n`; False if it is not said to, or too large."""
    checked = check_source(source)
    model = build_model(checked)
    if decided_by(model, abstraction(model, ["a.n"]), checked):
        return False
    options: dict[str, Any] = {"mode": mode, "stop_at": "all", "checked": checked}
    without = explore(model, abstract=["a.n"], limits=Limits(states=500), **options)
    full = explore(model, limits=Limits(states=2_000), **options)
    if without.bounds or full.bounds:
        return False
    found, expected = (
        {(each.verdict, each.message) for each in result.violations} for result in (without, full)
    )
    assert found == expected
    if mode == "FTTS" and not full.violations:
        assert without.states == _projected(pose(model, mode=mode, checked=checked))
    return True


def _compare(seeds: range) -> int:
    compared = 0
    for seed in seeds:
        source = _drawn_source(Random(seed))
        for mode in ("FTTS", "TTS"):
            try:
                compared += _is_the_same_without(source, mode)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, {mode}: {error}\n{source}") from error
    return compared


def test_what_decides_nothing_changes_no_verdict() -> None:
    assert _compare(range(60)) > 60


@pytest.mark.slow
def test_what_decides_nothing_changes_no_verdict_of_many() -> None:
    assert _compare(range(30, 1_500)) > 1_200


# --- models in Python -----------------------------------------------------------------------------

IN_PYTHON = """
from rebecsim.actors import Instance, Int, Model, Rebec, known_rebec, message_server, state_variable

HEARD = []


class Other(Rebec, queue_size=9):
    @message_server
    def hear(self, number: int) -> None:
        pass


class A(Rebec, queue_size=3):
    other: Other = known_rebec()
    n: int = state_variable(Int)
    m: int = state_variable(Int)
    cells: list[int] = state_variable(Int[2])
    more: list[int] = state_variable(Int[2])

    def __init__(self) -> None:
        self.go()

    @message_server
    def go(self) -> None:
        BODY
        self.go(after=1)

    def twice(self) -> int:
        return 2 * self.m


model = Model("a", (Instance("a", A, knows=["other"]), Instance("other", Other)))
"""


def _in_python(body: str, folder: Path) -> Path:
    file = folder / "a.py"
    file.write_text(IN_PYTHON.replace("BODY", body.replace("\n", "\n        ")))
    return file


def _decided_in_python(body: str, folder: Path, *names: str) -> str:
    model, checked = load_checked(_in_python(body, folder))
    found = decided_by(model, abstraction(model, names or ["a.n"]), checked)
    return "; ".join(map(str, found))


@pytest.mark.parametrize(
    "body",
    [
        "self.n = (self.n + 1) % 10",
        "self.n += 1; self.m = self.twice() % 3",
        "self.n = self.twice() + self.n",
        "if self.n > 4: self.n = 0",
        "if self.m > 4 and self.n > 1: k = 1",
        "k = self.n + 1\nself.n = k if k < 9 else 0",
        "self.n += 1\nself.other.hear(self.m)",
        "self.n = self.n + self.cells[self.m]",
    ],
)
def test_counting_in_python_decides_nothing(body: str, tmp_path: Path) -> None:
    assert _decided_in_python(body, tmp_path) == ""


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("self.m = self.n % 3", "it decides the value of m, a.py:25"),
        ("self.n += 1; self.other.hear(self.n)", "it decides what is sent, a.py:25"),
        ("self.go(after=self.n)", "it decides a time, a.py:25"),
        ("if self.n > 0: self.n = 9 // self.n", "it decides a branch, a.py:25"),
        ("if self.n > 4: self.other.hear(0)", "it decides a branch, a.py:25"),
        ("if self.n > 4: self.n = self.cells[self.m]", "it decides the value of n, a.py:25"),
        ("if self.n > 4: self.n = self.twice()", "it decides the value of n, a.py:25"),
        ("self.n += 1; print(f'{self.n}')", "it may decide something: what A does is not"),
        ("global HEARD; HEARD = self.n", "it may decide something: what A does is not"),
        ("self.m = getattr(self, chr(110))", "it may decide something: what A does is not"),
    ],
)
def test_what_python_looks_at_decides(body: str, what: str, tmp_path: Path) -> None:
    assert _decided_in_python(body, tmp_path).startswith(f"a.n ({what}")


# --- what is said ---------------------------------------------------------------------------------


def _asked(command: str, body: str, folder: Path, *options: str) -> tuple[int, str]:
    file = folder / "decides.rebeca"
    file.write_text(MODEL.replace("BODY", body))
    result = CliRunner().invoke(app, [command, str(file), "--ignore", "a.n", *options])
    return result.exit_code, result.output


def test_a_verdict_without_a_variable_that_decides_says_so(tmp_path: Path) -> None:
    body = "n = n + 1; assertion(n != 5);"
    code, text = _asked("explore", body, tmp_path)
    assert (
        "no violation in any order without a.n (it decides an assertion, decides.rebeca:7): "
        in text
    )
    assert code == ExitCode.RESERVATION
    code, text = _asked("explore", body, tmp_path, "--json")
    assert json.loads(text)["deciding"] == [
        {"variable": "a.n", "what": "it decides an assertion, decides.rebeca:7"}
    ]
    assert code == ExitCode.RESERVATION
    code, text = _asked("races", body, tmp_path)
    assert "no races, without a.n (it decides an assertion, decides.rebeca:7)\n" in text
    assert code == ExitCode.RESERVATION
    code, text = _asked("races", body, tmp_path, "--json")
    assert json.loads(text)["deciding"][0]["variable"] == "a.n"


def test_a_verdict_without_a_counter_is_one(tmp_path: Path) -> None:
    code, text = _asked("explore", "n = n + 1;", tmp_path)
    assert "no violation in any order: " in text
    assert code == ExitCode.FINE
    code, text = _asked("races", "n = n + 1;", tmp_path)
    assert ": no races\n" in text
    assert code == ExitCode.FINE


def test_what_is_violated_is_so_without_a_variable_too(tmp_path: Path) -> None:
    code, text = _asked("explore", "n = 5; assertion(n != 5);", tmp_path)
    assert "assertion failed" in text
    assert code == ExitCode.VIOLATED


def test_a_search_cut_short_has_decided_nothing(tmp_path: Path) -> None:
    code, _ = _asked("explore", "n = n + 1; m = m + n;", tmp_path, "--max-states", "5")
    assert code == ExitCode.UNDECIDED
