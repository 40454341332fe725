"""Models in Python that are more than functions of their state are refused."""

import re

import pytest

from rebecsim.actors import Instance, Int, Model, Rebec, message_server, state_variable
from rebecsim.actors.watchdog import ServerStopped
from rebecsim.errors import ExitCode
from rebecsim.exploration import explore
from rebecsim.exploration.states.runner import Rules, Runner, Situation
from rebecsim.generate.module import load_model
from rebecsim.steps.repeatable import NotRepeatableError, impurities

MODEL = """\
{imports}
from rebecsim.actors import Instance, Int, Model, Rebec, message_server, state_variable

seen = 0
SEEN = []
TABLE = [3, 1, 2]


class A(Rebec, queue_size=3):
    n: int = state_variable(Int)
    shared = []

    def __init__(self) -> None:
        {begin}
        self.go()

    @message_server
    def go(self) -> None:
        {body}
        self.n = self.n % 5
        self.go(after=1)


model = Model("m", (Instance("lamp", A),))
"""

NOT_REPEATABLE = {
    "global": ("", ["global seen", "seen += 1", "self.n += seen"], "changes the global `seen`"),
    "toggled": (
        "",
        ["global seen", "seen = (seen + 1) % 2", "self.n += seen"],
        "the global `seen`",
    ),
    "random": ("import random", ["self.n = random.randrange(5)"], "of the module random"),
    "imported": (
        "from random import randrange",
        ["self.n = randrange(5)"],
        "`randrange` of the module",
    ),
    "clock": ("import time", ["self.n = time.perf_counter_ns()"], "of the module time"),
    "list": ("", ["SEEN.append(1)", "self.n += len(SEEN)"], "changes the global `SEEN`"),
    "shared": (
        "",
        ["self.shared.append(1)", "self.n += len(self.shared)"],
        "rebecs of the class share",
    ),
    "messages": (
        "",
        ["global seen", "seen += 1", "seen % 2 and self.go(after=2)"],
        "global `seen`",
    ),
    "late": (
        "",
        ["self.n = self.n if SEEN else self.n + 1", "if self.n == 4: SEEN.append(1)"],
        "`SEEN`",
    ),
    "delay": ("import random", ["self.delay(random.randrange(9))"], "of the module random"),
    "raises": ("", ["SEEN.append(1)", "if len(SEEN) > 1: raise ValueError('again')"], "`SEEN`"),
}
"""Imports, what the message server does, and the cause that is named."""


def written(tmp_path, imports="", body="self.n += 1", begin="pass"):
    body = body if isinstance(body, str) else "\n        ".join(body)
    file = tmp_path / "model.py"
    file.write_text(MODEL.format(imports=imports, body=body, begin=begin))
    return file


@pytest.mark.parametrize("kind", NOT_REPEATABLE)
@pytest.mark.parametrize("command", ["explore", "explore --strict", "races", "simulate"])
def test_what_is_no_function_of_the_state_is_refused(run, tmp_path, kind, command):
    imports, body, cause = NOT_REPEATABLE[kind]
    file = written(tmp_path, imports, body)
    command, *options = command.split()
    if command == "simulate":
        options += ["--until", "50"]
    code, printed, complaint = run(command, file, *options)
    if kind == "raises" and code == ExitCode.MODEL_FAILED:
        return  # a run of several messages raises it at once
    assert code == ExitCode.BAD_INPUT, printed + complaint
    assert printed == ""
    (line,) = complaint.splitlines()
    assert line.startswith("lamp, message go: run again from the same state, it does something")
    assert re.search(
        rf"likely because it .*{re.escape(cause)}.* \({re.escape(str(file))}:\d+\)$", line
    )


@pytest.mark.parametrize("engine", ["python", "native"])
def test_both_engines_refuse_it(run, tmp_path, engine):
    imports, body, _ = NOT_REPEATABLE["random"]
    code, _, complaint = run("explore", written(tmp_path, imports, body), "--engine", engine)
    assert code == ExitCode.BAD_INPUT
    assert "run again from the same state" in complaint


@pytest.mark.parametrize("command", ["explore", "races"])
def test_a_constructor_is_run_again_too(run, tmp_path, command):
    file = written(tmp_path, begin="SEEN.append(1); self.n = len(SEEN)")
    code, _, complaint = run(command, file)
    assert code == ExitCode.BAD_INPUT
    assert complaint.startswith("lamp, message __init__: run again")
    assert "`n` becomes 2 and then 3" in complaint  # its start was looked at before


def test_live_does_not_say_that_all_is_well(run, tmp_path):
    _, body, _ = NOT_REPEATABLE["toggled"]
    code, printed, _ = run(
        "live", written(tmp_path, "", body), "--speed", 0, "--steps", 100, "--quiet"
    )
    assert code == ExitCode.VIOLATED
    assert "not allowed by the semantics: message" in printed


@pytest.mark.parametrize("command", ["explore", "simulate", "races", "step", "live"])
@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("self.extra = 1", "lamp: a message server makes or deletes an attribute"),
        ("self.go(after=0.5)", "lamp.go: time must be a whole number of units, not 0.5"),
        ("self.go(deadline=1.5)", "lamp.go: time must be a whole number of units, not 1.5"),
        ("self.delay(0.5)", "lamp: a delay: time must be a whole number of units, not 0.5"),
    ],
)
def test_attributes_and_times_are_refused_everywhere(run, tmp_path, command, body, text):
    file = written(tmp_path, body=body)
    code, printed, complaint = run(command, file)
    assert code == (ExitCode.MODEL_FAILED if command == "live" else ExitCode.BAD_INPUT)
    assert text in printed + complaint


@pytest.mark.parametrize("options", [[], ["--strict"]])
@pytest.mark.parametrize("command", ["explore", "races", "simulate"])
def test_a_function_of_the_state_passes(run, tmp_path, command, options):
    body = "self.n = TABLE[self.choose(0, 1, 2)] + len(sorted([self.n]))"
    code, printed, _ = run(command, written(tmp_path, body=body), *options)
    assert code == 0, printed


def test_check_reads_python_and_hints_at_what_changes(run, tmp_path):
    for imports, body, cause in NOT_REPEATABLE.values():
        file = written(tmp_path, imports, body)
        code, printed, complaint = run("check", file)
        assert (code, printed) == (0, f"{file}: ok, 1 class, 1 rebec\n")
        assert re.match(
            rf"{re.escape(str(file))}:\d+: warning: `go` of A .*{re.escape(cause)}", complaint
        )
    code, printed, complaint = run("check", written(tmp_path))
    assert (code, complaint) == (0, "")
    (tmp_path / "empty.py").write_text("")
    code, printed, complaint = run("check", tmp_path / "empty.py", written(tmp_path))
    assert code == ExitCode.BAD_INPUT
    assert "has no global `model`" in complaint
    assert ": ok, 1 class" in printed


def test_nothing_is_suspicious_in_our_own_models():
    from pathlib import Path

    models = Path(__file__).resolve().parents[3] / "models"
    found = sorted(models.glob("*.py")) + sorted((models / "teaching").glob("[!_]*.py"))
    assert found
    for file in found:
        if "plugin" in file.read_text() or file.name == "__init__.py":
            continue
        model = load_model(file)
        for reactive_class in {each.reactive_class for each in model.instances}:
            assert impurities(reactive_class) == [], file


def test_an_attribute_that_is_not_declared_is_hinted_at():
    class Lamp(Rebec, queue_size=2):
        n: int = state_variable(Int)

        def __init__(self) -> None:
            self.kept = 1
            self.go()

        @message_server
        def go(self) -> None:
            self.n = 1
            self.kept = 2
            self.lost = 3

    assert [each.what for each in impurities(Lamp)] == [
        "sets `lost`, which is not declared as a state variable"
    ]


def test_a_sample_finds_what_happens_late():
    calls = []

    class Counter(Rebec, queue_size=2):
        n: int = state_variable(Int)

        def __init__(self) -> None:
            self.go()

        @message_server
        def go(self) -> None:
            calls.append(1)
            self.n = (self.n + 1 + (len(calls) > 900)) % 3000
            self.go(after=1)

    with pytest.raises(NotRepeatableError, match="changes the global `calls`"):
        explore(Model("late", (Instance("counter", Counter),)))


class Sender(Rebec, queue_size=9):
    """Sends itself a message, and is stopped behind that once."""

    stops = False

    def __init__(self) -> None:
        self.go()

    @message_server
    def go(self) -> None:
        self.go(after=1)
        if type(self).stops:
            raise ServerStopped


def test_what_a_stopped_run_has_sent_is_not_sent_by_the_next_one(monkeypatch) -> None:
    """A limit of time stops a message server; those kept are run once more then."""
    runner = Runner(Model("m", (Instance("lamp", Sender),)), Rules(False))
    message = runner.encode(tuple(runner.initial_bags[0][0]), 0)
    start = Situation(0, runner.initial_variables[0], message, None, 0, 9)
    first = runner.run(start, ())
    with monkeypatch.context() as patched:
        patched.setattr(Sender, "stops", True)
        with pytest.raises(ServerStopped):
            runner.run(start, ())
    assert runner.run(start, ()).own == first.own
