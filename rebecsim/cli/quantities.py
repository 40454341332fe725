"""The commands exact and estimate: numbers over all orders of messages, and over random runs."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import (
    EngineName,
    Json,
    Law,
    ModelFile,
    Workers,
    app,
    complain,
    error_console,
    given,
    grouped,
    open_model,
    say,
    say_parts,
)
from rebecsim.cli.explore import LimitOptions, watching
from rebecsim.clusters.kit.options import option
from rebecsim.errors import ExitCode
from rebecsim.extras import require

if TYPE_CHECKING:
    from rebecsim.clusters.model.chances import Chances, RareChance
    from rebecsim.exploration.orders import Goal, Quantity
    from rebecsim.interface import Exact
    from rebecsim.studies.estimates import Proportion

Reach = Annotated[
    list[str] | None,
    typer.Option(help="A condition: the probability that it is ever true; repeatable."),
]
GoesWrong = Annotated[bool, typer.Option("--goes-wrong", help="The probability of a violation.")]
Until = Annotated[int, typer.Option(min=0, help="Serve messages up to this model time.")]
EndsAtDeadlines = Annotated[
    bool, typer.Option(help="End a run at a missed deadline; else serve the message.")
]


@dataclass(frozen=True, kw_only=True)
class QuantityOptions:
    """Options that name the values to compute."""

    reward: list[str] | None = option("A number: by how much it increases in a run; repeatable.")
    final: list[str] | None = option("A number: its value at the end; repeatable.")
    reach: Reach = None
    goes_wrong: GoesWrong = False

    @property
    def texts(self) -> list[str]:
        """The names of the values: expressions, and "goes wrong"."""
        asked = [*(self.reward or ()), *(self.final or ()), *(self.reach or ())]
        return [*asked, "goes wrong"] if self.goes_wrong else asked


@dataclass(frozen=True, kw_only=True)
class ExtremeOptions:
    """Options that save the best and the worst run."""

    save_min: Path | None = option("Write a run with the lowest value, for `simulate`.")
    save_max: Path | None = option("Write a run with the highest value, for `simulate`.")
    seed: int = option("Seed of the choices in these runs.", 0, min=0)

    def check(self, texts: list[str]) -> None:
        """Raise BadParameter if several values make an extreme ambiguous."""
        if len(texts) > 1 and (self.save_min, self.save_max) != (None, None):
            hint = "--save-max" if self.save_min is None else "--save-min"
            raise typer.BadParameter("needs exactly one quantity", param_hint=hint)

    def write(self, found: Exact, text: str) -> None:
        """Write the runs that are asked for."""
        wanted: tuple[tuple[Path | None, Goal], ...] = (
            (self.save_min, "minimum"),
            (self.save_max, "maximum"),
        )
        for file, goal in wanted:
            if file is not None:
                found.save_run(file, text, goal, self.seed)
                complain(f"run in {file}")


@app.command()
@grouped
def exact(
    model: ModelFile,
    asked: QuantityOptions,
    bounds: LimitOptions,
    until: Until,
    law: Law = option("How `?(...)` draws its values.", "fair"),
    deadlines: EndsAtDeadlines = True,
    json: Json = False,
    written: ExtremeOptions = ExtremeOptions(),
) -> None:
    """Compute best case, worst case and mean over all orders.

    Exit code 0: found. 2: bad input. 3: a limit was reached; the figures are those of a shorter
    time, which the output names.
    """
    from rebecsim.interface import exact as solve
    from rebecsim.report.verdicts import exact_parts

    written.check(asked.texts)
    with watching(bounds.limits(until)) as watched:
        found = solve(
            open_model(model),
            until=until,
            rewards=asked.reward or (),
            finals=asked.final or (),
            reach=asked.reach or (),
            goes_wrong=asked.goes_wrong,
            law=law,
            deadlines=deadlines,
            **watched,
        )
    if json:
        say(json_format.dumps(found.to_json(), ensure_ascii=False))
    else:
        say_parts(exact_parts(found.orders))
    if found.orders.is_known:
        written.write(found, asked.texts[0])
    if found.orders.bound == "interrupt":
        raise typer.Exit(ExitCode.INTERRUPTED)
    if found.orders.bound is not None:
        raise typer.Exit(ExitCode.UNDECIDED)


@dataclass(frozen=True, kw_only=True)
class EventOptions:
    """Options that name the event to estimate."""

    reach: Reach = None
    goes_wrong: GoesWrong = False


@dataclass(frozen=True, kw_only=True)
class PrecisionOptions:
    """Options for the error and the most runs."""

    error: float | None = option(
        "Run until the interval reaches no farther than this from the estimate.",
        show_default="0.01",
    )
    level: float = option("Confidence level of the interval.", 0.95)
    max_runs: int | None = option("Most runs per probability.", min=1)


@dataclass(frozen=True, kw_only=True)
class SplitOptions:
    """Options of splitting, which continues runs that come near a rare event."""

    split: str | None = option("For rare events: an expression that grows as a run gets near.")
    at: list[float] | None = option(
        "With --split: a value at which runs are split; repeatable, increasing."
    )
    per_level: int | None = option(
        "With --split: number of runs on each level.", min=1, show_default="200"
    )
    repeat: int | None = option("With --split: number of repetitions.", min=2, show_default="30")

    def check(self, asked: EventOptions, precision: PrecisionOptions) -> None:
        """Raise BadParameter for options that do not go together."""
        if self.split is None:
            given = (("--at", self.at), ("--per-level", self.per_level), ("--repeat", self.repeat))
            for name, value in given:
                if value:
                    raise typer.BadParameter(
                        "works only with `--split`; leave it out", param_hint=name
                    )
            return
        if (precision.error, precision.max_runs) != (None, None):
            hint = "--max-runs" if precision.error is None else "--error"
            raise typer.BadParameter(
                "does not work with `--split`; use --repeat and --per-level", param_hint=hint
            )
        if len(asked.reach or ()) + asked.goes_wrong != 1:
            raise typer.BadParameter("ask for one probability only", param_hint="--split")


@dataclass(frozen=True, kw_only=True)
class DrawnOptions:
    """Options for the seed, the law and the workers."""

    law: Law = option("How `?(...)` draws its values.", "fair")
    deadlines: EndsAtDeadlines = True
    seed: int = option("Seed of all random choices.", 0, min=0)
    workers: Workers = None


@app.command()
@grouped
def estimate(
    model: ModelFile,
    asked: EventOptions,
    until: Until,
    precision: PrecisionOptions = PrecisionOptions(),
    splitting: SplitOptions = SplitOptions(),
    drawn: DrawnOptions = DrawnOptions(),
    engine: EngineName = "auto",
    json: Json = False,
) -> None:
    """Estimate probabilities from random runs, to within an error.

    Exit code 0: estimated. 2: bad input. 3: the limit of runs was reached before the error was
    small enough, or with --split no run reached the event.
    """
    require("rebecsim estimate", "scipy")
    splitting.check(asked, precision)
    from rebecsim.interface import estimate, rare

    loaded = open_model(model)
    if splitting.split is not None:
        chance = rare(
            loaded,
            until=until,
            reach=next(iter(asked.reach or ()), None),
            split=splitting.split,
            at=splitting.at or (),
            **given(per_level=splitting.per_level, repeat=splitting.repeat),
            level=precision.level,
            **vars(drawn),
        ).chance
        _print(chance, [(chance.quantity, chance)], json)
        if not chance.was_seen:
            complain("no run reached it; split at more values, or raise `--per-level`")
            raise typer.Exit(ExitCode.UNDECIDED)
        return
    with _showing_runs() as progress:
        found = estimate(
            loaded,
            until=until,
            reach=asked.reach or (),
            goes_wrong=asked.goes_wrong,
            **given(error=precision.error, max_runs=precision.max_runs),
            level=precision.level,
            engine=engine,
            progress=progress,
            **vars(drawn),
        ).chances
    _print(found, found.rows, json)
    if not found.is_precise:
        if not json:
            complain("the limit of runs was reached before `--error`; raise `--max-runs`")
        raise typer.Exit(ExitCode.UNDECIDED)


def _print(
    found: Chances | RareChance,
    rows: Sequence[tuple[Quantity, Proportion | RareChance]],
    json: bool,
) -> None:
    from rebecsim.report.verdicts import chance_parts

    if json:
        say(json_format.dumps(found.to_json(), ensure_ascii=False))
    else:
        say_parts(chance_parts(found.heading, rows, found.level))


@contextmanager
def _showing_runs() -> Iterator[Callable[[int], None]]:
    """Show in a terminal how many runs are done."""
    if not sys.stderr.isatty():
        yield lambda runs: None
        return
    with error_console().status("running") as status:
        yield lambda runs: status.update(f"{runs:,} runs")
