"""The two orders of a race side by side: as text for a terminal, and as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from textwrap import wrap

from rebecsim.actors.written import value_text
from rebecsim.exploration import Path, PathStep
from rebecsim.exploration.races import Witness, WitnessOrder
from rebecsim.report.diagrams.sequence import sequence_diagram
from rebecsim.report.diagrams.svg import element, shortened

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
    """Give who takes part, receivers first."""
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
