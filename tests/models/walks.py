"""Runs followed through the explored state space, and what always stays possible in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rebecsim.actors import Scheduler
from rebecsim.actors.values import plain
from rebecsim.exploration import PathStep
from rebecsim.simulation import Event, RunResult, Tracer, simulate
from tests.models.lessons import Lesson, checked, model_of
from tests.on_demand import OnDemand


def space_of(lesson: Lesson) -> OnDemand:
    """The state space of a lesson's model, expanded where a run goes."""
    return OnDemand(model_of(lesson), checks=lesson.checks, checked=checked(lesson))


def simulated(lesson: Lesson, scheduler: Scheduler, steps: int) -> tuple[RunResult, list[Event]]:
    """One run of so many messages at most, and what happened."""
    tracer = Tracer()
    result = simulate(model_of(lesson), scheduler, max_steps=steps, tracer=tracer)
    return result, tracer.events


def ends_of(space: OnDemand, events: Iterable[Event]) -> set[str]:
    """Follow a run through a state space and tell how it can have ended there.

    Gives the verdicts of the breaches that the last message comes to, "" where it comes to none.
    Nothing is given if the space has no such run, or if it would have ended before.
    """
    places: set[int | None] = set(space.roots)
    ends = {""}
    for event in events:
        met = [
            each
            for place in places
            if place is not None
            for each in space.successors(place)
            if _same(each.step, event)
        ]
        # What a property forbids does not end a simulation.
        ends = {"" if each.breach is None else each.breach.verdict for each in met}
        places = {each.state for each in met}
    return ends


def _same(step: PathStep, event: Event) -> bool:
    return (
        step.rebec,
        step.server,
        step.sender,
        tuple(map(plain, step.arguments)),
        tuple(index for index, _ in step.choices),
        {name: plain(value) for name, value in step.changed},
    ) == (
        event.rebec,
        event.server,
        event.sender,
        tuple(map(plain, event.arguments)),
        tuple(event.choices),
        {name: plain(value) for name, value in event.changed.items()},
    )


def states_without_hope(space: OnDemand, rebec: str, server: str) -> set[int]:
    """The states from which a rebec never serves a message of some name again."""
    sources: dict[int, list[int]] = {}
    hopeful: list[int] = []
    pending, seen = list(space.roots), set(space.roots)
    while pending:
        state = pending.pop()
        for each in space.successors(state):
            if (each.step.rebec, each.step.server) == (rebec, server):
                hopeful.append(state)
            if each.state is None:
                continue
            sources.setdefault(each.state, []).append(state)
            if each.state not in seen:
                seen.add(each.state)
                pending.append(each.state)
    reached: set[Any] = set(hopeful)
    while hopeful:
        for source in sources.get(hopeful.pop(), ()):
            if source not in reached:
                reached.add(source)
                hopeful.append(source)
    return seen - reached
