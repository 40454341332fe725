"""The command about races: which orders of messages matter."""

from __future__ import annotations

import json as json_format
from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import Core, Strict, complain, hint_at_core, open_model, say
from rebecsim.cli.asking import (
    AsRegression,
    AsTest,
    Deadlines,
    Deadlock,
    Horizon,
    Ignored,
    Invariants,
    Json,
    MaxMemory,
    MaxStates,
    MaxTime,
    ModelFile,
    Overflow,
    PropertyOption,
    Terminal,
    Tts,
    posed,
    showing_progress,
    write_tests,
)
from rebecsim.cli.commands import app
from rebecsim.cli.race_cures import curable, save_cures, show_cures, tried
from rebecsim.errors import UserError
from rebecsim.exit_codes import ExitCode
from rebecsim.files import write_text
from rebecsim.interrupts import noting_interrupts

if TYPE_CHECKING:
    from rebecsim.exploration import Question
    from rebecsim.exploration.races import RaceGroup, Races


@app.command()
def races(
    model: ModelFile,
    core: Core = False,
    tts: Tts = False,
    property: PropertyOption = None,
    invariant: Invariants = None,
    deadlines: Deadlines = True,
    overflow: Overflow = True,
    deadlock: Deadlock = True,
    terminal: Terminal = None,
    ignore: Ignored = None,
    observe: Annotated[
        list[str] | None,
        typer.Option(
            help="What can be seen from outside, `rebec.variable`, or `rebec` for its messages; "
            "repeatable. Only orders that show there are harmful, and violations."
        ),
    ] = None,
    max_states: MaxStates = None,
    max_time: MaxTime = None,
    max_memory: MaxMemory = None,
    max_pairs: Annotated[
        int | None,
        typer.Option(
            "--max-pairs", min=1, help="Most pairs of states to follow.  [default: 200000]"
        ),
    ] = None,
    horizon: Horizon = None,
    strict: Strict = False,
    only: Annotated[
        str | None, typer.Option("--only", help="The id of the one race to write, draw or cure.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(help="Draw the two orders of the first race, or of `--only`.")
    ] = None,
    as_test: AsTest = None,
    as_regression: AsRegression = None,
    try_: Annotated[
        bool,
        typer.Option(
            "--try", help="Try simple cures for each harmful race, or for `--only`, by exploring."
        ),
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option("--save-cures", help="A directory for the changed models; means `--try`."),
    ] = None,
    json: Json = False,
) -> None:
    """Find steps whose order matters, and say what comes of it.

    Exit code 0: no order decides anything that lasts, and nothing goes wrong. 1: harmful races, or
    a violation that no race decides. 2: bad input. 3: nothing harmful was found, but not
    everything was looked at. 5: nothing harmful, but a variable left out decides something.
    """
    from rebecsim.exploration import Limits
    from rebecsim.exploration.races import MOST_FOLLOWED, find_races
    from rebecsim.exploration.races.cures import Asked
    from rebecsim.report.race_text import race_lines, races_to_json

    built, checked = open_model(model, "core" if core else "timed")
    hint_at_core(checked)
    text = curable(model, checked, save) if try_ or save is not None else None
    question = posed(
        built,
        tts=tts,
        deadlines=deadlines,
        overflows=overflow,
        deadlock=deadlock,
        terminal=terminal,
        invariants=invariant,
        file=property,
        abstract=ignore,
        horizon=horizon,
    )
    limits = Limits(states=max_states, seconds=max_time, memory=max_memory, horizon=horizon)
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
            strict=strict,
            progress=progress,
        )
    plain = races_to_json(found) if json else {}
    if not json:
        for line in race_lines(found, get_terminal_size().columns):
            say(line)
    interrupted = "interrupt" in found.bounds
    if text is not None and not interrupted:
        if only is not None:
            _chosen(found, only)
        asked = Asked(
            mode=question.mode,
            checks=question.checks(),
            limits=limits,
            abstract=question.abstract,
            observe=tuple(observe or ()),
            most_followed=max_pairs or MOST_FOLLOWED,
        )
        cures = tried(text, found, asked, only)
        interrupted = cures.is_interrupted
        plain["cures"] = show_cures(cures, found, quietly=json)
        if save is not None:
            save_cures(save, cures, found.model)
    if json:
        say(json_format.dumps(plain, ensure_ascii=False))
    if (svg, as_test, as_regression) != (None, None, None):
        _write(_chosen(found, only), question, model, svg, as_test, as_regression)
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
    raise UserError(f"--only: there is no race {only!r}; there are {there}")


def _write(
    group: RaceGroup | None,
    question: Question,
    model: Path,
    svg: Path | None,
    as_test: Path | None,
    as_regression: Path | None,
) -> None:
    from rebecsim.exploration import Recorded
    from rebecsim.report.race_diagram import orders_as_svg

    if group is None:
        complain("there is no race to write")
        return
    if svg is not None:
        write_text(svg, orders_as_svg(group.witness))
        complain(f"the two orders of {group.id} in {svg}")
    wrong = [order for order in group.witness.orders if order.breach is not None]
    if (as_test, as_regression) == (None, None):
        return
    if wrong:
        write_tests(Recorded.of(wrong[0].path, question), model, as_test, as_regression)
    else:
        complain(f"{group.id}: nothing goes wrong that a test could show")
