"""The command races: find the message orders that matter, and try simple fixes."""

from __future__ import annotations

import json as json_format
import sys
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import typer

from rebecsim.cli.app import Json, app, complain, given, grouped, say
from rebecsim.cli.explore import LimitOptions, QuestionOptions, WrittenTests, watching
from rebecsim.cli.small_clusters import CutOptions, ModelOrScenario
from rebecsim.clusters.kit.options import option
from rebecsim.errors import ExitCode, UserError
from rebecsim.files import write_text
from rebecsim.wording import counted

if TYPE_CHECKING:
    from rebecsim.exploration import Limits
    from rebecsim.exploration.races.cures import Cures
    from rebecsim.interface import FoundRaces


@dataclass(frozen=True, kw_only=True)
class RaceOptions:
    """Options that choose races and try fixes."""

    observe: list[str] | None = option(
        "What can be seen from outside, `rebec.variable`, or `rebec` for its messages; "
        "repeatable. Only orders that show there matter, and violations."
    )
    max_pairs: int | None = option("Most pairs of states to compare.", min=1, show_default="200000")
    only: str | None = option("Show, write, draw or fix only the race with this id.")
    try_: bool = option(
        "Try simple fixes of each race that matters, or of `--only`, by exploring.", False, "--try"
    )


@dataclass(frozen=True, kw_only=True)
class RaceOutputOptions(WrittenTests):
    """Options for the files that a search for races writes."""

    svg: Path | None = option("Draw the two orders of the first race, or of `--only`.")
    save_cures: Path | None = option("A directory for the changed models; means `--try`.")

    def write_race(self, found: FoundRaces, only: str | None, model: Path) -> None:
        """Write the requested drawing of a race and the test of its failing order."""
        if not self.asked and self.svg is None:
            return
        if only is None and not found.groups:
            complain("there is no race to write")
            return
        group = found.race(only)
        if self.svg is not None:
            found.draw(only).save(self.svg)
            complain(f"the two orders of {group.id} in {self.svg}")
        if not self.asked:
            return
        recorded = found.recorded(only)
        if recorded is None:
            complain(f"{group.id}: neither order breaks anything, so there is no test to write")
        else:
            self.write(recorded, model)


@app.command()
@grouped
def races(
    model: ModelOrScenario,
    asked: QuestionOptions,
    cut: CutOptions,
    bounds: LimitOptions,
    looked_at: RaceOptions,
    written: RaceOutputOptions = RaceOutputOptions(),
    json: Json = False,
) -> None:
    """Find the message orders that matter, and what they change.

    A race is harmful if one of its orders leads to a violation. An order that breaks no property
    but changes results also matters; you decide whether that is right.

    Exit code 0: nothing harmful. 1: harmful races, or a violation that no race decides. 2: bad
    input. 3: nothing harmful was found, but not everything was looked at. 5: nothing harmful, but a
    variable left out decides something.
    """
    from rebecsim.interface import races as look

    loaded = cut.one(model) or asked.open(model)
    directory, only = written.save_cures, looked_at.only
    tries = looked_at.try_ or directory is not None
    if tries and loaded.no_text:
        raise UserError(f"--try: cures change Rebeca text, which {loaded.no_text}")
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
    limits = bounds.limits(asked.horizon)
    with watching(limits) as watched:
        found = look(
            loaded,
            **asked.asked(),
            **watched,
            observe=looked_at.observe or (),
            **given(most_followed=looked_at.max_pairs),
        )
    plain = found.to_json() if json else {}
    _show(found, json, only)
    interrupted = "interrupt" in found.races.bounds
    if tries and not interrupted:
        cures, plain["cures"] = _cures(found, only, limits, json)
        interrupted = cures.is_interrupted
        if directory is not None:
            _save(cures, directory, found)
    if json:
        say(json_format.dumps(plain, ensure_ascii=False))
    written.write_race(found, only, model)
    raise typer.Exit(ExitCode.INTERRUPTED if interrupted else _exit_code(found))


def _exit_code(found: FoundRaces) -> ExitCode:
    if found.is_harmful:
        return ExitCode.VIOLATED
    if not found.is_decided:
        return ExitCode.UNDECIDED
    return ExitCode.RESERVATION if found.races.deciding else ExitCode.FINE


def _show(found: FoundRaces, json: bool, only: str | None) -> None:
    from rebecsim.report.races import race_lines

    width, wraps = get_terminal_size().columns, sys.stdout.isatty()
    group = None if only is None else found.race(only)
    for line in () if json else race_lines(found.races, width, wraps=wraps, only=group):
        say(line)


def _cures(
    found: FoundRaces, only: str | None, limits: Limits, json: bool
) -> tuple[Cures, list[dict[str, Any]]]:
    """Try fixes until an interrupt, print them, and give them as plain values."""
    from rebecsim.report.race_cures import cure_lines, cures_to_json

    with watching(limits) as watched:
        cures = found.cures(only, **watched)
    for line in () if json else cure_lines(cures, found.races):
        say(line)
    return cures, cures_to_json(cures, found.races)


def _save(cures: Cures, directory: Path, found: FoundRaces) -> None:
    """Write every changed model, and the model itself in the same layout to compare with."""
    from rebecsim.report.race_cures import cure_file, unchanged_file

    model = found.races.model
    texts = {unchanged_file(model): cures.source}
    for each in cures.of_races:
        texts |= {cure_file(model, one): one.source for one in each.tried if one.source}
    for name, text in texts.items():
        write_text(directory / name, text)
    complain(f"{counted(len(texts) - 1, 'changed model')} in {directory}")
