"""The two orders of a race side by side: as text for a terminal, and as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from rebecsim.actors.written import value_text
from rebecsim.exploration.path import PathStep
from rebecsim.exploration.races.witness import Order, Witness
from rebecsim.report.sequence import sequence_diagram
from rebecsim.report.svg import element, shortened

__all__ = ["orders_as_svg", "orders_as_text"]

_TIME = 5  # characters of the column of times
_LABEL = 30  # characters of a message
_TITLES = ("one order", "the other order")


def orders_as_text(witness: Witness) -> list[str]:
    """Draw the two orders beside each other, a column for each rebec that takes part."""
    steps = [step for order in witness.orders for step in order.steps if step.kind != "time"]
    rebecs = list(dict.fromkeys(step.rebec for step in steps))
    rebecs += [name for name in dict.fromkeys(step.sender for step in steps) if name not in rebecs]
    blocks = [
        _block(order, rebecs, title) for order, title in zip(witness.orders, _TITLES, strict=True)
    ]
    for difference in witness.differences:
        blocks[0].append(f"{difference.name} = {value_text(difference.first)}")
        blocks[1].append(f"{difference.name} = {value_text(difference.second)}")
    width = max(map(len, blocks[0]))
    return [
        f"{left:{width}} | {right}".rstrip() for left, right in zip_longest(*blocks, fillvalue="")
    ]


def _block(order: Order, rebecs: Sequence[str], title: str) -> list[str]:
    labels = [_label(step) for step in order.steps]
    width = max(map(len, [*labels, *rebecs]), default=0) + 2
    places = {name: _TIME + 2 + width * number for number, name in enumerate(rebecs)}
    head = " " * (_TIME + 2) + "".join(f"{name:{width}}" for name in rebecs)
    rows = [_row(step, label, places) for step, label in zip(order.steps, labels, strict=True)]
    wrong = order.breach
    if wrong is not None:
        words = f"{wrong.verdict}: {wrong.text}" if wrong.text else wrong.verdict
        rows.append(f"! {words}")
    return [title, head.rstrip(), *rows]


def _label(step: PathStep) -> str:
    if step.kind == "time":
        return ""
    arguments = ", ".join(map(value_text, step.arguments))
    words = f"{step.server}({arguments})"
    if step.kind == "resume":
        words = f"... {words}"
    if step.choices:
        words += f" [{step.drawn_text}]"
    return shortened(words, _LABEL)


def _row(step: PathStep, label: str, places: dict[str, int]) -> str:
    """Draw a message: its sender, an arrow, and what it is at the receiver."""
    time = f"{step.time:>{_TIME}}  "
    if step.kind == "time":
        return f"{time}(time passes)"
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


def orders_as_svg(witness: Witness) -> str:
    """Draw the two orders as sequence diagrams beside each other."""
    drawings = [
        sequence_diagram(order.path, last=len(order.steps), title=title)
        for order, title in zip(witness.orders, _TITLES, strict=True)
    ]
    sizes = [_size(each) for each in drawings]
    width, height = sum(size[0] for size in sizes), max(size[1] for size in sizes)
    placed = [
        drawing.replace("<svg ", f'<svg x="{x:g}" y="0" ', 1)
        for drawing, x in zip(drawings, (0.0, sizes[0][0]), strict=True)
    ]
    ground = element("rect", width=width, height=height, fill="#ffffff")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img">\n{ground}\n{placed[0]}{placed[1]}</svg>\n'
    )


def _size(drawing: str) -> tuple[float, float]:
    """Read width and height off a drawing of this program."""
    words = drawing.split('"', 8)
    return float(words[3]), float(words[5])
