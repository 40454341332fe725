"""What stands in a model has no effect on the terminal."""

import contextlib
import io
import json
import sys

import pytest

from rebecsim.cli import main
from rebecsim.cli.app import console

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202e"
MODEL = (
    "reactiveclass A(2) { A() { self.go(); } "
    f'msgsrv go() {{ assertion(false, "text{HOSTILE}"); }} }}\n'
    "main { A a():(); }\n"
)


@pytest.mark.parametrize(
    "command",
    [
        ["simulate"],
        ["explore"],
        ["explore", "--tts"],
        ["explore", "--json"],
        ["races"],
        ["live", "--speed", "0"],
        ["step"],
        ["check"],
    ],
)
def test_neither_texts_nor_file_names_reach_the_terminal(command, tmp_path, monkeypatch, capsys):
    name = "a\x1b[31mb.rebeca"
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(MODEL if command != ["check"] else MODEL + "}")
    console.cache_clear()
    monkeypatch.setattr(sys, "argv", ["rebecsim", command[0], name, *command[1:]])
    monkeypatch.setattr(sys, "stdin", io.StringIO("run\n"))
    monkeypatch.setenv("FORCE_COLOR", "1")
    with contextlib.suppress(SystemExit):
        main()
    console.cache_clear()
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert command == ["races"] or "owned" in text or "\\u001b[31mb" in text
    for forbidden in ("\x1b]", "\x07", "\x1b[2J", "\x1b[31mb", "\x9b", "\x7f", "\u202e"):
        assert forbidden not in text
    if command == ["explore", "--json"]:
        assert json.loads(captured.out)["message"] == f"text{HOSTILE}"
