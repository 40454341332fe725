"""The commands explore, replay and draw."""

from __future__ import annotations

import json as json_format
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rebecsim.cli.app import (
    EngineName,
    Json,
    ModelFile,
    Patience,
    app,
    complain,
    console,
    grouped,
    open_model,
    say,
    say_parts,
)
from rebecsim.cli.asking import LimitOptions, QuestionOptions, WrittenTests, watching
from rebecsim.errors import ExitCode, UserError
from rebecsim.extras import require
from rebecsim.files import write_text
from rebecsim.wording import counted

if TYPE_CHECKING:
    from rebecsim.exploration import Limits, Reduction, Strategy
    from rebecsim.interface import Explored

Search = Literal["breadth", "depth", "bounded", "walks"]
"""The order in which states are looked at."""


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How states are looked for."""

    strategy: Annotated[Search, typer.Option(help="Order in which states are explored.")] = (
        "breadth"
    )
    depth: Annotated[
        int | None,
        typer.Option(min=1, help="Most transitions from the start, for `bounded` or a walk."),
    ] = None
    walks: Annotated[
        int | None, typer.Option(min=1, show_default="100", help="Number of random walks.")
    ] = None
    seed: Annotated[
        int | None, typer.Option(min=0, show_default="0", help="Seed of the random walks.")
    ] = None
    compact: Annotated[
        bool,
        typer.Option(
            "--compact", help="Hash compaction: store fingerprints only; may miss states."
        ),
    ] = False
    workers: Annotated[
        int, typer.Option(min=1, max=2, help="Threads of the native engine, for many states.")
    ] = 1
    reduce: Annotated[
        bool,
        typer.Option(
            "--reduce", help="Count states that differ only by interchangeable rebecs once."
        ),
    ] = False
    partial_order: Annotated[
        bool,
        typer.Option("--partial-order", help="Leave out message orders that make no difference."),
    ] = False

    @property
    def reduction(self) -> Reduction:
        """What is left out."""
        if self.partial_order:
            return "both" if self.reduce else "order"
        return self.reduce

    def chosen(self) -> Strategy:
        """Give the strategy; an option that it has no use for is refused."""
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
    """Which properties of a file are looked at, and on which runs."""

    formula: Annotated[
        list[str] | None,
        typer.Option(help="Only this property of the file, by its name; repeatable."),
    ] = None
    fair: Annotated[
        bool, typer.Option(help="LTL: a rebec that can always act acts eventually.")
    ] = True


@dataclass(frozen=True, kw_only=True)
class ExploreOutputOptions(WrittenTests):
    """What is written of a search."""

    save: Annotated[
        Path | None, typer.Option(help="Write the counterexample, for `replay` (JSON).")
    ] = None
    svg: Annotated[
        Path | None, typer.Option(help="Draw the counterexample as a sequence diagram.")
    ] = None
    export: Annotated[
        Path | None,
        typer.Option(help="Write the state space: .dot, .aut, .jsonl, .graphml or .xml."),
    ] = None
    web: Annotated[
        bool, typer.Option("--web", help="Open the counterexample in a browser, until Ctrl-C.")
    ] = False

    def check(self, asked: QuestionOptions) -> None:
        """Raise UserError for a kind of file that is unknown, and for what cannot be opened."""
        if self.web:
            if asked.tts or asked.core or asked.ignore or not (asked.deadlines and asked.overflow):
                raise typer.BadParameter(
                    "the browser shows runs as they are: leave out --tts, --core, --ignore, "
                    "--no-deadlines and --no-overflow",
                    param_hint="--web",
                )
            require("--web", "fastapi", "uvicorn")
        if self.export is not None:
            from rebecsim.report.state_spaces import check_ending

            check_ending(self.export)

    def write_counterexample(self, found: Explored, model: Path) -> None:
        """Write what is asked for, and open the browser; without a counterexample, say so."""
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
    model: ModelFile,
    asked: QuestionOptions,
    formulas: FormulaOptions,
    search: SearchOptions,
    bounds: LimitOptions,
    stop_at: Annotated[
        Literal["first", "all"],
        typer.Option("--stop-at", help="Stop at the first violation, or find all of them."),
    ] = "first",
    engine: EngineName = "auto",
    patience: Patience = 10,
    time_advances: Annotated[
        bool,
        typer.Option(
            "--time-advances", help="Require that time advances: else the exit code is 5."
        ),
    ] = False,
    json: Json = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Also show time, memory and counts of the search.")
    ] = False,
    written: ExploreOutputOptions = ExploreOutputOptions(),
) -> None:
    """Try all message orders and choices; look for violations.

    The verdict says whether runs end. An end is a violation, a deadlock, if `--deadlock` or
    `--terminal` asks for it.

    Exit code 0: no violation. 1: a violation. 2: bad input. 3: undecided, a limit was reached
    before everything was seen. 5: no violation, but a formula was not evaluated or fails where
    time stands still, a variable left out matters, or time need not advance and
    `--time-advances` asks for it.
    """
    from rebecsim.interface import explore as look

    written.check(asked)
    loaded = asked.open(model)
    if time_advances and loaded.model.core:
        raise typer.BadParameter("a core model has no time", param_hint="--time-advances")
    limits = replace(bounds.limits(asked.horizon), patience=patience)
    with watching(limits) as watched:
        found = look(
            loaded,
            **asked.asked(),
            **watched,
            formulas=formulas.formula or (),
            fair=formulas.fair,
            strategy=search.chosen(),
            stop_at=stop_at,
            reduce=search.reduction,
            engine=engine,
        )
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


# --- counterexamples ------------------------------------------------------------------------------


@app.command()
def replay(
    run: Annotated[Path, typer.Argument(help="A counterexample written by `explore --save`.")],
    model: ModelFile,
    step: Annotated[bool, typer.Option("--step", help="Wait for Enter after each step.")] = False,
    svg: Annotated[Path | None, typer.Option(help="Draw a sequence diagram.")] = None,
) -> None:
    """Replay a saved counterexample and check that it fits."""
    from rebecsim.actors import ReplayError
    from rebecsim.exploration import load_recorded, replay as do_again
    from rebecsim.report.sequence_diagram import sequence_diagram
    from rebecsim.report.verdicts import path_table

    recorded = load_recorded(run)
    loaded = open_model(model, recorded.question.mode == "core")
    try:
        path = do_again(recorded, loaded.model, loaded.checked)
    except ReplayError as error:
        raise UserError(f"{run}: {error}") from error
    if step:
        for number, each in enumerate(path.steps, 1):
            say(f"{number}/{len(path)} {each}")
            if number < len(path):
                _wait_for_enter()
    else:
        console().print(path_table(path))
    if path.loop is not None:
        say(path.loop_text)
    tail = f": {recorded.breach.text}" if recorded.breach.text else ""
    say(f"{recorded.breach.verdict}{tail}")
    if svg is not None:
        write_text(svg, sequence_diagram(path))
        complain(f"sequence diagram in {svg}")
    raise typer.Exit(ExitCode.VIOLATED)


def _wait_for_enter() -> None:
    """Wait for Enter; at the end of the input go on at once."""
    with suppress(EOFError):
        console().input()
