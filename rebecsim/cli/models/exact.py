"""The command exact: best, worst and expected value over all orders of messages."""

from __future__ import annotations

import json as json_format
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import Law, complain, open_model, say, say_parts
from rebecsim.cli.commands import app
from rebecsim.cli.models.asking import (
    EndsAtDeadlines,
    GoesWrong,
    Json,
    LimitOptions,
    ModelFile,
    Reach,
    Until,
    watching,
)
from rebecsim.cli.option_groups import grouped
from rebecsim.exit_codes import ExitCode

if TYPE_CHECKING:
    from rebecsim.exploration.orders import Goal
    from rebecsim.interface import Exact


@dataclass(frozen=True, kw_only=True)
class QuantityOptions:
    """What is reckoned over runs."""

    reward: Annotated[
        list[str] | None,
        typer.Option(help="A number: by how much it increases in a run; repeatable."),
    ] = None
    final: Annotated[
        list[str] | None, typer.Option(help="A number: its value at the end; repeatable.")
    ] = None
    reach: Reach = None
    goes_wrong: GoesWrong = False

    @property
    def texts(self) -> list[str]:
        """The names of the values: expressions, and "goes wrong"."""
        asked = [*(self.reward or ()), *(self.final or ()), *(self.reach or ())]
        return [*asked, "goes wrong"] if self.goes_wrong else asked


@dataclass(frozen=True, kw_only=True)
class ExtremeOptions:
    """The runs that are written."""

    save_min: Annotated[
        Path | None,
        typer.Option("--save-min", help="Write a run with the lowest value, for `simulate`."),
    ] = None
    save_max: Annotated[
        Path | None,
        typer.Option("--save-max", help="Write a run with the highest value, for `simulate`."),
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Seed of the choices in these runs.")] = 0

    def check(self, texts: list[str]) -> None:
        """Raise BadParameter if it would not be clear whose extreme is meant."""
        if len(texts) > 1 and (self.save_min, self.save_max) != (None, None):
            hint = "--save-max" if self.save_min is None else "--save-min"
            raise typer.BadParameter("needs exactly one quantity", param_hint=hint)

    def write(self, found: Exact, text: str) -> None:
        """Write the runs that are asked for."""
        wanted: tuple[tuple[Path | None, Goal], ...] = (
            (self.save_min, "minimum"),
            (self.save_max, "maximum"),
        )
        for file, goal in wanted:
            if file is not None:
                found.save_run(file, text, goal, self.seed)
                complain(f"run in {file}")


@app.command()
@grouped
def exact(
    model: ModelFile,
    asked: QuantityOptions,
    bounds: LimitOptions,
    until: Until,
    law: Annotated[Law, typer.Option(help="How `?(...)` draws its values.")] = "fair",
    deadlines: EndsAtDeadlines = True,
    json: Json = False,
    written: ExtremeOptions = ExtremeOptions(),
) -> None:
    """Compute best case, worst case and mean over all orders.

    Exit code 0: found. 2: bad input. 3: a limit was reached; the figures are those of a shorter
    time, which is said.
    """
    from rebecsim.interface import exact as solve
    from rebecsim.report.verdicts import exact_parts

    written.check(asked.texts)
    with watching(bounds.limits(until)) as watched:
        found = solve(
            open_model(model),
            until=until,
            rewards=asked.reward or (),
            finals=asked.final or (),
            reach=asked.reach or (),
            goes_wrong=asked.goes_wrong,
            law=law,
            deadlines=deadlines,
            **watched,
        )
    if json:
        say(json_format.dumps(found.to_json(), ensure_ascii=False))
    else:
        say_parts(exact_parts(found.orders))
    if found.orders.is_known:
        written.write(found, asked.texts[0])
    if found.orders.bound == "interrupt":
        raise typer.Exit(ExitCode.INTERRUPTED)
    if found.orders.bound is not None:
        raise typer.Exit(ExitCode.UNDECIDED)
