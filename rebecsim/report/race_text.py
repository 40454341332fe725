"""Races as text: what was found, and for each group a witness with the two orders side by side."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from rebecsim.explore.outcome import Breach
from rebecsim.explore.path import PathStep
from rebecsim.explore.races import RaceGroup, RaceKind, Races
from rebecsim.explore.witness import Order, Witness

__all__ = ["race_lines", "races_to_json"]

_MEANING: dict[RaceKind, str] = {
    "violation": "one order can lead to a violation",
    "results": "the orders lead to different results",
    "undecided": "not decided within the bounds",
    "joins": "benign, the orders join again",
}
_CUT: dict[str, str] = {
    "states": "the limit of states was reached",
    "seconds": "the time was used up",
    "memory": "the limit of memory was reached",
    "interrupt": "the search was interrupted",
    "horizon": "states beyond the horizon were not followed",
}


def race_lines(races: Races) -> Iterator[str]:
    """Give the lines of a report."""
    yield (
        f"{races.model} ({races.mode}): {races.states:,} states, {races.pairs:,} pairs of messages "
        f"that can be served in both orders, {races.commuting:,} of which commute"
    )
    if races.abstraction:
        yield f"left out of the state: {', '.join(races.abstraction)}"
    for number, group in enumerate(races.groups, 1):
        yield ""
        yield from _group_lines(number, group)
    yield ""
    yield _conclusion(races)


def _conclusion(races: Races) -> str:
    harmful = sum(group.is_harmful for group in races.groups)
    text = f"{harmful} of {len(races.groups)} kinds of races are harmful"
    if not races.groups:
        text = "no races"
    if not races.bounds:
        return text
    reasons = " and ".join(_CUT.get(bound, bound) for bound in races.bounds)
    found = "no race was found so far" if not races.groups else f"so far {text}"
    return f"not everything was looked at: {reasons}; {found}, and there may be others"


def _group_lines(number: int, group: RaceGroup) -> Iterator[str]:
    first, second = group.contenders
    yield f"{number}. {group.rebec}: {first} / {second}: {_MEANING[group.kind]}"
    counted = ", ".join(f"{count:,} {kind}" for kind, count in group.counts.items())
    yield f"   {counted}"
    witness = group.witness
    yield "   the way there:" if witness.path.steps else "   in the initial state:"
    for step in witness.path.steps:
        yield f"   {step}"
    yield from _side_by_side(witness)


def _side_by_side(witness: Witness) -> Iterator[str]:
    columns = [["one order", *_order_lines(order)] for order in witness.orders]
    columns[1][0] = "the other order"
    for difference in witness.differences:
        columns[0].append(f"{difference.name} = {_text(difference.first)}")
        columns[1].append(f"{difference.name} = {_text(difference.second)}")
    width = max(map(len, columns[0]))
    for left, right in zip_longest(*columns, fillvalue=""):
        if left or right:
            yield f"   | {left:{width}} | {right}".rstrip()


def _order_lines(order: Order) -> list[str]:
    lines = [_step_text(step) for step in order.steps]
    if len(lines) == 1:
        lines.append("" if order.breach is not None else "  (the other message has to wait)")
    lines.append("" if order.breach is None else f"! {_breach_text(order.breach)}")
    later = [breach for breach in order.only if breach != order.breach]
    lines.append(f"only here, later: {'; '.join(map(_breach_text, later))}" if later else "")
    return lines


def _step_text(step: PathStep) -> str:
    text = f"{step.time} {step.sender} -> {step.rebec}: {step.call}"
    if step.choices:
        text += f" chooses {step.drawn_text}"
    return text


def _breach_text(breach: Breach) -> str:
    return f"{breach.verdict}: {breach.text}" if breach.text else breach.verdict


def _text(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "null"
        case list():
            return f"[{', '.join(map(_text, value))}]"
        case _:
            return str(value)


# --- as plain values -----------------------------------------------------------------------------


def races_to_json(races: Races) -> dict[str, Any]:
    """Give the races as plain values."""
    return {
        "model": races.model,
        "mode": races.mode,
        "harmful": races.is_harmful,
        "states": races.states,
        "pairs": races.pairs,
        "commuting": races.commuting,
        "bounds": list(races.bounds),
        "abstraction": list(races.abstraction),
        "groups": [_group(group) for group in races.groups],
    }


def _group(group: RaceGroup) -> dict[str, Any]:
    witness = group.witness
    return {
        "rebec": group.rebec,
        "messages": [contender._asdict() for contender in group.contenders],
        "kind": group.kind,
        "counts": dict(group.counts),
        "witness": {
            "ordinals": list(witness.path.ordinals),
            "path": [_step(step) for step in witness.path.steps],
            "time": witness.time,
            "orders": [_order(order) for order in witness.orders],
            "differences": [vars(each) for each in witness.differences],
        },
    }


def _order(order: Order) -> dict[str, Any]:
    return {
        "steps": [_step(step) for step in order.steps],
        "breach": None if order.breach is None else order.breach._asdict(),
        "only": [breach._asdict() for breach in order.only],
    }


def _step(step: PathStep) -> dict[str, Any]:
    return {
        "kind": step.kind,
        "time": step.time,
        "sender": step.sender,
        "rebec": step.rebec,
        "server": step.server,
        "arguments": list(step.arguments),
        "choices": [list(choice) for choice in step.choices],
        "changed": dict(step.changed),
    }
