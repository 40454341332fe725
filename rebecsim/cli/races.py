"""The command about races: which orders of messages matter."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated

import typer

from rebecsim.cli.app import Strict, app, open_model, say
from rebecsim.cli.explore import (
    Horizon,
    Ignored,
    Invariants,
    Json,
    MaxMemory,
    MaxStates,
    MaxTime,
    PropertyOption,
    Terminal,
    Tts,
    showing_progress,
)
from rebecsim.exit_codes import ExitCode
from rebecsim.interrupts import noting_interrupts


@app.command()
def races(
    model: Annotated[
        Path, typer.Argument(help="A timed model (.rebeca, or .py with a global `model`).")
    ],
    tts: Tts = False,
    property: PropertyOption = None,
    invariant: Invariants = None,
    terminal: Terminal = None,
    ignore: Ignored = None,
    max_states: MaxStates = None,
    max_time: MaxTime = None,
    max_memory: MaxMemory = None,
    horizon: Horizon = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Find messages whose order matters, and say what comes of it.

    Exit code 0: no races, or benign ones only. 1: harmful races. 2: bad input. 3: out of bounds,
    no harmful race was found but not everything was looked at.
    """
    from rebecsim.explore import Checks, Limits
    from rebecsim.explore.races import find_races
    from rebecsim.lang import parse_property_file
    from rebecsim.report.race_text import race_lines, races_to_json

    built, checked = open_model(model)
    with noting_interrupts() as interrupt, showing_progress() as progress:
        found = find_races(
            built,
            mode="TTS" if tts else "FTTS",
            checks=Checks(
                invariants=tuple(invariant or ()),
                terminal=tuple(terminal or ()),
                properties=None if property is None else parse_property_file(property),
            ),
            checked=checked,
            limits=Limits(states=max_states, seconds=max_time, memory=max_memory, horizon=horizon),
            abstract=tuple(ignore or ()),
            strict=strict,
            progress=progress,
            is_interrupted=lambda: interrupt.seen,
        )
    if json:
        say(json_format.dumps(races_to_json(found), ensure_ascii=False))
    else:
        for line in race_lines(found):
            say(line)
    if "interrupt" in found.bounds:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if found.is_harmful:
        raise typer.Exit(ExitCode.VIOLATED)
    if found.bounds:
        raise typer.Exit(ExitCode.UNDECIDED)
