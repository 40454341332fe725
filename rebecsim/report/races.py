"""Races in words, as plain values, and as diagrams of both orders."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from rebecsim.actors.values import value_text
from rebecsim.exploration import (
    Breach,
    BreachKey,
    Path,
    PathStep,
    RaceGroup,
    RaceKind,
    Races,
    step_to_json,
)
from rebecsim.exploration.races import Distance, RaceBound, Unexplained, Witness, WitnessOrder
from rebecsim.report.sequence_diagram import sequence_diagram
from rebecsim.report.svg import element, shortened
from rebecsim.wording import counted

_TIME = 5  # characters of the column of times
_LABEL = 30  # characters of a message
_BETWEEN = " | "
_LEAST = 30  # characters of a line
_NARROW = 8  # characters of a message at least
ORDER_TITLES = ("one order", "the other order")
_MARKS = ("①", "②")


def orders_as_text(witness: Witness, width: int) -> list[str]:
    """Draw the two orders, a column for each rebec that takes part, in lines of that width.

    They are beside each other if both fit, else one below the other, with messages and names cut
    short if need be; where even that is too wide, steps are only listed. Fewer than 30 characters
    count as that many.
    """
    rebecs, width = _rebecs(witness), max(width, _LEAST)
    blocks = [[title] for title in ORDER_TITLES]
    notes = [list(end_notes(witness, side)) for side in (0, 1)]
    drawn = [_block(order, rebecs, _LABEL) for order in witness.orders]
    rooms = _beside(
        width - len(_BETWEEN), [[*blocks[side], *drawn[side]] for side in (0, 1)], notes
    )
    if rooms is None:
        drawn = [_fitting(order, rebecs, width) for order in witness.orders]
    for side, room in enumerate(rooms or (width, width)):
        blocks[side] += drawn[side]
        for note in notes[side]:
            blocks[side] += wrap(note, room, subsequent_indent="    ")
    if rooms is None:
        return [*blocks[0], "", *blocks[1]]
    left = max(map(len, blocks[0]))
    return [
        f"{one:{left}}{_BETWEEN}{other}".rstrip()
        for one, other in zip_longest(*blocks, fillvalue="")
    ]


def _beside(
    width: int, drawn: Sequence[Sequence[str]], notes: Sequence[Sequence[str]]
) -> tuple[int, int] | None:
    """Share the width among two drawings, so that few of their notes need wrapping.

    None if it is too narrow for both.
    """
    least = [max(map(len, lines)) for lines in drawn]
    if sum(least) > width:
        return None
    most = [max(map(len, [*lines, *more])) for lines, more in zip(drawn, notes, strict=True)]
    left = min(most[0], max(width // 2, width - most[1]))
    left = min(max(left, least[0]), width - least[1])
    return left, width - left


def _fitting(order: WitnessOrder, rebecs: Sequence[str], width: int) -> list[str]:
    """Draw an order, cut short as far as the width asks for."""
    longest = (width - _TIME - 2) // max(len(rebecs), 1) - 2
    if longest < _NARROW:
        return _listed(order, width)
    return _block(order, rebecs, min(longest, _LABEL))


def _rebecs(witness: Witness) -> list[str]:
    """Give the rebecs that take part, receivers first."""
    steps = [step for order in witness.orders for step in order.steps if step.kind != "time"]
    names = [step.rebec for step in steps] + [step.sender for step in steps]
    return list(dict.fromkeys(names))


def end_notes(witness: Witness, side: int) -> Iterator[str]:
    """Say how an order ends: what goes wrong, and where it leads elsewhere than the other one."""
    wrong = witness.orders[side].breach
    if wrong is not None:
        yield f"! {wrong.verdict}: {wrong.text}" if wrong.text else f"! {wrong.verdict}"
    for each in witness.differences:
        yield f"{each.name} = {value_text((each.first, each.second)[side])}"


def _block(order: WitnessOrder, rebecs: Sequence[str], longest: int) -> list[str]:
    """Draw an order with names and messages of at most so many characters."""
    labels = [shortened(_label(step), longest) for step in order.steps]
    names = [shortened(name, longest) for name in rebecs]
    width = max(map(len, [*labels, *names]), default=0) + 2
    places = {name: _TIME + 2 + width * number for number, name in enumerate(rebecs)}
    head = " " * (_TIME + 2) + "".join(f"{name:{width}}" for name in names)
    rows = [_row(step, label, places) for step, label in zip(order.steps, labels, strict=True)]
    return [head.rstrip(), *rows]


def _listed(order: WitnessOrder, width: int) -> list[str]:
    lines = []
    for step in order.steps:
        who = "" if step.kind == "time" else f"{step.sender} -> {step.rebec}: "
        lines.append(shortened(f"{step.time:>{_TIME}}  {who}{_label(step)}".rstrip(), width))
    return lines


def _label(step: PathStep) -> str:
    if step.kind == "time":
        return "(time passes)"
    arguments = ", ".join(map(value_text, step.arguments))
    words = f"{step.server}({arguments})"
    if step.kind == "resume":
        words = f"... {words}"
    if step.choices:
        words += f" [{step.drawn_text}]"
    return words


def _row(step: PathStep, label: str, places: dict[str, int]) -> str:
    """Draw a message: its sender, an arrow, and what it is at the receiver."""
    time = f"{step.time:>{_TIME}}  "
    if step.kind == "time":
        return time + label
    end = max(places.values()) + len(label) + 2
    cells = list(" " * end)
    for place in places.values():
        cells[place] = "|"
    at, start = places[step.rebec], places[step.sender]
    if start < at:
        cells[start : at - 1] = "o" + "-" * (at - start - 3) + ">"
    elif start > at:
        first = at + len(label) + 1
        cells[first : start + 1] = "<" + "-" * (start - first - 1) + "o"
    cells[at : at + len(label)] = label
    cells[: len(time)] = time
    return "".join(cells).rstrip()


def order_drawings(
    witness: Witness, link: Callable[[Path, int], str] | None = None
) -> tuple[str, str]:
    """Draw each of the two orders as a sequence diagram, with the two messages marked in both.

    With `link`, the message of a step of a path leads to an address.
    """
    one, other = (
        sequence_diagram(
            order.path,
            last=len(order.steps),
            title=title,
            link=None if link is None else partial(link, order.path),
            marked=_marked(witness, order),
            rebecs=_rebecs(witness),
        )
        for order, title in zip(witness.orders, ORDER_TITLES, strict=True)
    )
    return one, other


def _marked(witness: Witness, order: WitnessOrder) -> dict[int, str]:
    """Find the two messages in an order: each of them is what one of the orders begins with."""
    contenders = [_identity(each.steps[0]) for each in witness.orders if each.steps]
    served = [_identity(step) for step in order.steps]
    return {
        order.begins + served.index(each): mark
        for each, mark in zip(contenders, _MARKS, strict=False)
        if each in served
    }


def _identity(step: PathStep) -> tuple[object, ...]:
    return step.kind, step.rebec, step.server, step.sender, step.arguments, step.arrival


def orders_as_svg(witness: Witness) -> str:
    """Draw the two orders as sequence diagrams beside each other."""
    drawings = order_drawings(witness)
    sizes = [_size(each) for each in drawings]
    width, height = sum(size[0] for size in sizes), max(size[1] for size in sizes)
    placed = [
        drawing.replace("<svg ", f'<svg x="{x:g}" y="0" ', 1)
        for drawing, x in zip(drawings, (0.0, sizes[0][0]), strict=True)
    ]
    ground = element("rect", class_="ground", width=width, height=height, fill="#ffffff")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img">\n{ground}\n{placed[0]}{placed[1]}</svg>\n'
    )


def _size(drawing: str) -> tuple[float, float]:
    """Read width and height off a drawing of this program."""
    words = drawing.split('"', 8)
    return float(words[3]), float(words[5])


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
    "seconds": "the time limit was reached",
    "memory": "the memory limit was reached",
    "interrupt": "the search was interrupted",
    "horizon": "states beyond the horizon were not followed",
    "pairs": "the limit of pairs of states to follow was reached (`--max-pairs`)",
}


def race_lines(
    races: Races, width: int = 80, *, wraps: bool = False, only: RaceGroup | None = None
) -> Iterator[str]:
    """Give the lines of a report: the conclusion, the races, and how much was looked at.

    Drawings are no wider than so many characters, and with `wraps` nothing else is. Of the races,
    `only` one may be shown.
    """
    for line in _lines(races, width, only):
        yield from _wrapped(line, width) if wraps else (line,)


def _wrapped(line: str, width: int) -> list[str]:
    """Give a line in lines of this width; what is indented goes on farther to the right."""
    indent = len(line) - len(line.lstrip())
    margin = " " * (indent + len(_INDENT)) if indent or line[:1].isdigit() else ""
    return textwrap.wrap(line, width, subsequent_indent=margin, break_on_hyphens=False) or [""]


def _lines(races: Races, width: int, only: RaceGroup | None) -> Iterator[str]:
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
        if only is not None and only.id not in [each.id for each in (group, *others)]:
            continue
        if group.matters or number == 1 or folded[number - 2][0].matters:
            yield ""
        yield from _group_lines(number, group, others, width)
    for each in races.unexplained if only is None else ():
        yield ""
        yield from unexplained_lines(each)
    yield ""
    yield _looked_at(races)
    yield from races.cut


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
    """Say which result a race has, and after how many steps."""
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
        **({"cut": list(races.cut)} if races.cut else {}),
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
