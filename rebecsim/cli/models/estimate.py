"""The command estimate: probabilities from random runs."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import (
    EngineName,
    Law,
    Workers,
    complain,
    error_console,
    open_model,
    say,
    say_parts,
)
from rebecsim.cli.commands import app
from rebecsim.cli.models.asking import GoesWrong, Json, ModelFile, Reach
from rebecsim.cli.option_groups import grouped
from rebecsim.exit_codes import ExitCode
from rebecsim.extras import require

if TYPE_CHECKING:
    from rebecsim.clusters.model.chances import ChanceQuestion, Chances
    from rebecsim.clusters.model.rare_chances import Effort, RareChance, RareQuestion
    from rebecsim.exploration.orders import Quantity
    from rebecsim.studies.statistics.proportions import Looks


@dataclass(frozen=True, kw_only=True)
class EventOptions:
    """What may happen in a run."""

    reach: Reach = None
    goes_wrong: GoesWrong = False

    def quantities(self) -> list[Quantity]:
        """Give what is asked for."""
        from rebecsim.exploration.orders import quantities_of

        asked = quantities_of((), (), self.reach or (), self.goes_wrong)
        if not asked:
            raise typer.BadParameter(
                "name at least one probability to estimate", param_hint="--reach"
            )
        return asked


@dataclass(frozen=True, kw_only=True)
class PrecisionOptions:
    """How well it is to be known."""

    error: Annotated[
        float | None,
        typer.Option(
            show_default="0.01",
            help="Run until the interval reaches no farther than this from the estimate.",
        ),
    ] = None
    level: Annotated[float, typer.Option(help="Confidence level of the interval.")] = 0.95
    max_runs: Annotated[
        int | None, typer.Option("--max-runs", min=1, help="Most runs per probability.")
    ] = None

    def check(self) -> None:
        """Raise BadParameter for what makes no sense."""
        if self.error is not None and not 0 < self.error < 0.5:
            raise typer.BadParameter("must be between 0 and 0.5", param_hint="--error")
        if not 0 < self.level < 1:
            raise typer.BadParameter("must be between 0 and 1", param_hint="--level")


@dataclass(frozen=True, kw_only=True)
class SplitOptions:
    """How runs that come near to a rare event are gone on with."""

    split: Annotated[
        str | None,
        typer.Option(help="For rare events: an expression that grows as a run gets near."),
    ] = None
    at: Annotated[
        list[float] | None,
        typer.Option(help="With --split: a value at which runs are split; repeatable, increasing."),
    ] = None
    per_level: Annotated[
        int | None,
        typer.Option(
            "--per-level",
            min=1,
            show_default="200",
            help="With --split: number of runs on each level.",
        ),
    ] = None
    repeat: Annotated[
        int | None,
        typer.Option(min=2, show_default="30", help="With --split: number of repetitions."),
    ] = None

    def effort(self, seed: int) -> Effort:
        """Give how much is run."""
        from rebecsim.clusters.model.rare_chances import Effort

        return Effort(self.repeat or 30, self.per_level or 200, seed)

    def check(self, quantities: list[Quantity], precision: PrecisionOptions) -> None:
        """Raise BadParameter for options that do not go together."""
        if self.split is None:
            for name, value in (
                ("--at", self.at),
                ("--per-level", self.per_level),
                ("--repeat", self.repeat),
            ):
                if value:
                    raise typer.BadParameter("is for --split; leave it out", param_hint=name)
            return
        if (precision.error, precision.max_runs) != (None, None):
            hint = "--max-runs" if precision.error is None else "--error"
            raise typer.BadParameter(
                "is not for --split; use --repeat and --per-level", param_hint=hint
            )
        if len(quantities) > 1:
            raise typer.BadParameter("ask for one probability only", param_hint="--split")


@app.command()
@grouped
def estimate(
    model: ModelFile,
    asked: EventOptions,
    until: Annotated[int, typer.Option(min=0, help="Serve messages up to this model time.")],
    precision: PrecisionOptions = PrecisionOptions(),
    splitting: SplitOptions = SplitOptions(),
    law: Annotated[Law, typer.Option(help="How `?(...)` draws its values.")] = "fair",
    deadlines: Annotated[
        bool, typer.Option(help="End a run at a missed deadline; else serve the message.")
    ] = True,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random choices.")] = 0,
    workers: Workers = None,
    engine: EngineName = "auto",
    json: Json = False,
) -> None:
    """Estimate probabilities from random runs, to within an error.

    Exit code 0: estimated. 2: bad input. 3: the most runs were done before the error was as small
    as it was to be, or with --split no run came to the event.
    """
    from rebecsim.clusters.model.chances import ChanceQuestion, looks_of
    from rebecsim.clusters.model.rare_chances import RareQuestion
    from rebecsim.clusters.model.variants import ModelText
    from rebecsim.exploration.orders import Levels
    from rebecsim.lang.reading.parser import read_source

    require("rebecsim estimate", "scipy")
    quantities = asked.quantities()
    precision.check()
    splitting.check(quantities, precision)
    source = ModelText(str(model), read_source(model))
    if splitting.split is not None:
        levels = Levels(splitting.split, tuple(splitting.at or ()))
        question = RareQuestion(source, quantities[0], levels, until, law, deadlines)
        effort = splitting.effort(seed)
        _print_rare(_estimated_rare(question, effort, precision.level, workers), json)
        return
    open_model(model)
    questions = [
        ChanceQuestion(source, each, until, law=law, deadlines=deadlines, seed=seed, engine=engine)
        for each in quantities
    ]
    looks = looks_of(precision.error or 0.01, precision.level, precision.max_runs)
    found = _estimated(questions, looks, precision.level, workers)
    if json:
        say(json_format.dumps(found.to_json(), ensure_ascii=False))
    else:
        _print(found)
    if not found.is_precise:
        raise typer.Exit(ExitCode.UNDECIDED)


def _estimated_rare(
    question: RareQuestion, effort: Effort, level: float, workers: int | None
) -> RareChance:
    from rebecsim.clusters.model.rare_chances import rare_chance, repetitions, walks_of
    from rebecsim.clusters.workers import executor_with_plugins
    from rebecsim.studies.running.executors import available_workers

    walks_of(question)  # so that what does not fit is said before processes are started
    count = min(workers or available_workers(), effort.repetitions)
    modules = ("rebecsim.clusters.model.rare_chances",)
    with executor_with_plugins(count, modules) as executor:
        each = repetitions(question, effort, executor)
    return rare_chance(each, question.quantity, question.levels, effort, level)


def _estimated(
    questions: Sequence[ChanceQuestion], looks: Looks, level: float, workers: int | None
) -> Chances:
    from rebecsim.clusters.model.chances import chances
    from rebecsim.clusters.workers import executor_with_plugins
    from rebecsim.studies.running.executors import available_workers, simulation_modules

    modules = simulation_modules(questions[0].engine)
    with (
        executor_with_plugins(workers or available_workers(), modules) as executor,
        _showing_runs() as progress,
    ):
        return chances(questions, looks, level, executor, progress)


def _print_rare(found: RareChance, json: bool) -> None:
    from rebecsim.report.verdicts import chance_parts

    if json:
        say(json_format.dumps(found.to_json(), ensure_ascii=False))
    else:
        say_parts(chance_parts(found.heading, [(found.quantity, found)], found.level))
    if not found.was_seen:
        complain("no run reached it; split at more values, or raise `--per-level`")
        raise typer.Exit(ExitCode.UNDECIDED)


def _print(found: Chances) -> None:
    from rebecsim.report.verdicts import chance_parts

    say_parts(chance_parts(found.heading, found.rows, found.level))
    if not found.is_precise:
        complain("the limit of runs was reached before `--error`; raise `--max-runs`")


@contextmanager
def _showing_runs() -> Iterator[Callable[[int], None]]:
    """Show how many runs are done, if somebody looks."""
    if not sys.stderr.isatty():
        yield lambda runs: None
        return
    with error_console().status("running") as status:
        yield lambda runs: status.update(f"{runs:,} runs")
