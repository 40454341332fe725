"""The command explore, and what all searches share: options, limits and progress."""

from __future__ import annotations

import json as json_format
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

import typer

from rebecsim.cli.app import (
    Core,
    EngineName,
    Json,
    Patience,
    Strict,
    Tts,
    app,
    complain,
    error_console,
    grouped,
    open_model,
    say,
    say_parts,
)
from rebecsim.cli.small_clusters import CutOptions, ModelOrScenario, is_scenario, show_clusters
from rebecsim.clusters.kit.options import option
from rebecsim.errors import ExitCode
from rebecsim.extras import require
from rebecsim.files import write_text
from rebecsim.wording import counted

if TYPE_CHECKING:
    from rich.status import Status

    from rebecsim.exploration import Checks, Limits, Progress, Recorded, Reduction, Strategy
    from rebecsim.interface import Explored, LoadedCluster, LoadedModel

_TOGETHER = 120.0
"""Seconds that the clusters of a scenario are searched for together, where no limits are given."""

_PATIENCE = 0.4
"""Seconds after which it is shown how far a search is; most are over before."""


class Asked(TypedDict):
    """The question of a search, as arguments of `rs.explore` and `rs.races`."""

    tts: bool
    checks: Checks
    property: Path | None
    ignore: list[str]
    strict: bool


@dataclass(frozen=True, kw_only=True)
class QuestionOptions:
    """Options that ask a question about a model."""

    core: Core = False
    tts: Tts = False
    property: Path | None = option("A property file: assertions, and for `explore` LTL and TCTL.")
    invariant: list[str] | None = option("A condition that must hold in every state; repeatable.")
    deadlines: bool = option("Report missed deadlines.", True)
    overflow: bool = option("Report full queues; else queues are unbounded.", True)
    deadlock: bool = option("Report the end of a run as a violation, as RMC does.", False)
    terminal: list[str] | None = option(
        "An allowed end of runs; any other is a deadlock; repeatable."
    )
    horizon: int | None = option("Do not explore beyond this model time.", min=0)
    ignore: list[str] | None = option(
        "A variable to leave out of the state, `rebec.variable`; repeatable."
    )
    strict: Strict = False

    def open(self, file: Path) -> LoadedModel:
        """Load the model; warn on standard error if it never uses time.

        Raises as `open_model` does.
        """
        from rebecsim.lang.checked import needs_time

        loaded = open_model(file, self.core)
        checked = loaded.checked
        if checked is not None and checked.dialect == "timed" and not needs_time(checked):
            complain(
                "hint: nothing in this model takes time, so every message arrives at time 0, in "
                "any order. With --core, or `// rebeca: core` in its first line, it is Core "
                "Rebeca: queues keep the order of sending."
            )
        return loaded

    def asked(self) -> Asked:
        """Give the arguments of `rs.explore` and `rs.races`, without the horizon, a limit."""
        from rebecsim.exploration import Checks

        terminal, invariants = (tuple(each or ()) for each in (self.terminal, self.invariant))
        return Asked(
            tts=self.tts,
            checks=Checks(self.deadlines, self.overflow, self.deadlock, terminal, invariants),
            property=self.property,
            ignore=self.ignore or [],
            strict=self.strict,
        )


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """Options that limit a search."""

    max_states: int | None = option("Stop after storing so many states.", min=1)
    max_time: int | None = option("Stop after so many seconds.", min=1)
    max_memory: int | None = option("Stop at so many megabytes of memory.", min=1)

    @property
    def given(self) -> bool:
        """Whether there is any."""
        return (self.max_states, self.max_time, self.max_memory) != (None, None, None)

    def limits(self, horizon: int | None) -> Limits:
        """Give the limits, and a horizon."""
        from rebecsim.exploration import Limits

        return Limits(
            states=self.max_states,
            seconds=self.max_time,
            memory=self.max_memory,
            horizon=horizon,
        )


@dataclass(frozen=True, kw_only=True)
class WrittenTests:
    """Options that write a run to a violation as a test."""

    as_test: Path | None = option("Write the run to the violation as a Python test.")
    as_regression: Path | None = option("The same, as a test that fails until the model is mended.")

    @property
    def asked(self) -> bool:
        """Whether a test is asked for."""
        return (self.as_test, self.as_regression) != (None, None)

    def write(self, recorded: Recorded, model: Path) -> None:
        """Write a run as the tests that are asked for."""
        from rebecsim.report.messages import pytest_source, regression_source

        files = ((self.as_test, pytest_source), (self.as_regression, regression_source))
        for file, source in files:
            if file is not None:
                write_text(file, source(recorded, model, file))
                complain(f"test in {file}")


class Watched(TypedDict):
    """Arguments that let Ctrl-C end a search and show its progress."""

    limits: Limits
    progress: Callable[[Progress], None] | None


@contextmanager
def watching(limits: Limits) -> Iterator[Watched]:
    """Let Ctrl-C end a search with these limits, and show its progress."""
    from rebecsim.actors.watchdog import noting_interrupts

    with noting_interrupts() as interrupt, showing_progress() as progress:
        limits = replace(limits, is_interrupted=lambda: interrupt.seen)
        yield Watched(limits=limits, progress=progress)


@contextmanager
def showing_progress() -> Iterator[Callable[[Progress], None] | None]:
    """Show the progress of a long search in a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    began = time.monotonic()
    with ExitStack() as shown:
        status: Status | None = None

        def show(progress: Progress) -> None:
            nonlocal status
            if status is None and time.monotonic() - began < _PATIENCE:
                return
            if status is None:
                status = shown.enter_context(error_console().status("exploring"))
            status.update(
                f"{progress.states:,} states, {progress.transitions:,} transitions, "
                f"frontier {progress.frontier:,}, {progress.states_per_second:,.0f} states/s"
            )

        yield show


Search = Literal["breadth", "depth", "bounded", "walks"]
"""The order in which states are looked at."""


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Options of the search: strategy, engine, reduction."""

    strategy: Search = option("Order in which states are explored.", "breadth")
    depth: int | None = option("Most transitions from the start, for `bounded` or a walk.", min=1)
    walks: int | None = option("Number of random walks.", min=1, show_default="100")
    seed: int | None = option("Seed of the random walks.", min=0, show_default="0")
    compact: bool = option(
        "Hash compaction: store fingerprints only; may miss states.", False, "--compact"
    )
    workers: int = option("Threads of the native engine, for many states.", 1, min=1, max=2)
    reduce: bool = option(
        "Count states that differ only by interchangeable rebecs once.", False, "--reduce"
    )
    partial_order: bool = option(
        "Leave out message orders that make no difference.", False, "--partial-order"
    )
    stop_at: Literal["first", "all"] = option(
        "Stop at the first violation, or find all of them.", "first"
    )

    @property
    def reduction(self) -> Reduction:
        """What is left out."""
        if self.partial_order:
            return "both" if self.reduce else "order"
        return self.reduce

    def chosen(self) -> Strategy:
        """Give the strategy; refuse options that it cannot use."""
        from rebecsim.exploration import BreadthFirst, DepthBounded, DepthFirst, RandomWalks

        if self.compact and self.strategy != "breadth":
            raise typer.BadParameter("works only with `--strategy breadth`", param_hint="--compact")
        if self.strategy != "walks" and (self.walks, self.seed) != (None, None):
            hint = "--seed" if self.walks is None else "--walks"
            raise typer.BadParameter("works only with `--strategy walks`", param_hint=hint)
        match self.strategy:
            case "bounded":
                if self.depth is None:
                    raise typer.BadParameter(
                        "is required by `--strategy bounded`", param_hint="--depth"
                    )
                return DepthBounded(self.depth)
            case "walks":
                return RandomWalks(
                    walks=self.walks or 100, length=self.depth or 10_000, seed=self.seed or 0
                )
        if self.depth is not None:
            raise typer.BadParameter(
                "works only with `--strategy bounded` or `walks`", param_hint="--depth"
            )
        if self.strategy == "depth":
            return DepthFirst()
        return BreadthFirst(compact=self.compact, workers=self.workers)


@dataclass(frozen=True, kw_only=True)
class FormulaOptions:
    """Options that choose the properties of a file, and the runs they must hold on."""

    formula: list[str] | None = option("Only this property of the file, by its name; repeatable.")
    fair: bool = option("LTL: a rebec that can always act acts eventually.", True)


@dataclass(frozen=True, kw_only=True)
class ExploreOutputOptions(WrittenTests):
    """Options for the files that a search writes."""

    save: Path | None = option("Write the counterexample, for `replay` (JSON).")
    svg: Path | None = option("Draw the counterexample as a sequence diagram.")
    export: Path | None = option("Write the state space: .dot, .aut, .jsonl, .graphml or .xml.")
    web: bool = option("Open the counterexample in a browser, until Ctrl-C.", False, "--web")

    def check(self, asked: QuestionOptions) -> None:
        """Raise UserError for a kind of file that is unknown, and for what cannot be opened."""
        if self.web:
            if asked.tts or asked.core or asked.ignore or not (asked.deadlines and asked.overflow):
                raise typer.BadParameter(
                    "the browser has no such options: leave out --tts, --core, --ignore, "
                    "--no-deadlines and --no-overflow",
                    param_hint="--web",
                )
            require("--web", "fastapi", "uvicorn")
        if self.export is not None:
            from rebecsim.report.state_spaces import check_ending

            check_ending(self.export)

    def check_scenario(self) -> None:
        """Raise BadParameter for output that only model files allow."""
        if self.web or self.asked:
            raise typer.BadParameter(
                "is for models; of a scenario, `--save` and `--svg` write the counterexample",
                param_hint="--web, --as-test, --as-regression",
            )

    def check_several(self, clusters: Mapping[str, LoadedCluster]) -> None:
        """Raise BadParameter for output that only a single cluster allows."""
        files = (self.save, self.svg, self.export)
        if len(clusters) > 1 and files != (None, None, None):
            raise typer.BadParameter(
                f"is written for one cluster; choose one of {', '.join(clusters)}",
                param_hint="--policy",
            )

    def write_counterexample(self, found: Explored, model: Path) -> None:
        """Write the requested files and open the browser; say so if there is no counterexample."""
        if not (self.asked or self.web) and (self.save, self.svg) == (None, None):
            return
        if found.path is None or found.path.breach is None:
            complain(f"{found.verdict}: there is no counterexample to write")
            return
        if self.save is not None:
            found.save(self.save)
            complain(f"counterexample in {self.save}")
        if self.svg is not None:
            found.draw().save(self.svg)
            complain(f"sequence diagram in {self.svg}")
        self.write(found.recorded(), model)
        if self.web:
            from rebecsim.cli.program import show_run

            show_run(model, found.path.ordinals)


@app.command()
@grouped
def explore(
    model: ModelOrScenario,
    asked: QuestionOptions,
    cut: CutOptions,
    formulas: FormulaOptions,
    search: SearchOptions,
    bounds: LimitOptions,
    engine: EngineName = "auto",
    patience: Patience = 10,
    time_advances: bool = option(
        "Require that time advances: else the exit code is 5.", False, "--time-advances"
    ),
    json: Json = False,
    verbose: bool = option("Also show time, memory and counts of the search.", False, "--verbose"),
    written: ExploreOutputOptions = ExploreOutputOptions(),
) -> None:
    """Try all message orders and choices; look for violations.

    The verdict says whether runs end. With `--deadlock` or `--terminal`, an end can be a
    violation: a deadlock.

    Exit code 0: no violation. 1: a violation. 2: bad input. 3: undecided, a limit was reached
    before everything was seen. 5: no violation, but a formula was not evaluated or fails where
    time stands still, a variable left out matters, or time need not advance and
    `--time-advances` asks for it.
    """
    from rebecsim.interface import explore as explore_model

    written.check(asked)
    if is_scenario(model):
        written.check_scenario()
    limits = replace(bounds.limits(asked.horizon), patience=patience)
    look = partial(
        explore_model,
        **asked.asked(),
        formulas=formulas.formula or (),
        fair=formulas.fair,
        strategy=search.chosen(),
        stop_at=search.stop_at,
        reduce=search.reduction,
        engine=engine,
    )
    clusters = cut.clusters(model)
    if isinstance(clusters, Mapping):
        written.check_several(clusters)
        searches, left = {}, None if bounds.given else _TOGETHER
        for number, (name, each) in enumerate(clusters.items()):
            share = None if left is None else float(max(round(left / (len(clusters) - number)), 1))
            own = limits if share is None else replace(limits, seconds=share)
            with watching(own) as watched:
                searches[name] = look(each, **watched)
            left = None if left is None else left - searches[name].result.seconds
        code = show_clusters(model, clusters, searches, json)
        for found in searches.values():
            written.write_counterexample(found, model)
            if written.export is not None:
                _export(found, written.export, limits)
        raise typer.Exit(code)
    loaded = clusters or asked.open(model)
    if time_advances and loaded.model.core:
        raise typer.BadParameter("a core model has no time", param_hint="--time-advances")
    with watching(limits) as watched:
        found = look(loaded, **watched)
    _show(found, search.reduce, json, verbose)
    written.write_counterexample(found, model)
    interrupted = "interrupt" in found.result.bounds
    if written.export is not None and not interrupted:
        _export(found, written.export, limits)
    raise typer.Exit(ExitCode.INTERRUPTED if interrupted else _exit_code(found, time_advances))


def _exit_code(found: Explored, time_advances: bool) -> ExitCode:
    result = found.result
    if result.is_violation:
        return ExitCode.VIOLATED
    if time_advances and result.standstill is not None:
        return ExitCode.RESERVATION
    if result.verdict == "undecided" or (time_advances and not result.standstill_decided):
        return ExitCode.UNDECIDED
    return ExitCode.RESERVATION if result.has_reservation else ExitCode.FINE


def _show(found: Explored, reduced: bool, json: bool, verbose: bool) -> None:
    from rebecsim.report.verdicts import result_parts

    symmetries = found.result.symmetries  # counts the identity, so 1 means none
    if json:
        more = {"symmetries": symmetries} if reduced else {}
        say(json_format.dumps(found.to_json() | more, ensure_ascii=False))
        return
    if reduced:
        several = symmetries > 1
        say(f"reduced by {symmetries} symmetries" if several else "no symmetry to reduce by")
    say_parts(result_parts(found.result, verbose))


def _export(found: Explored, file: Path, limits: Limits) -> None:
    if not found.states:
        complain(f"{found.verdict} in a constructor: there is no state space to write")
        return
    space = found.save_states(file, limits)
    cut = "" if space.complete else ", cut off at a limit"
    edges = counted(len(space.edges), "edge")
    complain(f"{counted(len(space.states), 'state')}, {edges} in {file}{cut}")
