"""The command format: lay out the text of models."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Annotated

import typer

from rebecsim.cli.app import complain, say
from rebecsim.cli.commands import app
from rebecsim.counted import counted
from rebecsim.errors import UserError
from rebecsim.exit_codes import ExitCode
from rebecsim.files import write_atomically


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
