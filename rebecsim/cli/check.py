"""The commands check, new and format, about the text of models, and conformance."""

from __future__ import annotations

import codecs
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from rebecsim.cli.app import Core, Trust, app, complain, consent_of, console, say
from rebecsim.errors import ExitCode, UserError
from rebecsim.files import write_atomically
from rebecsim.wording import counted

if TYPE_CHECKING:
    from rebecsim.actors import Model
    from rebecsim.lang import CheckedModel, Dialect

_INTERVAL = 0.5
"""Seconds between two looks at the files that are watched."""

_RUNS, _MESSAGES, _PATIENCE = 10, 1_000, 10
"""What a strict check tries: so many runs, of so many messages, each served in so many seconds."""


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(help="Models (.rebeca, .py).")],
    core: Core = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the problems as one array.")
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help=f"Also run each model {_RUNS} times, {_MESSAGES:,} messages at most, and look for "
            "assertions that fail.",
        ),
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Check again when a file changes, until Ctrl-C.")
    ] = False,
) -> None:
    """Check models: syntax, names and types."""
    check_them = partial(_check_all, files, "core" if core else "timed", as_json, strict)
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


@dataclass(frozen=True)
class _Checked:
    """What there is to say of a file: its problems, as values and as texts, its size, its model."""

    problems: Sequence[dict[str, Any]]
    said: Sequence[object]
    classes: int = 0
    rebecs: int = 0
    fine: bool = True
    model: Model | None = None


def _check_all(files: Sequence[Path], dialect: Dialect, as_json: bool, strict: bool) -> bool:
    """Check the files and say what was found; give whether none of them has a mistake."""
    problems: list[dict[str, Any]] = []
    fine = True
    for file in files:
        checked = _checked(file, dialect, strict)
        if strict and checked.model is not None:
            checked = _tried(file, checked, checked.model)
        fine &= checked.fine
        problems += checked.problems
        if as_json:
            continue
        for each in checked.said:
            complain(each)
        if checked.fine:
            classes = counted(checked.classes, "class", "classes")
            say(f"{file}: ok, {classes}, {counted(checked.rebecs, 'rebec')}")
    if as_json:
        say(json.dumps(problems))
    return fine


def _checked(file: Path, dialect: Dialect, strict: bool) -> _Checked:
    from rebecsim.lang import RebecaError, check_file

    try:
        if file.suffix == ".py":
            return _checked_python(file)
        model = check_file(file, dialect)
    except RebecaError as error:
        return _Checked([each.to_json() for each in error.diagnostics], [error], fine=False)
    except UserError as error:
        text = str(error).removeprefix(f"{file}: ")
        return _Checked([_problem(file, "error", text)], [error], fine=False)
    except OSError as error:
        text = str(error.strerror)
        return _Checked([_problem(file, "error", text)], [f"{file}: {text}"], fine=False)
    return _Checked(
        [each.to_json() for each in model.warnings],
        _first(model.warnings),
        len(model.classes),
        len(model.instances),
        model=_built(model, file.name) if strict else None,
    )


def _built(model: CheckedModel, name: str) -> Model:
    from rebecsim.generate import build_model

    return build_model(model, name)


def _checked_python(file: Path) -> _Checked:
    """Check a model in Python, which is a program of the user's and is run."""
    from rebecsim.actors.repeatable import impurities
    from rebecsim.generate.module import load_model

    model = load_model(file)
    classes = dict.fromkeys(instance.reactive_class for instance in model.instances)
    found = [
        (Path(each.file), each.line, f"`{each.method}` of {each.owner} {each.what}")
        for reactive_class in classes
        for each in impurities(reactive_class)
    ]
    return _Checked(
        [_problem(place, "warning", text, line) for place, line, text in found],
        _first([f"{place}:{line}: warning: {text}" for place, line, text in found]),
        len(classes),
        len(model.instances),
        model=model,
    )


def _tried(file: Path, checked: _Checked, model: Model) -> _Checked:
    """Run a model some times, and add the first assertion that fails to what there is to say."""
    from rebecsim.actors.watchdog import Watchdog
    from rebecsim.simulation import simulate
    from rebecsim.simulation.simulator import make_scheduler

    for seed in range(_RUNS):
        with Watchdog(patience=_PATIENCE) as watchdog:
            scheduler = make_scheduler("random", seed, "fair")
            run = simulate(model, scheduler, max_steps=_MESSAGES, watchdog=watchdog)
        if run.outcome == "assertion failed":
            show = f"`rebecsim simulate {file} --seed {seed} --steps {run.steps}` shows it"
            what = f"{run.outcome}: {run.detail}" if run.detail else run.outcome
            text = f"{what}, at time {run.time} of a run; {show}"
            return replace(
                checked,
                problems=[*checked.problems, _problem(file, "error", text)],
                said=[*checked.said, f"{file}: error: {text}"],
                fine=False,
            )
    return checked


def _problem(file: Path, severity: str, message: str, line: int = 1) -> dict[str, Any]:
    """Give a problem of a whole line, or of a file, as a diagnostic gives it."""
    return {
        "file": str(file),
        "line": line,
        "column": 1,
        "end_line": line,
        "end_column": 1,
        "severity": severity,
        "message": message,
        "hint": None,
        "code": "",
    }


def _first(warnings: Sequence[object]) -> list[object]:
    """Give the warnings that are shown: the first ones if there are many, and how many more."""
    from rebecsim.lang.errors import MOST_SHOWN

    more = len(warnings) - MOST_SHOWN
    rest = [f"and {counted(more, 'more warning')}"] if more > 0 else []
    return [*warnings[:MOST_SHOWN], *rest]


def _changes(files: Sequence[Path]) -> Iterator[list[Path]]:
    """Wait until files are written, made or deleted, and say which, again and again."""
    before = [_stamp(file) for file in files]
    while True:
        time.sleep(_INTERVAL)
        now = [_stamp(file) for file in files]
        changed = [file for file, a, b in zip(files, before, now, strict=True) if a != b]
        before = now
        if changed:
            yield changed


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """Give what differs when a file is written; None if there is none."""
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
    from rebecsim.generate.templates import write_starter

    files = write_starter(name)
    for file in files:
        say(str(file))
    model, question, test = files
    say(f"Try `rebecsim explore {model} --property {question}`, and `pytest {test}`.")


@app.command("format")
def format_models(
    files: Annotated[list[Path], typer.Argument(help="Models (.rebeca).")],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; list the files that would change.")
    ] = False,
) -> None:
    """Lay out models as the editor does; comments stay."""
    changed: list[Path] = []
    failed = False
    for file in files:
        try:
            laid_out = _laid_out(file)
        except UserError as error:
            complain(error)
            failed = True
            continue
        if laid_out is None:
            continue
        changed.append(file)
        if not check:
            write_atomically(file, laid_out)
        say(f"{file}: {'would be changed' if check else 'formatted'}")
    if failed:
        raise typer.Exit(ExitCode.BAD_INPUT)
    if not changed:
        say(f"{counted(len(files), 'file')}, nothing to change")
    elif check:
        raise typer.Exit(ExitCode.VIOLATED)


def _laid_out(file: Path) -> bytes | None:
    """Give what a file is to hold, with its line ends and byte order mark; None if it does already.

    Raises UserError where it cannot be read, is no model in Rebeca, or a comment would lose its
    place.
    """
    from rebecsim.lang.formatting import format_source
    from rebecsim.lang.reading.parser import read_source

    if file.suffix == ".py":
        raise UserError(f"{file}: is Python; only models in Rebeca can be formatted")
    try:
        before, text = file.read_bytes(), read_source(file)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from error
    found = format_source(text.replace("\r\n", "\n"), str(file))
    after = (found.replace("\n", "\r\n") if "\r\n" in text else found).encode()
    if before.startswith(codecs.BOM_UTF8):
        after = codecs.BOM_UTF8 + after
    return None if after == before else after


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
