"""Exploration: all states of a model, and the verdict."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

from rebecsim.actors import Violation
from rebecsim.errors import UserError
from rebecsim.exploration import (
    Checks,
    Ends,
    Limits,
    Path,
    Question,
    Recorded,
    Reduction,
    Result,
    StopAt,
    Strategy,
    explore as search,
    save_recorded,
)
from rebecsim.interface.drawing import Drawing
from rebecsim.interface.loading import AnyModel, LoadedModel, Texts, as_loaded, texts
from rebecsim.interface.shown import Shown, grouped_parts
from rebecsim.lang.reading.parser import read_source
from rebecsim.native.engines import Engine

if TYPE_CHECKING:
    from rich.console import Group


MINUTE = Limits(seconds=60)
"""Where searches stop that are given no limits."""


@dataclass(frozen=True)
class Explored(Shown):
    """What an exploration has found.

    Attributes:
        model: what was explored.
        question: what was asked of it.
        result: the verdict, the violations and all figures.
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
        from rebecsim.exploration import state_space
        from rebecsim.report.graphs import MOST_DRAWN_STATES, space_svg

        try:
            problem = self.question.problem(self.model.model, self.model.checked)
        except Violation as violation:
            raise UserError(
                f"{violation.verdict}: {violation}, in a constructor: there are no states to draw"
            ) from violation
        return Drawing(space_svg(state_space(problem, Limits(states=MOST_DRAWN_STATES + 1))))

    def save(self, path: str | File) -> None:
        """Write the counterexample, for `rebecsim replay`.

        Raises UserError if there is none, OSError.
        """
        save_recorded(File(path), Recorded.of(self._counterexample(), self.question))

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
) -> Explored:
    """Try all orders of messages and all choices of a model.

    Args:
        model: a loaded model, one in Python, or the path of one.
        tts: whether states are those of the timed transition system, not of floating time.
        invariants: what must hold in every state, such as "ann.tickets < 2".
        property: the path of a property file; its `Assertion` sections are checked.
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

    Raises UserError or RebecaError for a model, property or name that does not fit, EndlessError
    for a message server that does not end.

    >>> found = rs.explore("ticket_service.rebeca", invariants="ann.tickets < 2")
    >>> found.verdict
    'property violated'
    """
    loaded = as_loaded(model)
    question = ask(loaded, tts, invariants, property, ignore, checks, limits)
    result = search(
        loaded.model,
        mode=question.mode,
        strategy=strategy,
        checks=question.checks(),
        checked=loaded.checked,
        limits=limits or MINUTE,
        stop_at=stop_at,
        abstract=question.abstract,
        reduce=reduce,
        engine=engine,
        strict=strict,
    )
    if limits is None:
        warn_of_minute(loaded, result.bounds)
    return Explored(loaded, question, result)


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
) -> Question:
    """Put together what is asked of a model; the arguments are those of `explore`.

    Raises UserError for time in a core model, or a property file that cannot be read.
    """
    wanted = checks or Checks()
    absolute = limits is not None and limits.horizon is not None
    if loaded.model.core and (tts or absolute):
        raise UserError(
            f"{loaded.name}: is Core Rebeca, which has no time; leave out `tts` and the horizon"
        )
    if wanted.properties is not None:
        raise UserError("checks.properties: give the path of the file as `property`")
    return Question(
        mode="core" if loaded.model.core else "TTS" if tts else "FTTS",
        deadlines=wanted.deadlines,
        overflows=wanted.overflows,
        deadlock=wanted.deadlock,
        terminal=tuple(wanted.terminal),
        invariants=(*wanted.invariants, *texts(invariants)),
        file="" if property is None else str(property),
        properties="" if property is None else read_source(File(property)),
        abstract=texts(ignore),
        absolute=absolute,
    )
