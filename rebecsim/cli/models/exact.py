"""The command exact: best, worst and expected value over all orders of messages."""

from __future__ import annotations

import json as json_format
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import Law, complain, open_model, say, say_parts
from rebecsim.cli.commands import app
from rebecsim.cli.models.asking import (
    GoesWrong,
    Json,
    LimitOptions,
    ModelFile,
    Reach,
    showing_progress,
)
from rebecsim.cli.option_groups import grouped
from rebecsim.errors import UserError
from rebecsim.exit_codes import ExitCode
from rebecsim.files import write_json
from rebecsim.interrupts import noting_interrupts

if TYPE_CHECKING:
    from rebecsim.exploration.orders import ExactOrders, Goal, Quantity


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

    def quantities(self) -> list[Quantity]:
        """Give what is asked for."""
        from rebecsim.exploration.orders import quantities_of

        asked = quantities_of(
            self.reward or (), self.final or (), self.reach or (), self.goes_wrong
        )
        if not asked:
            raise typer.BadParameter("name at least one quantity to compute", param_hint="--reward")
        return asked


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

    def check(self, quantities: list[Quantity]) -> None:
        """Raise BadParameter if it would not be clear whose extreme is meant."""
        if len(quantities) > 1 and (self.save_min, self.save_max) != (None, None):
            hint = "--save-max" if self.save_min is None else "--save-min"
            raise typer.BadParameter("needs exactly one quantity", param_hint=hint)

    def write(self, found: ExactOrders) -> None:
        """Write the runs that are asked for."""
        wanted: tuple[tuple[Path | None, Goal], ...] = (
            (self.save_min, "minimum"),
            (self.save_max, "maximum"),
        )
        for file, goal in wanted:
            if file is None:
                continue
            run = found.run(0, goal, self.seed).run
            if run is None:
                raise UserError(
                    "`simulate` always checks deadlines, so it cannot replay this run; "
                    "leave out `--no-deadlines`"
                )
            write_json(file, run.to_json())
            complain(f"run in {file}")


@app.command()
@grouped
def exact(
    model: ModelFile,
    asked: QuantityOptions,
    bounds: LimitOptions,
    until: Annotated[int, typer.Option(min=0, help="Serve messages up to this model time.")],
    law: Annotated[Law, typer.Option(help="How `?(...)` draws its values.")] = "fair",
    deadlines: Annotated[
        bool, typer.Option(help="End a run at a missed deadline; else serve the message.")
    ] = True,
    json: Json = False,
    written: ExtremeOptions = ExtremeOptions(),
) -> None:
    """Compute best case, worst case and mean over all orders.

    Exit code 0: found. 2: bad input. 3: a limit was reached; the figures are those of a shorter
    time, which is said.
    """
    from rebecsim.exploration.orders import exact_orders
    from rebecsim.report.verdicts import exact_parts

    quantities = asked.quantities()
    written.check(quantities)
    built, checked = open_model(model)
    with noting_interrupts() as interrupt, showing_progress() as progress:
        found = exact_orders(
            built,
            quantities,
            until,
            checked=checked,
            law=law,
            deadlines=deadlines,
            limits=replace(bounds.limits(until), is_interrupted=lambda: interrupt.seen),
            progress=progress,
        )
    if json:
        say(json_format.dumps(found.to_json(), ensure_ascii=False))
    else:
        say_parts(exact_parts(found))
    if found.is_known:
        written.write(found)
    if found.bound == "interrupt":
        raise typer.Exit(ExitCode.INTERRUPTED)
    if found.bound is not None:
        raise typer.Exit(ExitCode.UNDECIDED)
