"""The list of commands says what their modules say; only the one asked for is imported."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module, metadata
from itertools import groupby, pairwise
from typing import Any

import pytest
import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from rebecsim.cli.app import all_commands, app, program

OF_PLUGIN = {"reproductions.command": "rebecsim.cli.reproduce"}
"""What a module registers on behalf of a plug-in that only a checkout has."""

COMMANDS = all_commands()
MODULES = list(dict.fromkeys(listed.module for listed in COMMANDS.values()))


def registered() -> Iterator[tuple[str, str, str]]:
    """Name, module and help of everything that the modules register."""
    for module in MODULES:
        import_module(module)
    for command in app.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        module = command.callback.__module__
        yield name, OF_PLUGIN.get(module, module), inspect.getdoc(command.callback) or ""
    for group in app.registered_groups:
        assert group.typer_instance is not None
        assert isinstance(group.name, str)
        first = group.typer_instance.registered_commands[0].callback
        assert first is not None
        yield group.name, first.__module__, str(group.typer_instance.info.help)


def test_the_list_has_every_command_with_its_module_and_its_help() -> None:
    found = {
        name: (module, " ".join(text.split("\n\n")[0].split()))
        for name, module, text in registered()
    }
    assert found == {name: (listed.module, listed.help) for name, listed in COMMANDS.items()}


@pytest.mark.parametrize("module", MODULES)
def test_commands_of_a_module_are_all_listed(module: str) -> None:
    names = {name for name, owner, _ in registered() if owner == module}
    assert names == {name for name, listed in COMMANDS.items() if listed.module == module}


def test_help_shows_all_commands_within_two_screens() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}).output
    lines = shown.splitlines()
    assert len(lines) <= 56
    assert max(map(len, lines)) <= 80
    _, _, below = shown.partition("\nWrite and run a model:\n")
    assert re.findall(r"^  ([a-z]+)  ", below, re.MULTILINE) == list(COMMANDS)
    for name, listed in COMMANDS.items():
        assert f"  {name:11}  {listed.help}" in lines


def test_an_unknown_command_is_refused_with_those_that_are_like_it() -> None:
    refused = CliRunner().invoke(app, ["simulat"], env={"COLUMNS": "160"})
    assert refused.exit_code == 2
    assert "No such command 'simulat'. Did you mean 'simulate', 'estimate'?" in refused.output


def test_a_group_has_its_own_commands() -> None:
    shown = CliRunner().invoke(app, ["workload", "--help"], env={"COLUMNS": "160"})
    assert shown.exit_code == 0
    assert COMMANDS["workload"].help in shown.output
    assert "Cut a workload" in shown.output


def test_only_the_command_that_is_asked_for_is_imported() -> None:
    code = """
import sys
from typer.testing import CliRunner
from rebecsim.cli.app import app

def ours():
    return {each.removeprefix("rebecsim.cli.") for each in sys.modules if "rebecsim.cli." in each}

before = ours()
assert CliRunner().invoke(app, ["--help"]).exit_code == 0
assert ours() == before
assert CliRunner().invoke(app, ["check", "--help"]).exit_code == 0
print((before, ours() - before))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, more = ast.literal_eval(run.stdout)
    assert not before & {each.removeprefix("rebecsim.cli.") for each in MODULES} - {"app"}
    assert more == {"check", "small_clusters"}


def test_the_version_is_that_of_the_package() -> None:
    done = CliRunner().invoke(app, ["--version"])
    assert (done.exit_code, done.output) == (0, f"rebecsim {metadata.version('rebecsim')}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_starts_with_an_example_that_can_be_read(name: str) -> None:
    shown = CliRunner().invoke(app, [name, "-h"], env={"COLUMNS": "80"})
    _, example, *_ = " ".join(shown.output.split()).partition(f"Example: rebecsim {name}")
    assert example
    assert "\n\n  Example: " in shown.output[:300]
    words = shlex.split(COMMANDS[name].example)
    command: Any = program()
    while isinstance(command, TyperGroup):
        _, command, words = command.resolve_command(typer.Context(command), words)
    with command.make_context(name, words) as context:  # as far as a run would read its arguments
        assert context.command is command


@pytest.mark.parametrize("name", ["info", "generate", "nodes", "slice", "convert", "metrics"])
def test_help_of_workload_commands_starts_with_an_example_that_can_be_read(name: str) -> None:
    shown = CliRunner().invoke(app, ["workload", name, "--help"], env={"COLUMNS": "300"})
    _, example, _ = re.split(r"\n\n  Example: rebecsim workload |\n\n", shown.output, maxsplit=2)
    _, group, words = program().resolve_command(
        typer.Context(program()), ["workload", *shlex.split(example)]
    )
    _, command, words = group.resolve_command(typer.Context(group), words)
    with command.make_context(name, words) as context:
        assert context.command.name == name


def test_help_is_broken_at_80_columns() -> None:
    shown = CliRunner().invoke(app, ["explore", "-h"]).output.splitlines()
    lines = [line.strip() for line in shown]
    codes = lines[next(at for at, line in enumerate(lines) if line.startswith("Exit code 0")) :]
    paragraph = codes[: codes.index("")]
    assert max(map(len, shown)) <= 80
    for line, after in pairwise(paragraph):
        assert len(f"{line} {after.split()[0]}") > 74  # which has a margin


def test_the_list_is_in_parts() -> None:
    panels = [listed.panel for listed in COMMANDS.values()]
    assert list(dict.fromkeys(panels)) == [panel for panel, _ in groupby(panels)]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("rebecsim che", "check"),
        ("rebecsim check --wa", "--watch"),
        ("rebecsim workload inf", "info"),
    ],
)
def test_a_shell_completes_commands_and_options(
    monkeypatch: pytest.MonkeyPatch, words: str, found: str
) -> None:
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    monkeypatch.setenv("_REBECSIM_COMPLETE", "complete_bash")
    done = CliRunner().invoke(app, [], prog_name="rebecsim", env={})
    assert done.output.split() == [found]
