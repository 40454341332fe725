"""Doing what a document says: its blocks, from top to bottom, in one directory.

* `console`: every line `$ command` is run, and what it prints must be what stands below it:
  `rebecsim` and its arguments by what the session is given for that, anything else by the shell;
  also what writes into it, what reads from it, and the file that either is.
  A line `...` there stands for any number of lines, `...` within a line for any text.
  `exit=N` is the exit code of the commands, 0 if it is not given.
* `toml`, `rebeca`, `python`, `text` with `file=NAME`: the text is written to that file first.
* `toml`: the text is a valid scenario; with `invalid`, it is refused.
* `rebeca`: the text is a model that passes the checker. With `frame`, it is also the surroundings
  of the blocks with `part=NAME`, whose text takes the place of its line `// NAME`. `core` reads
  it as Core Rebeca, and with `error=CODE` the checker refuses it with that error alone.
* `python`: the text is executed, in one namespace for the whole document; with `elsewhere`, it is
  for a program that is not here, and only has to be Python.
* `text output`: what the Python block before it has printed.
* `excerpt=FILE`: the text stands in that file of the repository.
* `sh`: commands for the reader, which are not run.

The pictures of the document are then those that its commands have drawn (`pictures.py`).
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rebecsim.clusters.scenarios import load_scenario
from rebecsim.lang import Dialect, RebecaError, check_source
from rebecsim.studies.scenario_files import ScenarioError
from tests.docs.markdown import ROOT, Block, Document
from tests.docs.pictures import require_pictures
from tests.program import COLUMNS, Ended

Run = Callable[..., Ended]


class Session:
    """A directory with a link to the repository's models, and what has been done in it."""

    def __init__(self, directory: Path, run: Run | None = None) -> None:
        self._run = run
        self.home = directory / "home"
        self.home.mkdir()
        (self.home / "models").symlink_to(ROOT / "models")
        self._programs = directory / "bin"
        self._programs.mkdir()
        program = self._programs / "rebecsim"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rebecsim "$@"\n')
        program.chmod(0o755)
        self._frame = ""
        self._names: dict[str, Any] = {"__name__": "document"}
        self._printed = ""

    def follow(self, document: Document) -> None:
        """Do what every block says. Raises AssertionError if one is wrong, or a picture."""
        for block in document.blocks:
            self.do(block)
        require_pictures(document, self.home)

    def do(self, block: Block) -> None:
        """Do what one block says."""
        if "excerpt" in block.options:
            source = (ROOT / block.options["excerpt"]).read_text("utf-8")
            assert block.text in source, f"{block}: does not stand in {block.options['excerpt']}"
            return
        if "file" in block.options:
            (self.home / block.options["file"]).write_text(block.text, "utf-8")
        match block.language:
            case "console":
                self._console(block)
            case "toml":
                self._scenario(block)
            case "rebeca":
                self._model(block)
            case "python" if "elsewhere" in block.options:
                compile(block.text, str(block), "exec")
            case "python":
                self._python(block)
            case "text" if "output" in block.options:
                self.expect(block, self._printed, block.text)
            case "text" | "sh":
                pass
            case other:
                raise AssertionError(f"{block}: nobody knows what to do with a block of {other!r}")

    def _console(self, block: Block) -> None:
        expected_exit = int(block.options.get("exit", 0))
        for command, expected in commands_of(block):
            done = self._done(command)
            printed = done.stdout + done.stderr
            assert done.returncode == expected_exit, f"{block}: $ {command}\n{printed}"
            self.expect(block, printed, expected)

    def expect(self, block: Block, printed: str, expected: str) -> None:
        """Require that what was printed is what stands in the document."""
        assert matches(printed, expected), f"{block}: printed\n{printed}\ninstead of\n{expected}"

    def _done(self, command: str) -> Ended | subprocess.CompletedProcess[str]:
        piped = piped_of(command)
        if self._run is None or piped is None:
            return self._shell(command)
        typed = self._shell(piped.before).stdout if piped.before else ""
        done = self._run(*piped.words, cwd=self.home, typed=typed)
        if not piped.after:
            return done
        after = self._shell(piped.after, typed=done.stdout)
        return Ended(after.returncode, after.stdout, done.stderr + after.stderr)

    def _shell(self, command: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", command],
            input=typed,
            cwd=self.home,
            env={
                **os.environ,
                "COLUMNS": str(COLUMNS),
                "PATH": f"{self._programs}{os.pathsep}{os.environ['PATH']}",
                "PYTHONUTF8": "1",
            },
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    def _scenario(self, block: Block) -> None:
        file = self.home / block.options.get("file", "unnamed.toml")
        file.write_text(block.text, "utf-8")
        if "invalid" in block.options:
            with pytest.raises(ScenarioError):
                load_scenario(file)
        else:
            load_scenario(file)

    def _model(self, block: Block) -> None:
        options, text = block.options, model_of(block, self._frame)
        if "frame" in options:
            self._frame = text
        codes, shown = _errors_in(text, str(block), "core" if "core" in options else "timed")
        assert codes == ([options["error"]] if "error" in options else []), f"{block}: {shown}"

    def _python(self, block: Block) -> None:
        # Padded, so that a traceback names the line of the document.
        code = compile("\n" * (block.line - 1) + block.text, str(block.document), "exec")
        printed = io.StringIO()
        with contextlib.chdir(self.home), contextlib.redirect_stdout(printed):
            exec(code, self._names)
        self._printed = printed.getvalue()


def _errors_in(text: str, name: str, dialect: Dialect) -> tuple[list[str], str]:
    """Give the codes of the errors in a model, and how they are shown."""
    try:
        check_source(text, name, dialect)
    except RebecaError as error:
        return [diagnostic.code for diagnostic in error.diagnostics], str(error)
    return [], "the checker finds no error"


def model_of(block: Block, frame: str) -> str:
    """Give the text of a model: the block's own, or the frame with it in its place."""
    if "part" not in block.options:
        return block.text
    place = re.compile(rf"^ *// {block.options['part']}\n", re.MULTILINE)
    assert place.search(frame), f"{block}: no place // {block.options['part']} in the frame"
    return place.sub(lambda _: block.text, frame)


def commands_of(block: Block) -> list[tuple[str, str]]:
    """Give the commands of a console block, each with the output that stands below it."""
    before, *parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not before.strip(), f"{block}: begins with no command"
    commands = []
    for part in parts:
        command, _, output = part.partition("\n")
        while command.endswith("\\"):
            more, _, output = output.partition("\n")
            command = f"{command[:-1]} {more.strip()}"
        commands.append((command, output))
    return commands


_FOR_THE_SHELL = re.compile(r"[|&;<>()$`*?\[\]{}~#\\]")


def words_of(command: str) -> tuple[str, ...] | None:
    """Give the arguments of `rebecsim`; None if that is not all that the shell would do."""
    if _FOR_THE_SHELL.search(re.sub(r"'[^']*'|\"[^\"$`\\]*\"", "", command)):
        return None
    program, *words = shlex.split(command)
    return tuple(words) if program == "rebecsim" else None


class Piped(NamedTuple):
    """The arguments of a `rebecsim` in a pipe, and what the shell does before it and behind it."""

    before: str
    words: tuple[str, ...]
    after: str


_PIPE = re.compile(r"""(?: \| | (?=[<>] ))(?=(?:[^'"]|'[^']*'|"[^"]*")*$)""")
"""Where a pipe is cut: at what stands in no quotes."""


def piped_of(command: str) -> Piped | None:
    """Give the only `rebecsim` of a pipe, by itself; None if the shell has to run it."""
    stages = _PIPE.split(command)
    found = [words_of(stage) for stage in stages]
    if sum(words is not None for words in found) != 1 or "rebecsim" in _others(stages, found):
        return None
    at = next(number for number, words in enumerate(found) if words is not None)
    before, after = stages[:at], stages[at + 1 :]
    if after and after[0].startswith("<"):
        before, after = [f"cat {after[0]}"], after[1:]
    if after and after[0].startswith(">"):
        after = [f"cat {' | '.join(after)}"]
    return Piped(" | ".join(before), found[at] or (), " | ".join(after))


def _others(stages: list[str], found: list[tuple[str, ...] | None]) -> str:
    return " ".join(stage for stage, words in zip(stages, found, strict=True) if words is None)


def matches(printed: str, expected: str) -> bool:
    """Whether a text is what is expected; blanks at the ends of lines and of the text are free."""
    pattern = "".join(
        "(?:.*\n)*" if line == "..." else _line_pattern(line) for line in shown_lines(expected)
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in shown_lines(printed))) is not None


def _line_pattern(line: str) -> str:
    return ".*".join(map(re.escape, line.split("..."))) + "\n"


def shown_lines(text: str) -> list[str]:
    """Give the lines of a text without blanks at their ends, and without empty ones around it."""
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines
