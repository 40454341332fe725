"""Options of commands are made from keys of scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from pydantic import BaseModel, Field
from typer.testing import CliRunner

from rebecsim.cli.app import grouped
from rebecsim.clusters.kit.options import argument, key, option

Count = Annotated[int, Field(ge=2, le=9)]


class Shop(BaseModel):
    tills: Count = 3
    clerks: Count | None = None
    is_open: bool = False


@dataclass(frozen=True, kw_only=True)
class ShopOptions:
    tills: int = key(Shop, "tills", "How many tills.")
    clerks: int | None = key(Shop, "clerks", "How many clerks.")
    is_open: bool = key(Shop, "is_open", "Open it.")


app = typer.Typer()


@app.command()
@grouped
def shop(given: ShopOptions = ShopOptions()) -> None:
    typer.echo(vars(given))


def test_defaults_are_those_of_the_keys() -> None:
    done = CliRunner().invoke(app, [])
    assert done.output == "{'tills': 3, 'clerks': None, 'is_open': False}\n"


def test_given_values_reach_the_command() -> None:
    done = CliRunner().invoke(app, ["--tills", "12", "--clerks", "2", "--is-open"])
    assert done.output == "{'tills': 12, 'clerks': 2, 'is_open': True}\n"


def test_what_is_below_the_least_value_of_a_key_is_refused() -> None:
    for name in ("--tills", "--clerks"):
        done = CliRunner().invoke(app, [name, "1"])
        assert done.exit_code == 2
        assert "1 is not in the range x>=2" in done.output


def test_a_flag_has_no_opposite() -> None:
    assert CliRunner().invoke(app, ["--no-is-open"]).exit_code == 2


@dataclass(frozen=True, kw_only=True)
class TillOptions:
    number: int = argument("Which till.")
    to: str | None = argument("Whom it serves.", None)
    is_open: bool = option("Open it.", False, "-o", "--open")
    speed: float = option("Customers a minute.", 1.5, min=0.5)


till_app = typer.Typer()


@till_app.command()
@grouped
def till(given: TillOptions) -> None:
    typer.echo(vars(given))


def test_options_without_a_key_have_their_own_names_defaults_and_bounds() -> None:
    done = CliRunner().invoke(till_app, ["3", "-o"])
    assert done.output == "{'number': 3, 'to': None, 'is_open': True, 'speed': 1.5}\n"
    done = CliRunner().invoke(till_app, ["3", "all", "--speed", "0.2"])
    assert done.exit_code == 2
    assert "0.2 is not in the range x>=0.5" in done.output
    assert CliRunner().invoke(till_app, []).exit_code == 2
