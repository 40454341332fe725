"""Try, show and save cures of races, for `races --try`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebecsim.cli.app import complain, say
from rebecsim.cli.models.asking import showing_progress
from rebecsim.counted import counted
from rebecsim.errors import UserError
from rebecsim.files import write_text
from rebecsim.interrupts import noting_interrupts

if TYPE_CHECKING:
    from rebecsim.exploration import Races
    from rebecsim.exploration.races.cures import Cures, RaceQuery
    from rebecsim.lang import CheckedModel


def curable(model: Path, checked: CheckedModel | None, save: Path | None) -> CheckedModel:
    """Give the model as text, and make the directory to save in before anything takes long.

    Raises UserError for a model in Python.
    """
    if checked is None:
        raise UserError(
            f"--try: {model} is Python; cures change Rebeca text, so they need a .rebeca file"
        )
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
    return checked


def tried(checked: CheckedModel, found: Races, asked: RaceQuery, only: str | None) -> Cures:
    """Try the cures, until there is an interrupt."""
    from rebecsim.exploration.races.cures import try_cures

    with noting_interrupts() as interrupt, showing_progress() as progress:
        limits = replace(asked.limits, is_interrupted=lambda: interrupt.seen)
        asked = replace(asked, progress=progress, limits=limits)
        return try_cures(checked, found, asked, only)


def show_cures(cures: Cures, found: Races, *, quietly: bool) -> list[dict[str, Any]]:
    """Give the cures as plain values, and print them unless that is to be done `quietly`."""
    from rebecsim.report.race_cures import cure_lines, cures_to_json

    if not quietly:
        for line in cure_lines(cures, found):
            say(line)
    return cures_to_json(cures, found)


def save_cures(directory: Path, cures: Cures, model: str) -> None:
    """Write every changed model, and the model itself as they are printed, to compare with."""
    from rebecsim.report.race_cures import cure_file, unchanged_file

    texts = {unchanged_file(model): cures.source}
    for each in cures.of_races:
        texts |= {cure_file(model, one): one.source for one in each.tried if one.source}
    for name, text in texts.items():
        write_text(directory / name, text)
    complain(f"{counted(len(texts) - 1, 'changed model')} in {directory}")
