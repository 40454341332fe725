"""Commands take groups of options; typer sees each option by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from rebecsim.cli.app import grouped

Name = Annotated[str, typer.Argument(help="Who.")]


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How to greet."""

    word: Annotated[str, typer.Option(help="What is said.")]
    times: Annotated[int, typer.Option(min=1, help="How often.")] = 1


app = typer.Typer()


@app.command()
@grouped
def greet(name: Name, manner: Manner, loud: bool = False) -> None:
    """Greet somebody."""
    said = " ".join([manner.word] * manner.times) + f", {name}"
    typer.echo(said.upper() if loud else said)


def test_the_fields_of_a_group_are_options() -> None:
    done = CliRunner().invoke(app, ["you", "--word", "Hello", "--times", "2", "--loud"])
    assert (done.exit_code, done.output) == (0, "HELLO HELLO, YOU\n")
    assert CliRunner().invoke(app, ["you", "--word", "Hello"]).output == "Hello, you\n"


def test_they_are_checked_as_others_are() -> None:
    for wrong, named in (([], "--word"), (["--word", "Hello", "--times", "0"], "--times")):
        done = CliRunner().invoke(app, ["you", *wrong], env={"TERM": "dumb", "NO_COLOR": "1"})
        assert done.exit_code == 2
        assert named in done.output


def test_help_lists_them_where_the_group_stands() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"TERM": "dumb", "NO_COLOR": "1"}).output
    assert shown.index("--word") < shown.index("--times") < shown.index("--loud")
