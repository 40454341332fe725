"""Races as text: those that matter in both orders, the others in one line."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from rebecsim.counted import counted
from rebecsim.exploration import Breach, BreachKey, Path, RaceGroup, RaceKind, Races, step_to_json
from rebecsim.exploration.races import Distance, RaceBound, Unexplained, WitnessOrder
from rebecsim.report.diagrams.race_diagram import ORDER_TITLES, orders_as_text

_MEANING: dict[RaceKind, str] = {
    "inevitable": "a violation{far}, inevitable after one order",
    "avoidable": "a violation{far}, avoidable",
    "observed": "order matters, what is observed differs",
    "results": "order matters, different results for good",
    "undecided": "not decided within the bounds",
    "while": "different for a while{far}",
    "joins": "joins again, nothing differs that can be observed",
}
_INDENT = "   "
_CUT: dict[RaceBound, str] = {
    "states": "the limit of states was reached",
    "seconds": "the time was used up",
    "memory": "the limit of memory was reached",
    "interrupt": "the search was interrupted",
    "horizon": "states beyond the horizon were not followed",
    "pairs": "the limit of pairs of states to follow was reached (`--max-pairs`)",
}


def race_lines(races: Races, width: int = 80, *, wraps: bool = False) -> Iterator[str]:
    """Give the lines of a report: the conclusion, the races, and how much was looked at.

    Drawings are no wider than so many characters, and with `wraps` nothing else is.
    """
    for line in _lines(races, width):
        yield from _wrapped(line, width) if wraps else (line,)


def _wrapped(line: str, width: int) -> list[str]:
    """Give a line in lines of this width; what is indented goes on farther to the right."""
    indent = len(line) - len(line.lstrip())
    margin = " " * (indent + len(_INDENT)) if indent or line[:1].isdigit() else ""
    return textwrap.wrap(line, width, subsequent_indent=margin, break_on_hyphens=False) or [""]


def _lines(races: Races, width: int) -> Iterator[str]:
    if races.in_constructor is not None:
        yield f"{races.model}: {races.in_constructor.verdict}: {races.in_constructor.text}"
        return
    yield f"{races.model}: {races_conclusion(races)}"
    if races.abstraction:
        yield f"left out of the state: {', '.join(races.abstraction)}"
    if races.observed:
        yield f"observed: {', '.join(races.observed)}"
    folded = [[races.groups[place] for place in places] for places in races.alike]
    for number, (group, *others) in enumerate(folded, 1):
        if group.matters or number == 1 or folded[number - 2][0].matters:
            yield ""
        yield from _group_lines(number, group, others, width)
    for each in races.unexplained:
        yield ""
        yield from unexplained_lines(each)
    yield ""
    yield _looked_at(races)


def _looked_at(races: Races) -> str:
    """Say how many states and pairs of steps the conclusion is about."""
    text = (
        f"Looked at {counted(races.states, 'state')} ({races.mode}) and "
        f"{counted(races.pairs, 'pair')} of steps that can be taken in both orders; "
        f"{races.commuting:,} of these {'commutes' if races.commuting == 1 else 'commute'}."
    )
    if races.memory:
        followed = counted(races.followed, "pair")
        text += f" Followed {followed} of states, with {races.memory / 1e6:,.0f} MB at most."
    return text


def races_conclusion(races: Races) -> str:
    """Give the line that sums up: how many are harmful or matter; whether all was looked at."""
    harmful = sum(group.is_harmful for group in races.groups)
    others = sum(group.matters for group in races.groups) - harmful
    kinds = counted(len(races.groups), "kind")
    if harmful:
        text = f"{harmful} of {kinds} of races {'is' if harmful == 1 else 'are'} harmful"
        text += f"; in {counted(others, 'other')} the order matters" if others else ""
    elif others:
        text = f"no race is harmful; in {others} of {kinds} the order matters"
    else:
        text = f"no race is harmful ({kinds})"
    if not races.groups:
        text = "no races"
    if races.deciding and not races.is_harmful:
        text += f", without {', '.join(map(str, races.deciding))}"
    if races.unexplained:
        text += f"; {counted(len(races.unexplained), 'violation')} that no race decides"
    if races.is_decided:
        return text
    reasons = " and ".join(_CUT.get(bound, bound) for bound in races.bounds)
    if races.is_complete:
        were = "was" if races.unfinished == 1 else "were"
        return (
            f"all races are listed, but {races.unfinished} of {kinds} {were} not followed to the "
            f"end, so worse may come of them: {reasons}; so far {text}"
        )
    found = "no race was found so far" if not races.groups else f"so far {text}"
    return f"not everything was looked at: {reasons}; {found}, and there may be others"


def _group_lines(
    number: int, group: RaceGroup, others: Sequence[RaceGroup], width: int
) -> Iterator[str]:
    first, second = group.contenders
    yield f"{number}. {first} / {second}: {race_meaning(group)} ({counted(group.races, 'race')})"
    for other in others:
        yield f"   the same with rebecs exchanged: {' / '.join(map(str, other.contenders))}"
    if not group.matters:
        return
    witness = group.witness
    yield "   the way there:" if witness.path.steps else "   in the initial state:"
    for step in witness.path.steps:
        yield f"   {step}"
    for line in orders_as_text(witness, width - len(_INDENT)):
        yield f"{_INDENT}{line}".rstrip()
    for swap in witness.swaps:
        yield f"   {swap.rebec} serves in different orders: {swap.first}; {swap.second}"
    for order, title in zip(witness.orders, ORDER_TITLES, strict=True):
        if order.only:
            yield f"   after {title} only: {'; '.join(map(str, order.only))}"


def race_meaning(group: RaceGroup) -> str:
    """Say what comes of a race, and how far away."""
    far = ""
    if group.distance is not None:
        at_most = " at most" if group.kind == "while" else ""
        behind = "" if group.kind == "while" else " later"
        far = f"{',' if at_most else ''}{at_most} {_far(group.distance)}{behind}"
    return _MEANING[group.kind].format(far=far)


def _far(distance: Distance) -> str:
    return f"{counted(distance.steps, 'step')} and {counted(distance.time, 'time unit')}"


def unexplained_lines(each: Unexplained) -> Iterator[str]:
    """Say what goes wrong without a race, and at which step it was decided."""
    yield f"! {_breach_text(each.breach)}: no race decides it"
    decision = each.decision
    if decision is None:
        yield "  it comes whatever is done"
        return
    taken, instead = decision.taken.steps, decision.instead.steps
    by = "another message first" if decision.by_order else "another choice"
    yield "  the way to the last step that could have kept it from coming:"
    for step in taken[:-1]:
        yield f"  {step}"
    yield f"  {taken[-1]}"
    yield f"  instead, {by}:"
    yield f"  {instead[-1]}"


def _breach_text(breach: Breach) -> str:
    return f"{breach.verdict}: {breach.text}" if breach.text else breach.verdict


# --- as plain values -----------------------------------------------------------------------------


def races_to_json(races: Races) -> dict[str, Any]:
    """Give the races as plain values."""
    of_group = {place: places for places in races.alike for place in places}
    return {
        "model": races.model,
        "mode": races.mode,
        "harmful": races.is_harmful,
        "decided": races.is_decided,
        "complete": races.is_complete,
        "unfinished": races.unfinished,
        "states": races.states,
        "pairs": races.pairs,
        "commuting": races.commuting,
        "followed": races.followed,
        "peak_memory": races.memory,
        "bounds": list(races.bounds),
        "abstraction": list(races.abstraction),
        "deciding": list(map(vars, races.deciding)),
        "observed": list(races.observed),
        "in_constructor": _breach(races.in_constructor),
        "groups": [
            _group(group, [races.groups[other].id for other in of_group[place] if other != place])
            for place, group in enumerate(races.groups)
        ],
        "unexplained": [_unexplained(each) for each in races.unexplained],
    }


def _group(group: RaceGroup, alike: list[str]) -> dict[str, Any]:
    witness = group.witness
    return {
        "id": group.id,
        "contenders": [contender._asdict() for contender in group.contenders],
        "kind": group.kind,
        "harmful": group.is_harmful,
        "matters": group.matters,
        "races": group.races,
        "alike": alike,
        "breaches": [list(map(_key, keys)) for keys in group.breaches],
        "distance": None if group.distance is None else group.distance._asdict(),
        "witness": {
            "ordinals": list(witness.path.ordinals),
            "path": list(map(step_to_json, witness.path.steps)),
            "time": witness.time,
            "orders": [_order(order) for order in witness.orders],
            "differences": [vars(each) for each in witness.differences],
            "swaps": [vars(each) for each in witness.swaps],
        },
    }


def _order(order: WitnessOrder) -> dict[str, Any]:
    return {
        "ordinals": list(order.path.ordinals[order.begins :]),
        "steps": list(map(step_to_json, order.steps)),
        "breach": _breach(order.breach),
        "only": list(map(_key, order.only)),
    }


def _unexplained(each: Unexplained) -> dict[str, Any]:
    decision = each.decision
    return {
        "key": _key(each.key),
        "breach": _breach(each.breach),
        "inevitable": decision is None,
        "decided_by": None
        if decision is None
        else {
            "by": "order" if decision.by_order else "choice",
            "taken": {"ordinals": list(decision.taken.ordinals), "step": _last(decision.taken)},
            "instead": {
                "ordinals": list(decision.instead.ordinals),
                "step": _last(decision.instead),
            },
        },
    }


def _last(path: Path) -> dict[str, Any]:
    return step_to_json(path.steps[-1])


def _key(key: BreachKey) -> dict[str, str]:
    return dict(key._asdict())


def _breach(breach: Breach | None) -> dict[str, str] | None:
    return None if breach is None else {"verdict": breach.verdict, "message": breach.text}
