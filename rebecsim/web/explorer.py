"""The explorer's page: what may happen next, the rebecs, the run and the model."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from rebecsim.actors import Constant
from rebecsim.actors.values import value_text
from rebecsim.errors import UserError
from rebecsim.exploration import Path as Run, RebecState, Recorded
from rebecsim.lang.highlighting import RebecaLexer
from rebecsim.live import Alternative, Stepper, Turn
from rebecsim.report.messages import busy_text, effect_text
from rebecsim.report.sequence_diagram import sequence_diagram
from rebecsim.simulation.simulator import state_after
from rebecsim.web.addresses import LONGEST_RUN, Place
from rebecsim.web.answers import LONGEST_ERROR, rendered
from rebecsim.web.editor_pages import editor_address
from rebecsim.web.lessons.pages import tour_panel
from rebecsim.web.library import Library, ListedModel
from rebecsim.web.steppers import ModelSteppers, OpenModels
from rebecsim.web.verdicts import Verdicts
from rebecsim.wording import clipped

_LONGEST = 60_000
"""Characters; longer texts are for the editor."""

_COLOURS = {
    "Comment": "tok-comment",
    "Keyword.Type": "tok-typeName",
    "Keyword.Constant": "tok-atom",
    "Keyword": "tok-keyword",
    "Literal": "tok-number",
}
"""Classes of the style sheet by kinds of tokens, the special ones first."""

Spans = dict[tuple[str, str], tuple[int, int]]
"""Class and message server -> the first and the last of its lines, from 1."""


class ShownLine(NamedTuple):
    """A line of a model; `runs` marks the message server that ran last."""

    html: Markup
    runs: bool


def shown_lines(
    text: str, is_python: bool, reactive_class: str, server: str
) -> tuple[ShownLine, ...]:
    """Give a model's lines in colours, with one server marked; none if it is too long.

    A server that a class inherits is found by its name.
    """
    if len(text) > _LONGEST:
        return ()
    lines, spans = _read(text, is_python)
    named = (span for (_, name), span in spans.items() if name == server)
    first, last = spans.get((reactive_class, server)) or next(named, (0, 0))
    return tuple(ShownLine(html, first <= at <= last) for at, html in enumerate(lines, start=1))


@lru_cache(maxsize=64)
def _read(text: str, is_python: bool) -> tuple[tuple[Markup, ...], Spans]:
    from pygments.lexers.python import PythonLexer

    tokens = list((PythonLexer() if is_python else RebecaLexer()).get_tokens(text))
    spans = _python_servers(text) if is_python else dict(_rebeca_servers(tokens))
    html = Markup("").join(_coloured(str(kind)[6:], words) for kind, words in tokens)
    return tuple(map(Markup, html.rstrip().split("\n"))), spans


def _coloured(kind: str, words: str) -> Markup:
    style = next((of for name, of in _COLOURS.items() if kind.startswith(name)), "")
    if not style:
        return escape(words)
    parts = [Markup('<span class="{}">{}</span>').format(style, part) for part in words.split("\n")]
    return Markup("\n").join(parts)


def _python_servers(text: str) -> Spans:
    try:
        classes = [each for each in ast.parse(text).body if isinstance(each, ast.ClassDef)]
    except SyntaxError:
        return {}
    return {
        (each.name, part.name): (part.lineno, part.end_lineno or part.lineno)
        for each in classes
        for part in each.body
        if isinstance(part, ast.FunctionDef)
    }


def _rebeca_servers(
    tokens: list[tuple[Any, str]],
) -> Iterator[tuple[tuple[str, str], tuple[int, int]]]:
    """Find `reactiveclass C ... msgsrv m ... { }` by counting braces."""
    line, depth, within, server, first = 1, 0, "", "", 0
    said = [each for each in tokens if each[1].strip()]
    names = {id(one): other[1] for one, other in pairwise(said)}
    for token in tokens:
        words = token[1]
        if words == "reactiveclass":
            within = names.get(id(token), "")
        elif words == "msgsrv":
            server, first, depth = names.get(id(token), ""), line, 0
        elif server and words in "{}":
            depth += 1 if words == "{" else -1
            if not depth:
                yield (within, server), (first, line)
                server = ""
        line += words.count("\n")


_DRAWN_STEPS = 60
_MOST_ALTERNATIVES = 64


@dataclass(frozen=True)
class ShownVariable:
    """A state variable, and whether the last step has given it another value."""

    name: str
    value: str
    changed: bool


@dataclass(frozen=True)
class ShownMessage:
    """A message in a bag, times as texts; `new` if the last step has sent it."""

    call: str
    sender: str
    arrival: str
    deadline: str
    new: bool


@dataclass(frozen=True)
class Card:
    """A rebec with its variables and messages."""

    name: str
    reactive_class: str
    busy: str
    variables: tuple[ShownVariable, ...]
    bag: tuple[ShownMessage, ...]
    acted: bool


@dataclass(frozen=True)
class Possibility:
    """An alternative of a step: its choices, its effect, and the address it leads to."""

    chosen: str
    effect: str
    wrong: bool
    address: str


@dataclass(frozen=True)
class Offer:
    """A message that may be served next."""

    title: str
    sender: str
    arrival: str
    deadline: str
    rivals: int
    ways: tuple[Possibility, ...]
    more: int


@dataclass(frozen=True)
class View:
    """A run at a place."""

    time: str
    cards: tuple[Card, ...]
    offers: tuple[Offer, ...]
    breach: str
    last: str
    diagram: str
    full: bool
    """Whether the run is as long as one in an address may be."""
    ran: tuple[str, str]
    """Class and message server of the last step, both empty if none ran."""


def view_of(stepper: Stepper, place: Place, sent: frozenset[tuple[str, str, int]]) -> View:
    """Describe the present state of a stepper; `sent` are the messages of the last step."""
    timed = not stepper.model.core
    path = stepper.path()
    breach = stepper.breach
    full = len(stepper) >= LONGEST_RUN
    turns = [] if full else stepper.turns()
    last = path.steps[-1] if path.steps else None
    classes = {each.rebec: each.reactive_class for each in stepper.rebecs()}
    return View(
        time=str(stepper.time) if timed else "",
        cards=tuple(_card(each, stepper.time, timed, path, sent) for each in stepper.rebecs()),
        offers=tuple(_offers(turns, place, timed)),
        breach="" if breach is None else f"{breach.verdict}: {breach.text}",
        last=str(last).strip() if last else "",
        diagram=diagram_of(path, place) if last else "",
        full=full,
        ran=(classes.get(last.rebec, ""), last.server) if last else ("", ""),
    )


def diagram_of(path: Run, place: Place) -> str:
    """Draw the last steps; each message links to the state after it was served."""
    return sequence_diagram(
        path, last=_DRAWN_STEPS, link=lambda step: place.moved(step + 1).address()
    )


def sent_by(alternative: Alternative) -> frozenset[tuple[str, str, int]]:
    """Give what an alternative sends: receiver, message and arrival."""
    return frozenset(
        (receiver, message.call, message.arrival) for receiver, message in alternative.sent
    )


def _card(
    rebec: RebecState,
    time: int,
    timed: bool,
    path: Run,
    sent: frozenset[tuple[str, str, int]],
) -> Card:
    last = path.steps[-1] if path.steps else None
    acted = last is not None and last.rebec == rebec.rebec
    changed = dict(last.changed) if last is not None and acted else {}
    return Card(
        rebec.rebec,
        rebec.reactive_class,
        busy_text(rebec, time).strip().strip("()"),
        tuple(
            ShownVariable(name, value_text(value), name in changed)
            for name, value in rebec.variables.items()
            if not isinstance(value, Constant)  # a setting, which never changes
        ),
        tuple(
            ShownMessage(
                each.call,
                each.sender,
                str(time + each.arrival) if timed else "",
                "" if each.deadline == float("inf") else str(time + int(each.deadline)),
                (rebec.rebec, each.call, time + each.arrival) in sent,
            )
            for each in rebec.bag
        ),
        acted,
    )


def _offers(turns: list[Turn], place: Place, timed: bool) -> list[Offer]:
    """Describe the possible steps, each with how many others its rebec has."""
    rebecs = Counter(each.step.rebec for each in turns if each.step.kind != "time")
    offers = []
    for turn in turns:
        step = turn.step
        ways = tuple(
            Possibility(
                each.step.drawn_text if len(turn.alternatives) > 1 else "",
                effect_text(each, timed),
                each.breach is not None,
                place.taking(each.ordinal).address(),
            )
            for each in turn.alternatives[:_MOST_ALTERNATIVES]
        )
        if step.kind == "time":
            title = "time passes"
        else:
            title = f"{step.rebec}: {step.call}{' (goes on)' if step.kind == 'resume' else ''}"
        offers.append(
            Offer(
                title,
                step.sender,
                str(step.arrival) if timed and step.kind == "message" else "",
                "" if step.deadline is None else str(step.deadline),
                rebecs[step.rebec] - 1 if step.kind == "message" else 0,
                ways,
                len(turn.alternatives) - len(ways),
            )
        )
    return offers


_STOPS = {
    "breakpoint": "Stopped: the condition came true, or the message was served.",
    "time": "Stopped: the run reached this time.",
    "steps": "",
    "end": "This is the end of the run.",
    "interrupted": "Stopped after 2 seconds. You can go on from here.",
}


class Explorer:
    """Holds open models and verdicts, and renders pages from them."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.open = OpenModels(library.find)
        self.verdicts = Verdicts()

    def page(self, place: Place, *, why: str = "", error: str = "", never: str = "") -> str:
        """Give the explorer's page. Raises UserError, Violation."""
        listed, steppers = self.open.get(place.model)
        sent: frozenset[tuple[str, str, int]] = frozenset()
        if place.at:
            with steppers.at(place.run[: place.at - 1]) as stepper:
                sent = _sent(stepper, place.run[place.at - 1])
        with steppers.at(place.behind) as stepper:
            view = view_of(stepper, place, sent)
        inquiry = self.verdicts.ask(listed)
        reaching = self.verdicts.ask(listed, never) if never else None
        return rendered(
            "explorer.html.j2",
            listed=listed,
            editor=editor_address(listed),
            tour=tour_panel(place.tour),
            place=place,
            view=view,
            about=steppers.about,
            source=() if listed.cut else shown_lines(listed.text, listed.is_python, *view.ran),
            timed=not steppers.model.core,
            longest=LONGEST_RUN,
            why=_STOPS.get(why, ""),
            error=clipped(error, LONGEST_ERROR),
            never=never,
            inquiry=inquiry,
            reaching=reaching,
        )

    def recorded(self, place: Place, never: str) -> tuple[Recorded | None, dict[str, Any]]:
        """Give the run to a place: as a violation, if it ends in one, and as JSON for a file.

        The violation may be of the property file, which only the search reads, or that the
        condition `never` comes true. Raises UserError.
        """
        listed, steppers = self.open.get(place.model)
        for inquiry in (self.verdicts.ask(listed, each) for each in dict.fromkeys((never, ""))):
            if inquiry.recorded is not None and inquiry.run == place.behind:
                return Recorded.from_json(inquiry.recorded), inquiry.recorded
        with steppers.at(place.behind) as stepper:
            return stepper.recorded(), stepper.to_json()[0]

    def as_test(self, place: Place, never: str, model: Path, test: Path) -> str:
        """Write a test that repeats the run to a place and expects its violation, or its end.

        `model` and `test` are where the two files will lie. Raises UserError.
        """
        from rebecsim.report.pytest_source import pytest_source, run_source

        if self.opened(place)[0].cut is not None:
            raise UserError("A test repeats runs of a model; a scenario is none. Keep the run.")
        recorded, _ = self.recorded(place, never)
        if recorded is not None:
            return pytest_source(recorded, model, test)
        steppers = self.opened(place)[1]
        with steppers.at(place.behind) as stepper:
            run = stepper.choices()
        if run is None:
            raise UserError("A test cannot repeat a run of a timed transition system.")
        return run_source(
            run, state_after(run, steppers.model), model, test, core=steppers.model.core
        )

    def opened(self, place: Place) -> tuple[ListedModel, ModelSteppers]:
        """Give the model of a place. Raises UserError."""
        return self.open.get(place.model)


def _sent(stepper: Stepper, ordinal: int) -> frozenset[tuple[str, str, int]]:
    for turn in stepper.turns():
        for each in turn.alternatives:
            if each.ordinal == ordinal:
                return sent_by(each)
    return frozenset()
