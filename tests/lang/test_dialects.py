"""Which dialect a text says that it is in, and whether a model needs time."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rebecsim.cli.app import app
from rebecsim.lang import check_source, declared_dialect, needs_time

MODEL = "reactiveclass A(2) { A() { self.go(); } msgsrv go() { ¶ } } main { A a():(); }"


@pytest.mark.parametrize(
    "start",
    [
        "// rebeca: core\n",
        "\n  //Rebeca:Core\n",
        "// A model.\n// rebeca: core\n// More.\n",
        "/* A model.\n * rebeca: core\n */",
        "/* rebeca: core */ ",
    ],
)
def test_the_first_comments_say_that_a_model_is_core(start: str) -> None:
    text = start + MODEL.replace("¶", "")
    assert declared_dialect(text) == "core"
    assert check_source(text).dialect == "core"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// rebeca: timed\n",
        "// rebeca: core models are in another file\n",
        "// not rebeca: core\n",
        "reactiveclass A(1) { }\n// rebeca: core\n",
        "env int N = 1; // rebeca: core\n",
    ],
)
def test_what_does_not_say_so(text: str) -> None:
    assert declared_dialect(text) is None


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("", False),
        ("if (sender != self) { }", False),
        ("delay(1);", True),
        ("self.go() after(1);", True),
        ("self.go() deadline(1);", True),
        ("int x = now;", True),
    ],
)
def test_a_model_needs_time(statement: str, expected: bool) -> None:
    assert needs_time(check_source(MODEL.replace("¶", statement))) is expected


def test_timers_and_priorities_need_time() -> None:
    for member in ("statevars { Timer t; }", "@priority(1) msgsrv other() { }"):
        assert needs_time(check_source(_with(member)))
    assert not needs_time(check_source(_with("statevars { int now_; }")))


def _with(member: str) -> str:
    return MODEL.replace("{ A()", f"{{ {member} A()", 1).replace("¶", "")


def test_commands_honour_what_a_model_says(tmp_path: Path) -> None:
    file = tmp_path / "queue.rebeca"
    text = MODEL.replace("¶", "")
    file.write_text(text, "utf-8")
    timed = CliRunner().invoke(app, ["explore", str(file)])
    assert timed.output.startswith("hint: nothing in this model takes time")
    assert "Every run ends" in timed.output
    file.write_text(f"// rebeca: core\n{text}", "utf-8")
    core = CliRunner().invoke(app, ["explore", str(file)])
    assert "hint" not in core.output
    assert "Every run ends" in core.output
    for command in (["simulate"], ["check"], ["live", "--speed", "0"]):
        result = CliRunner().invoke(app, [*command, str(file)])
        assert "hint" not in result.output, command
    refused = CliRunner().invoke(app, ["explore", str(file), "--tts"])
    assert "which has no time" in refused.output
    file.write_text(f"// rebeca: core\n{MODEL.replace('¶', 'delay(1);')}", "utf-8")
    assert "Core Rebeca has no time" in CliRunner().invoke(app, ["check", str(file)]).output
