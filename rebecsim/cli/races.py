"""The command about races: which orders of messages matter."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated

import typer

from rebecsim.cli.app import app, out, say

OUT_OF_BOUNDS = 3
"""Exit code when no harmful race was found, but not everything was looked at."""


@app.command()
def races(
    model: Annotated[
        Path, typer.Argument(help="A timed model (.rebeca, or .py with a global `model`).")
    ],
    tts: Annotated[
        bool, typer.Option("--tts", help="Timed transition system instead of floating time.")
    ] = False,
    property: Annotated[
        Path | None, typer.Option(help="A property file; its `Assertion` sections are checked.")
    ] = None,
    invariant: Annotated[
        list[str] | None,
        typer.Option(help="What must hold in every state; may be repeated."),
    ] = None,
    terminal: Annotated[
        list[str] | None,
        typer.Option(
            help="A state without messages is no deadlock if this holds; may be repeated."
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="A variable to leave out of the state, `rebec.variable`; repeatable."),
    ] = None,
    max_states: Annotated[
        int | None, typer.Option("--max-states", min=1, help="Most states to store.")
    ] = None,
    max_time: Annotated[
        int | None, typer.Option("--max-time", min=1, help="Most seconds to search.")
    ] = None,
    max_memory: Annotated[
        int | None, typer.Option("--max-memory", min=1, help="Most megabytes of memory.")
    ] = None,
    horizon: Annotated[
        int | None, typer.Option(min=0, help="Model time behind which states are not followed.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as one object.")] = False,
) -> None:
    """Find messages whose order matters, and say what comes of it.

    Exit code 0: no races, or benign ones only. 1: harmful races. 2: bad input. 3: out of bounds,
    no harmful race was found but not everything was looked at.
    """
    from rebecsim.explore import Checks, Limits
    from rebecsim.explore.races import find_races
    from rebecsim.generate.load import load_checked
    from rebecsim.lang import parse_property_file
    from rebecsim.report.race_text import race_lines, races_to_json

    built, checked = load_checked(model)
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
    )
    if json:
        out.file.write(json_format.dumps(races_to_json(found), ensure_ascii=False) + "\n")
    else:
        for line in race_lines(found):
            say(line)
    if found.is_harmful:
        raise typer.Exit(1)
    if found.bounds:
        raise typer.Exit(OUT_OF_BOUNDS)
