"""Exploration: all states of a model, and the verdict."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as File
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from rebecsim.actors import ReplayError, Violation
from rebecsim.errors import ArgumentError, UserError
from rebecsim.exploration import (
    Checks,
    Ends,
    Limits,
    Path,
    Progress,
    Question,
    Recorded,
    Reduction,
    Result,
    StopAt,
    Strategy,
    explore as search,
    load_recorded,
    replay as do_again,
    save_recorded,
)
from rebecsim.interface.loading import AnyModel, LoadedModel, Texts, as_loaded, load, texts
from rebecsim.interface.shown import Drawing, Shown, grouped_parts
from rebecsim.lang.errors import read_source
from rebecsim.native.engines import Engine

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

    from rebecsim.exploration import StateSpace

MINUTE = Limits(seconds=60)
"""Where searches stop that are given no limits."""


@dataclass(frozen=True)
class Explored(Shown):
    """What an exploration has found.

    Attributes:
        model: what was explored.
        question: what was asked of it.
        result: the verdict, the violations and all figures.

    >>> found = rs.explore("ticket_service.rebeca")
    >>> found.verdict, found.states
    ('satisfied', 8028)
    """

    model: LoadedModel
    question: Question
    result: Result

    @property
    def verdict(self) -> str:
        """The verdict: "satisfied", "undecided", or the kind of violation."""
        return self.result.verdict

    @property
    def is_violation(self) -> bool:
        """Whether the model can do what it must not."""
        return self.result.is_violation

    @property
    def ends(self) -> Ends | None:
        """How runs end: in how many states, and whether every run does; None if none does.

        It is None, too, where something is violated: then nothing is said of ends.
        """
        return self.result.ends

    @property
    def states(self) -> int:
        """How many states were found."""
        return self.result.states

    @property
    def transitions(self) -> int:
        """The edges explored, and one for the initial state."""
        return self.result.transitions

    @property
    def path(self) -> Path | None:
        """The way to the first violation; None if there is none."""
        return self.result.path

    def to_json(self) -> dict[str, Any]:
        """Give verdict, figures and counterexamples as plain values."""
        from rebecsim.report.verdicts import result_to_json

        return result_to_json(self.result)

    def draw(self) -> Drawing:
        """Draw the counterexample as a sequence diagram. Raises UserError if there is none."""
        from rebecsim.report.sequence_diagram import sequence_diagram

        return Drawing(sequence_diagram(self._counterexample()))

    def draw_states(self) -> Drawing:
        """Draw the state space. Raises UserError for a large one, or one without a state."""
        from rebecsim.report.graphs import MOST_DRAWN_STATES, space_svg

        return Drawing(space_svg(self._space(Limits(states=MOST_DRAWN_STATES + 1))))

    def save_states(self, path: str | File, limits: Limits = MINUTE) -> StateSpace:
        """Write the state space as `.dot`, `.aut`, `.jsonl`, `.graphml` or `.xml`, and give it.

        It is cut off at the limits. Raises UserError for another ending, or if there is no state,
        OSError.
        """
        from rebecsim.report.state_spaces import check_ending, write_state_space

        check_ending(File(path))
        space = self._space(limits)
        write_state_space(File(path), space)
        return space

    def finals(self, variable: str, limits: Limits = MINUTE) -> list[Any]:
        """Give the values that a variable, `rebec.variable`, has where runs end, each once.

        Raises UserError if there is no such variable, or not all states were seen in the limits.

        >>> rs.explore("philosophers_deadlock.rebeca").finals("ada.forks")
        [0]
        """
        if self.result.finals is not None and self.result.finals[0] == variable:
            return list(self.result.finals[1])
        space = self._space(limits)
        if not space.complete:
            raise UserError(f"{self.model.name}: a limit was reached before all ends were seen")
        return space.final_values(variable)

    def recorded(self) -> Recorded:
        """Give the counterexample with what was asked. Raises UserError if there is none."""
        return Recorded.of(self._counterexample(), self.question)

    def save(self, path: str | File) -> None:
        """Write the counterexample, for `rebecsim replay`.

        Raises UserError if there is none, OSError.
        """
        save_recorded(File(path), self.recorded())

    def pictures(self) -> list[str]:
        """Give the counterexample, if there is one."""
        return [] if self.path is None else [self.draw().svg]

    def __rich__(self) -> Group:
        """Give the verdict, the figures and the counterexamples."""

        from rebecsim.report.verdicts import result_parts

        return grouped_parts(result_parts(self.result, verbose=True))

    def __repr__(self) -> str:
        return f"<Explored {self.model.name}: {self.verdict}, {self.states:,} states>"

    def _counterexample(self) -> Path:
        if self.path is None or self.path.breach is None:
            raise UserError(f"{self.model.name}: {self.verdict}: there is no counterexample")
        return self.path

    def _space(self, limits: Limits) -> StateSpace:
        from rebecsim.exploration import state_space

        try:
            problem = self.question.problem(self.model.model, self.model.checked)
        except Violation as violation:
            raise UserError(
                f"{violation.verdict}: {violation}, in a constructor: there is no state space"
            ) from violation
        return state_space(problem, limits, checked=self.model.checked)


class Further(TypedDict, total=False):
    """What few say of an exploration.

    Attributes:
        formulas: only these properties of the file, by their names.
        fair: LTL on runs in which a rebec that can always act acts eventually; else on all.
        progress: is told how far the search is.
    """

    formulas: Texts
    fair: bool
    progress: Callable[[Progress], None] | None


def explore(
    model: AnyModel,
    *,
    tts: bool = False,
    invariants: Texts = (),
    property: str | File | None = None,
    ignore: Texts = (),
    checks: Checks | None = None,
    limits: Limits | None = None,
    strategy: Strategy | None = None,
    stop_at: StopAt = "first",
    reduce: Reduction = False,
    engine: Engine = "auto",
    strict: bool = False,
    **further: Unpack[Further],
) -> Explored:
    """Try all orders of messages and all choices of a model.

    Args:
        model: a loaded model, one in Python, or the path of one.
        tts: whether states are those of the timed transition system, not of floating time.
        invariants: what must hold in every state, such as "ann.tickets < 2".
        property: the path of a property file: assertions, LTL and TCTL.
        ignore: variables, `rebec.variable`, that are left out of the state.
        checks: the violations to look for; all kinds unless given.
        limits: where to stop; after a minute, with a warning, unless given. `rs.Limits()` sets
            no limit.
        strategy: which state is looked at next; the earliest found unless given.
        stop_at: whether to stop at the first violation, or to find "all".
        reduce: whether states that differ by equal rebecs are one, or, with "order", whether most
            orders that make no difference are left out; or "both".
        engine: "python", "native", or "auto" for the faster one.
        strict: run all message servers of a model in Python again to see that they do the same.
        further: `formulas`, the names of the only properties of the file that are checked;
            `fair=False` for LTL on unfair runs too; `progress`, told how far the search is.

    Raises UserError or RebecaError for a model, property or name that does not fit, EndlessError
    for a message server that does not end.

    >>> found = rs.explore("ticket_service.rebeca", invariants="ann.tickets < 2")
    >>> found.verdict
    'property violated'
    """
    loaded = as_loaded(model)
    formulas, fair = further.get("formulas", ()), further.get("fair", True)
    question = ask(loaded, tts, invariants, property, ignore, checks, limits, formulas, fair)
    result = search(
        loaded.model,
        mode=question.mode,
        strategy=strategy,
        checks=replace(question.checks(), finals=loaded.finals),
        checked=loaded.checked,
        limits=limits or MINUTE,
        stop_at=stop_at,
        abstract=question.abstract,
        reduce=reduce,
        engine=engine,
        strict=strict,
        progress=further.get("progress"),
    )
    if limits is None:
        warn_of_minute(loaded, result.bounds)
    return Explored(loaded, question, result)


@dataclass(frozen=True)
class Replayed(Shown):
    """A counterexample that was done again.

    Attributes:
        model: what it was done with.
        recorded: the counterexample, with what was asked.
        path: the way through the model.

    >>> rs.explore("ticket_service.rebeca", invariants="ann.tickets < 2").save("run.json")
    >>> rs.replay("run.json", "ticket_service.rebeca")
    <Replayed ticket_service: property violated: ann.tickets < 2>
    """

    model: LoadedModel
    recorded: Recorded
    path: Path

    @property
    def ending(self) -> tuple[str, ...]:
        """Where the way goes on if it has no end, and what is violated."""
        breach = self.recorded.breach
        goes_on = () if self.path.loop is None else (self.path.loop_text,)
        return (*goes_on, f"{breach.verdict}: {breach.text}" if breach.text else breach.verdict)

    def draw(self) -> Drawing:
        """Draw it as a sequence diagram."""
        from rebecsim.report.sequence_diagram import sequence_diagram

        return Drawing(sequence_diagram(self.path))

    def __rich__(self) -> RenderableType:
        """Give the steps in a table."""
        from rebecsim.report.verdicts import path_table

        return path_table(self.path)

    def __repr__(self) -> str:
        return f"<Replayed {self.model.name}: {self.ending[-1]}>"


def replay(run: str | File, model: AnyModel) -> Replayed:
    """Do a counterexample again that `Explored.save` has written.

    Raises UserError for a file that is none, or does not fit the model; else as `load`.

    >>> found = rs.explore("ticket_service.rebeca", invariants="ann.tickets < 2")
    >>> found.save("run.json")
    >>> rs.replay("run.json", "ticket_service.rebeca")
    <Replayed ticket_service: property violated: ann.tickets < 2>
    """
    recorded = load_recorded(File(run))
    if isinstance(model, str | File):
        model = load(model, core=recorded.question.mode == "core")
    loaded = as_loaded(model)
    try:
        path = do_again(recorded, loaded.model, loaded.checked)
    except ReplayError as error:
        raise UserError(f"{run}: {error}") from error
    return Replayed(loaded, recorded, path)


def warn_of_minute(loaded: LoadedModel, bounds: Sequence[str]) -> None:
    """Warn if the limit ended a search that was not asked for."""
    if "seconds" in bounds:
        warnings.warn(
            f"{loaded.name}: stopped after a minute; `limits=rs.Limits(seconds=600)` searches "
            "longer, `limits=rs.Limits()` to the end",
            stacklevel=3,
        )


def ask(
    loaded: LoadedModel,
    tts: bool = False,
    invariants: Texts = (),
    property: str | File | None = None,
    ignore: Texts = (),
    checks: Checks | None = None,
    limits: Limits | None = None,
    formulas: Texts = (),
    fair: bool = True,
) -> Question:
    """Put together what is asked of a model; the arguments are those of `explore`.

    Raises UserError for time in a core model, or a property file that cannot be read.
    """
    wanted = checks or Checks()
    absolute = limits is not None and limits.horizon is not None
    if loaded.model.core and (tts or absolute):
        raise ArgumentError(
            "tts" if tts else "horizon",
            "this is a model in Core Rebeca, which has no time; leave the option out",
        )
    if formulas and property is None:
        raise ArgumentError("formulas", "give the property file that defines them as `property`")
    if wanted.properties is not None:
        raise UserError("checks.properties: give the path of the file as `property`")
    return Question(
        mode="core" if loaded.model.core else "TTS" if tts else "FTTS",
        deadlines=wanted.deadlines,
        overflows=wanted.overflows,
        deadlock=wanted.deadlock,
        terminal=(*wanted.terminal, *loaded.terminal),
        invariants=tuple(map(loaded.written, (*wanted.invariants, *texts(invariants)))),
        file="" if property is None else str(property),
        properties="" if property is None else loaded.written(read_source(File(property))),
        abstract=texts(ignore),
        absolute=absolute,
        only=texts(formulas),
        fair=fair,
    )
