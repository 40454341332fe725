"""The commands check, new, format, draw, replay and conformance: work on model files."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import (
    Core,
    Trust,
    Tts,
    app,
    complain,
    consent_of,
    console,
    grouped,
    say,
    say_parts,
)
from rebecsim.cli.small_clusters import CutOptions, ModelOrScenario
from rebecsim.clusters.kit.options import option
from rebecsim.errors import ExitCode, UserError
from rebecsim.wording import counted

if TYPE_CHECKING:
    from rebecsim.lang import Diagnostic

_INTERVAL = 0.5
"""Seconds between two looks at the files that are watched."""

_PAUSE = 5.0
"""Seconds between two lines that say how far a suite is."""


@app.command()
@grouped
def check(
    files: Annotated[list[Path], typer.Argument(help="Models (.rebeca, .py).")],
    core: Core = False,
    as_json: bool = option("Print the problems as one array.", False, "--json"),
    strict: bool = option(
        "Also run each model 10 times, 1,000 messages at most, and look for assertions that fail.",
        False,
        "--strict",
    ),
    watch: bool = option("Check again when a file changes, until Ctrl-C.", False, "--watch"),
) -> None:
    """Check models: syntax, names and types."""
    check_them = partial(_check_all, files, core, as_json, strict)
    fine = check_them()
    try:
        for changed in _changes(files) if watch else ():
            if not as_json:
                say(f"\n{', '.join(map(str, changed))} changed")
            fine = check_them()
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    if not fine:
        raise typer.Exit(ExitCode.BAD_INPUT)


def _check_all(files: Sequence[Path], core: bool, as_json: bool, strict: bool) -> bool:
    """Check the files and print what was found; give whether all are without mistakes."""
    from rebecsim.interface import check

    problems: list[Diagnostic] = []
    fine = True
    for file in files:
        checked = check(file, core=core, strict=strict)
        fine &= checked.is_fine
        problems += checked.problems
        if as_json:
            continue
        for each in checked.texts:
            complain(each)
        if checked.is_fine:
            say(checked.summary)
    if as_json:
        say(json.dumps([each.to_json() for each in problems]))
    return fine


def _changes(files: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield the files that were written, made or deleted since the last look."""
    before = [_stamp(file) for file in files]
    while True:
        time.sleep(_INTERVAL)
        now = [_stamp(file) for file in files]
        changed = [file for file, a, b in zip(files, before, now, strict=True) if a != b]
        before = now
        if changed:
            yield changed


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """Give a file's time and size, which change when it is written; None without a file."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


@app.command()
def new(
    name: Annotated[
        Path, typer.Argument(help="Name of the model; with a directory, it is made there.")
    ],
) -> None:
    """Write a small model to start from, with properties and a test."""
    from rebecsim.interface import new as write

    files = write(name)
    for file in files:
        say(str(file))
    model, question, test = files
    say(f"Try `rebecsim explore {model} --property {question}`, and `pytest {test}`.")


@app.command("format")
@grouped
def format_models(
    files: Annotated[list[Path], typer.Argument(help="Models (.rebeca).")],
    check: bool = option("Write nothing; list the files that would change.", False, "--check"),
) -> None:
    """Lay out models as the editor does; comments stay."""
    from rebecsim.interface import format as lay_out

    changed = failed = False
    for file in files:
        try:
            if lay_out(file, check=check):
                changed = True
                say(f"{file}: {'would be changed' if check else 'formatted'}")
        except UserError as error:
            complain(error)
            failed = True
    if failed:
        raise typer.Exit(ExitCode.BAD_INPUT)
    if not changed:
        say(f"{counted(len(files), 'file')}, nothing to change")
    elif check:
        raise typer.Exit(ExitCode.VIOLATED)


@app.command()
@grouped
def draw(
    model: ModelOrScenario,
    cut: CutOptions,
    out: Path | None = option("The drawing: .svg or .dot."),
    states: bool = option("Draw the state space, if it is small.", False, "--states"),
    steps: bool = option("Print what the message servers do, as Rebeca.", False, "--steps"),
    tts: Tts = False,
    core: Core = False,
) -> None:
    """Draw which rebecs know each other, or the state space."""
    from rebecsim.actors import Violation

    if steps:
        typer.echo(cut.open(model, core).rebeca(), nl=False)
        return
    if out is None:
        raise typer.BadParameter("give the file of the drawing", param_hint="--out")
    try:
        cut.open(model, core).save_drawing(out, states=states, mode="TTS" if tts else None)
    except Violation as violation:
        complain(f"{violation.verdict}: {violation}, in a constructor: no states to draw")
        raise typer.Exit(ExitCode.VIOLATED) from violation
    say(f"drawing in {out}")


@app.command()
@grouped
def replay(
    run: Annotated[Path, typer.Argument(help="A counterexample written by `explore --save`.")],
    model: ModelOrScenario,
    cut: CutOptions,
    step: bool = option("Wait for Enter after each step.", False, "--step"),
    svg: Path | None = option("Draw a sequence diagram."),
) -> None:
    """Replay a saved counterexample and check that it fits."""
    from rebecsim.interface import replay as do_again

    done = do_again(run, cut.one(model) or model)
    for warning in done.model.warnings:
        complain(warning)
    path = done.path
    if step:
        for number, each in enumerate(path.steps, 1):
            say(f"{number}/{len(path)} {each}")
            if number < len(path):
                _wait_for_enter()
    else:
        console().print(done)
    say_parts(done.ending)
    if svg is not None:
        done.draw().save(svg)
        complain(f"sequence diagram in {svg}")
    raise typer.Exit(ExitCode.VIOLATED)


def _wait_for_enter() -> None:
    """Wait for Enter; at the end of the input go on at once."""
    with suppress(EOFError):
        console().input()


@app.command()
@grouped
def conformance(
    directory: Annotated[
        Path, typer.Argument(help="A suite: models and a `manifest.json`.", show_default=False)
    ],
    max_states: int = option("Give up on a model after so many states.", 1_000_000, min=1),
    trust: Trust = False,
) -> None:
    """Compare verdicts and state counts with those of a suite."""
    from rich.table import Table
    from rich.text import Text

    from rebecsim.report.conformance import compare_suite

    table = Table("Model", "Mode", "Expected", "Found", "", box=None, pad_edge=False)
    same = differ = beyond = 0
    told = time.monotonic()
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
        if time.monotonic() - told > _PAUSE:
            complain(f"{counted(same + differ + beyond, 'result')} so far, the last of {each.file}")
            told = time.monotonic()
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
