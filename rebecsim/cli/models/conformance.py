"""The command conformance: compare rebecsim with RMC."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from rebecsim.cli.app import Trust, complain, consent_of, console, say
from rebecsim.cli.commands import app
from rebecsim.errors import ExitCode
from rebecsim.wording import counted

_PAUSE = 5.0
"""Seconds between two lines that say how far it is."""


@app.command()
def conformance(
    directory: Annotated[
        Path, typer.Argument(help="A suite: models and a `manifest.json`.", show_default=False)
    ],
    max_states: Annotated[
        int,
        typer.Option("--max-states", min=1, help="Give up on a model after so many states."),
    ] = 1_000_000,
    trust: Trust = False,
) -> None:
    """Compare verdicts and state counts with those of a suite."""
    from rebecsim.report.conformance import compare_suite

    table = Table(box=None, pad_edge=False)
    for name in ("Model", "Mode", "Expected", "Found", ""):
        table.add_column(name)
    same = differ = beyond = 0
    told = monotonic()
    for each in compare_suite(directory, max_states, consent_of(trust)):
        if each.is_beyond:
            beyond += 1
            word = "more"
        elif each.agrees:
            same += 1
            word = "ok"
        else:
            differ += 1
            word = "DIFFERS"
        if monotonic() - told > _PAUSE:
            complain(f"{counted(same + differ + beyond, 'result')} so far, the last of {each.file}")
            told = monotonic()
        source = " (ideal)" if each.ideal else ""
        table.add_row(
            *map(
                Text,
                (each.file, each.mode, _shown(each.expected) + source, _shown(each.found), word),
            ),
            style="bold red" if word == "DIFFERS" else None,
        )
    console().print(table)
    say(f"{same} agree, {differ} differ, 0 skipped")
    if beyond:
        say(f"{beyond} are judged by rebecsim only: RMC refuses LTL on timed models")
    if differ:
        raise typer.Exit(ExitCode.VIOLATED)


def _shown(result: tuple[str, int | None, int | None]) -> str:
    verdict, states, transitions = result
    counts = ["?" if each is None else f"{each:,}" for each in (states, transitions)]
    return verdict if states is None and transitions is None else f"{verdict} {'/'.join(counts)}"
