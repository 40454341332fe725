"""What pages show of a model: its problems, a run, what may happen next, the states ahead."""

from __future__ import annotations

import ast
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from rebecsim.actors import Constant
from rebecsim.actors.values import value_text
from rebecsim.errors import UserError
from rebecsim.exploration import Neighbourhood, Path as Run, RebecState
from rebecsim.lang import Diagnostic, problems_of
from rebecsim.lang.highlighting import RebecaLexer
from rebecsim.live import Stepper, Turn
from rebecsim.report.graphs import states_svg, transition_labels
from rebecsim.report.messages import busy_text, effect_text
from rebecsim.report.sequence_diagram import sequence_diagram
from rebecsim.web.addresses import LONGEST_RUN, Place
from rebecsim.web.rendering import shown_error
from rebecsim.web.steppers import ModelSteppers

_MOST_PROBLEMS = 100
_FILE = "model.rebeca"


def problems_shown(text: str) -> list[dict[str, Any]]:
    """Give what is wrong with a text in Rebeca, as the editor marks it.

    What is wrong in a file that it imports is marked on the first line.
    """
    try:
        found = problems_of(text, _FILE)
    except UserError as error:
        return [problem_on(1, str(error))]
    return [_marked(each) for each in found[:_MOST_PROBLEMS]]


def _marked(found: Diagnostic) -> dict[str, Any]:
    plain = found.to_json() | {"message": shown_error(found.message)}
    file = plain.pop("file")
    if file == _FILE:
        return plain
    place = f"{file}:{found.span.line}:{found.span.column}"
    said = problem_on(1, f"{place}: {found.message}")
    return plain | said | {name: plain[name] for name in ("severity", "hint", "code")}


def problem_on(line: int, message: str, column: int = 1) -> dict[str, Any]:
    """Give an error that is known to be on a line, as the editor marks it."""
    place = {"line": line, "column": column, "end_line": line, "end_column": column}
    said = {"severity": "error", "message": shown_error(message), "hint": None}
    return {**place, **said, "code": ""}


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


def viewed(steppers: ModelSteppers, place: Place) -> View:
    """Describe the state at a place. Raises UserError, Violation."""
    sent: frozenset[tuple[str, str, int]] = frozenset()
    if place.at:
        with steppers.at(place.run[: place.at - 1]) as stepper:
            taken = place.run[place.at - 1]
            steps = [each for turn in stepper.turns() for each in turn.alternatives]
            sent = frozenset(
                (receiver, message.call, message.arrival)
                for each in steps
                if each.ordinal == taken
                for receiver, message in each.sent
            )
    with steppers.at(place.behind) as stepper:
        return _view_of(stepper, place, sent)


def _view_of(stepper: Stepper, place: Place, sent: frozenset[tuple[str, str, int]]) -> View:
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


# --- the states ahead ---------------------------------------------------------------------------

MOST_STATES = 300
_FIRST_STATES = 20
_PATIENCE = 2.0
"""Seconds that looking ahead may take."""


def graph_of(stepper: Stepper, place: Place, states: int, find: str) -> dict[str, Any]:
    """Give the values of a graph's page; `find` is a condition. Raises UserError, RebecaError."""
    (space, ways), found = _ahead(stepper, states, find)
    most = _most(states)

    def address(number: int) -> str:
        run = (*place.behind, *ways[number])
        return Place(place.model, run, len(run)).address()

    return {
        "drawing": states_svg(space, address, found, legend=False),
        "transitions": transition_labels(space),
        "count": len(space.states),
        "complete": space.complete,
        "most": most,
        "wider": str(min(most * 2, MOST_STATES)) if most < MOST_STATES else "",
        "found": [(number, address(number)) for number in sorted(found)],
    }


def drawn_graph(stepper: Stepper, states: int, find: str) -> str:
    """Draw the graph for a file, without links. Raises UserError, RebecaError."""
    (space, _), found = _ahead(stepper, states, find)
    return states_svg(space, marked=found)


def _ahead(stepper: Stepper, states: int, find: str) -> tuple[Neighbourhood, frozenset[int]]:
    end = time.monotonic() + _PATIENCE
    return stepper.ahead(_most(states), lambda: time.monotonic() > end, find)


def _most(states: int) -> int:
    return min(max(states, 1), MOST_STATES)


def most_states(text: str) -> int:
    """Read how many states to draw; anything but a number means the default."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else _FIRST_STATES
