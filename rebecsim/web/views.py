"""Turn a state of a run into plain values for the templates."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from rebecsim.actors.written import value_text
from rebecsim.exploration import Path, RebecState
from rebecsim.live import Alternative, Stepper, Turn
from rebecsim.report.diagrams.sequence import sequence_diagram
from rebecsim.report.models.stepping import busy_text, effect_text
from rebecsim.web.addresses import LONGEST_RUN, Place

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
    """A rebec as it is."""

    name: str
    reactive_class: str
    busy: str
    variables: tuple[ShownVariable, ...]
    bag: tuple[ShownMessage, ...]
    acted: bool


@dataclass(frozen=True)
class Possibility:
    """A way in which something may go: the choices, what comes of it, and where it leads."""

    chosen: str
    effect: str
    wrong: bool
    address: str


@dataclass(frozen=True)
class Offer:
    """Something that may happen next."""

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
    """Describe the place that a stepper has come to; `sent` is what the last step has sent."""
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


def diagram_of(path: Path, place: Place) -> str:
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
    path: Path,
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
    """Describe what may happen next, with how many others are for the same rebec."""
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
