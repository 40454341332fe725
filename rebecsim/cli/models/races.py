"""The command races: find the message orders that matter."""

from __future__ import annotations

import json as json_format
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import complain, hint_at_core, say
from rebecsim.cli.commands import app
from rebecsim.cli.models.asking import (
    Json,
    LimitOptions,
    ModelFile,
    QuestionOptions,
    WrittenTests,
    showing_progress,
)
from rebecsim.cli.models.race_cures import curable, save_cures, show_cures, tried
from rebecsim.cli.option_groups import grouped
from rebecsim.errors import UserError
from rebecsim.exit_codes import ExitCode
from rebecsim.files import write_text
from rebecsim.interrupts import noting_interrupts

if TYPE_CHECKING:
    from rebecsim.exploration import Question, RaceGroup, Races


@dataclass(frozen=True, kw_only=True)
class RaceOutputOptions(WrittenTests):
    """What is written of the races."""

    svg: Annotated[
        Path | None, typer.Option(help="Draw the two orders of the first race, or of `--only`.")
    ] = None
    save_cures: Annotated[
        Path | None,
        typer.Option("--save-cures", help="A directory for the changed models; means `--try`."),
    ] = None


@app.command()
@grouped
def races(
    model: ModelFile,
    asked: QuestionOptions,
    bounds: LimitOptions,
    observe: Annotated[
        list[str] | None,
        typer.Option(
            help="What can be seen from outside, `rebec.variable`, or `rebec` for its messages; "
            "repeatable. Only orders that show there matter, and violations."
        ),
    ] = None,
    max_pairs: Annotated[
        int | None,
        typer.Option(
            "--max-pairs", min=1, show_default="200000", help="Most pairs of states to compare."
        ),
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", help="Write, draw or fix only the race with this id.")
    ] = None,
    try_: Annotated[
        bool,
        typer.Option(
            "--try",
            help="Try simple fixes of each race that matters, or of `--only`, by exploring.",
        ),
    ] = False,
    written: RaceOutputOptions = RaceOutputOptions(),
    json: Json = False,
) -> None:
    """Find the message orders that matter, and what they change.

    A race is harmful if one of its orders leads to a violation. An order that breaks no property
    but changes results matters: whether that is right, you know.

    Exit code 0: nothing harmful. 1: harmful races, or a violation that no race decides. 2: bad
    input. 3: nothing harmful was found, but not everything was looked at. 5: nothing harmful, but a
    variable left out decides something.
    """
    from rebecsim.exploration import find_races
    from rebecsim.exploration.races import MOST_FOLLOWED
    from rebecsim.exploration.races.cures import RaceQuery
    from rebecsim.report.races import race_lines, races_to_json

    built, checked = asked.open(model)
    hint_at_core(checked)
    save = written.save_cures
    text = curable(model, checked, save) if try_ or save is not None else None
    question = asked.of(built)
    limits = bounds.limits(asked.horizon)
    with noting_interrupts() as interrupt, showing_progress() as progress:
        found = find_races(
            built,
            mode=question.mode,
            checks=question.checks(),
            checked=checked,
            limits=replace(limits, is_interrupted=lambda: interrupt.seen),
            abstract=question.abstract,
            observe=tuple(observe or ()),
            most_followed=max_pairs or MOST_FOLLOWED,
            strict=asked.strict,
            progress=progress,
        )
    plain = races_to_json(found) if json else {}
    if not json:
        width = get_terminal_size().columns
        for line in race_lines(found, width, wraps=sys.stdout.isatty()):
            say(line)
    interrupted = "interrupt" in found.bounds
    if text is not None and not interrupted:
        if only is not None:
            _chosen(found, only)
        same = RaceQuery(
            mode=question.mode,
            checks=question.checks(),
            limits=limits,
            abstract=question.abstract,
            observe=tuple(observe or ()),
            most_followed=max_pairs or MOST_FOLLOWED,
        )
        cures = tried(text, found, same, only)
        interrupted = cures.is_interrupted
        plain["cures"] = show_cures(cures, found, quietly=json)
        if save is not None:
            save_cures(save, cures, found.model)
    if json:
        say(json_format.dumps(plain, ensure_ascii=False))
    if written.asked or written.svg is not None:
        _write(_chosen(found, only), question, model, written)
    if interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if found.is_harmful:
        raise typer.Exit(ExitCode.VIOLATED)
    if not found.is_decided:
        raise typer.Exit(ExitCode.UNDECIDED)
    if found.deciding:
        raise typer.Exit(ExitCode.RESERVATION)


def _chosen(found: Races, only: str | None) -> RaceGroup | None:
    """Give the race that is meant, the first one if none is named."""
    if only is None:
        return next(iter(found.groups), None)
    for group in found.groups:
        if group.id == only:
            return group
    there = ", ".join(group.id for group in found.groups) or "none"
    raise UserError(f"--only: there is no race {only!r}; the races are: {there}")


def _write(
    group: RaceGroup | None, question: Question, model: Path, written: RaceOutputOptions
) -> None:
    from rebecsim.exploration import Recorded
    from rebecsim.report.races import orders_as_svg

    if group is None:
        complain("there is no race to write")
        return
    if written.svg is not None:
        write_text(written.svg, orders_as_svg(group.witness))
        complain(f"the two orders of {group.id} in {written.svg}")
    wrong = [order for order in group.witness.orders if order.breach is not None]
    if not written.asked:
        return
    if wrong:
        written.write(Recorded.of(wrong[0].path, question), model)
    else:
        complain(f"{group.id}: neither order breaks anything, so there is no test to write")
