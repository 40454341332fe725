"""Drawings of graphs: the topology of a model, and small state spaces."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rebecsim.actors import Model
from rebecsim.errors import UserError
from rebecsim.files import write_text
from rebecsim.report.state_spaces import dot_text, edge_label, state_lines, write_state_space
from rebecsim.report.svg import document, element, shortened, text

if TYPE_CHECKING:
    from rebecsim.exploration import StateSpace

MOST_DRAWN_STATES = 60
"""States of a drawing of a state space."""

_STYLE = (
    "text{font:12px system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1f2933;"
    "text-anchor:middle}.class{fill:#52606d;font-size:11px}.name{font-weight:600}"
    ".box{fill:#e6f0fa;stroke:#2f6fab}.edge{stroke:#7b8794;fill:none;stroke-width:1.2}"
    ".label{fill:#52606d;font-size:10.5px;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".title{text-anchor:start;font-weight:600}.legend{text-anchor:start;font-size:11px}.start{stroke-width:2.5}"
    "rect.wrong{fill:#fdecec;stroke:#c81e1e}text.wrong{fill:#c81e1e}.words{font-size:10px}"
    "@media(prefers-color-scheme:dark){.ground{fill:#14191f}text{fill:#e4e7eb}"
    ".class,.label{fill:#a5b1bd}.label{stroke:#14191f}.box{fill:#1f3247;stroke:#84bdf2}"
    "rect.wrong{fill:#431c1c;stroke:#ff9d9d}text.wrong{fill:#ff9d9d}}"
)
_ARROW = (
    '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
    'markerHeight="8" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="#7b8794"/>'
    "</marker></defs>"
)

Point = tuple[float, float]

_PLACES = (0.6, 0.45, 0.75, 0.3, 0.15, 0.85)
"""Where on an arrow of a state space its label may stand, the best place first."""


# --- topology ------------------------------------------------------------------------------------


def draw_topology(model: Model, file: Path) -> None:
    """Draw the rebecs and whom they know, as .svg or .dot. Raises UserError, OSError."""
    if _is_svg(file):
        write_text(file, topology_svg(model))
    else:
        write_text(file, "\n".join(_topology_dot(model)) + "\n")


def _is_svg(file: Path) -> bool:
    """Tell a drawing from a dot file. Raises UserError for the name of neither."""
    if file.suffix not in (".svg", ".dot"):
        raise UserError(f"{file}: must end in .svg or .dot")
    return file.suffix == ".svg"


def _known(model: Model) -> dict[tuple[str, str], str]:
    """Give (rebec, known rebec) and under which names it is known."""
    pairs: dict[tuple[str, str], list[str]] = {}
    for instance in model.instances:
        for known, name in zip(
            instance.reactive_class.__known_rebecs__, instance.knows, strict=True
        ):
            pairs.setdefault((instance.name, name), []).append(known.name)
    return {pair: ", ".join(names) for pair, names in pairs.items()}


def _topology_dot(model: Model) -> Iterator[str]:
    yield f"digraph {dot_text(model.name)} {{"
    yield '  node [shape=box, style="rounded", fontname="Helvetica"];'
    for instance in model.instances:
        label = f"{instance.name}\n{instance.reactive_class.__name__}"
        yield f"  {dot_text(instance.name)} [label={dot_text(label)}];"
    for (rebec, known), names in _known(model).items():
        yield f"  {dot_text(rebec)} -> {dot_text(known)} [label={dot_text(names)}];"
    yield "}"


def topology_svg(model: Model) -> str:
    """Put the rebecs on a circle, acquaintances side by side, the first one of main on top.

    Under which name a rebec knows another stands at the arrow, unless it is the other's own.
    """
    names = _around(model)
    width, height = 120.0, 44.0
    radius = max(130.0, len(names) * (width + 30.0) / (2 * math.pi)) if len(names) > 1 else 0.0
    center = radius + width / 2 + 60.0, radius + height / 2 + 70.0
    places = {
        name: (
            center[0] + radius * math.sin(2 * math.pi * position / len(names)),
            center[1] - radius * math.cos(2 * math.pi * position / len(names)),
        )
        for position, name in enumerate(names)
    }
    known = _known(model)
    content = [_ARROW, text(model.name, class_="title", x=14, y=24)]
    for (rebec, other), names_of_other in known.items():
        label = "" if names_of_other == other else names_of_other
        both = (other, rebec) in known
        content += _edge(places[rebec], places[other], (width, height), label, 18.0 * both, (0.3,))
    for instance in model.instances:
        x, y = places[instance.name]
        content += [
            element(
                "rect",
                class_="box",
                x=x - width / 2,
                y=y - height / 2,
                width=width,
                height=height,
                rx=7,
            ),
            text(shortened(instance.name, 16), instance.name, class_="name", x=x, y=y - 3),
            text(
                shortened(instance.reactive_class.__name__, 18),
                instance.reactive_class.__name__,
                class_="class",
                x=x,
                y=y + 14,
            ),
        ]
    return document(2 * center[0], 2 * center[1] - 30.0, _STYLE, model.name, content)


def _around(model: Model) -> list[str]:
    """Give the rebecs in an order in which each one follows another that it knows, if possible."""
    neighbours: dict[str, list[str]] = {instance.name: [] for instance in model.instances}
    for rebec, other in _known(model):
        neighbours[rebec].append(other)
        neighbours[other].append(rebec)
    order: dict[str, None] = {}
    for name in neighbours:
        pending = [name]
        while pending:
            here = pending.pop()
            if here not in order:
                order[here] = None
                pending.extend(reversed(neighbours[here]))
    return list(order)


def _edge(
    start: Point,
    end: Point,
    size: Point,
    label: str,
    bend: float,
    at: Sequence[float] = (0.5,),
    boxes: Collection[Point] = (),
    hint: str = "",
) -> list[str]:
    """Give an arrow from the border of one box to that of another, and its label if it has one.

    `bend` is how far it leaves the straight line, to the left; `at`, from 0 to 1, where on it the
    label stands, if there is no box, given by its middle; else at the next of these places, or
    the last. `hint` explains the label, which otherwise does so itself.
    """
    if start == end:
        x, y = start[0] + size[0] / 2, start[1]
        curve = f"M{x:.1f} {y - 8:.1f} c34 -22 34 38 0 16"
        x, y, longest = x + 34.0, y - 18.0, 22
    else:
        curve, (x, y) = _curve(start, end, size, bend, at, boxes)
        y, longest = y + 3.5, 26
    arrow = element("path", class_="edge", d=curve, marker_end="url(#tip)")
    if not label:
        return [arrow]
    return [arrow, text(shortened(label, longest), hint or label, class_="label", x=x, y=y)]


def _curve(
    start: Point,
    end: Point,
    size: Point,
    bend: float,
    at: Sequence[float],
    boxes: Collection[Point],
) -> tuple[str, Point]:
    """Give the path of an arrow between two boxes, and the place for its label; as `_edge`."""
    across, down = end[0] - start[0], end[1] - start[1]
    length = math.hypot(across, down)
    middle = (
        (start[0] + end[0]) / 2 + bend * 2 * down / length,
        (start[1] + end[1]) / 2 - bend * 2 * across / length,
    )
    first, last = _border(start, middle, size), _border(end, middle, size)
    curve = f"M{first[0]:.1f} {first[1]:.1f} Q{middle[0]:.1f} {middle[1]:.1f} "
    curve += f"{last[0]:.1f} {last[1]:.1f}"
    for part in at:
        x, y = (
            (1 - part) ** 2 * begin + 2 * part * (1 - part) * control + part**2 * finish
            for begin, control, finish in zip(first, middle, last, strict=True)
        )
        if not any(_is_inside((x, y), box, size) for box in boxes):
            break
    return curve, (x, y)


def _is_inside(point: Point, center: Point, size: Point) -> bool:
    """Whether a point is inside a box, or very near to it."""
    across, down = abs(point[0] - center[0]), abs(point[1] - center[1])
    return across < size[0] / 2 + 10.0 and down < size[1] / 2 + 6.0


def _border(center: Point, toward: Point, size: Point) -> Point:
    """Give where the line from the middle of a box to a point leaves the box."""
    across, down = toward[0] - center[0], toward[1] - center[1]
    scale = max(abs(across) / (size[0] / 2 + 3.0), abs(down) / (size[1] / 2 + 3.0), 1e-9)
    return center[0] + across / scale, center[1] + down / scale


# --- state spaces --------------------------------------------------------------------------------


def draw_space(space: StateSpace, file: Path) -> None:
    """Draw a small state space, as .svg or .dot. Raises UserError for a large one, OSError."""
    if _is_svg(file):
        write_text(file, space_svg(space))
    else:
        _require_small(space)
        write_state_space(file, space)


def _require_small(space: StateSpace) -> None:
    if not space.complete or space.nodes > MOST_DRAWN_STATES:
        raise UserError(
            f"{space.system.model.name}: only state spaces of up to {MOST_DRAWN_STATES} states "
            "are drawn; `rebecsim explore --export` writes larger ones"
        )


def _layers(space: StateSpace) -> list[list[int]]:
    """Sort states by how many transitions they are from the initial one."""
    depth = {0: 0}
    for edge in space.edges:  # in breadth-first order, so the first one met is a shortest
        depth.setdefault(edge.target, depth[edge.source] + 1)
    layers: list[list[int]] = [[] for _ in range(max(depth.values()) + 1)]
    for number, layer in depth.items():
        layers[layer].append(number)
    return layers


def space_svg(space: StateSpace) -> str:
    """Draw a small state space. Raises UserError for a large one."""
    _require_small(space)
    return states_svg(space)


def states_svg(
    space: StateSpace,
    link: Callable[[int], str] | None = None,
    marked: Collection[int] = (),
    *,
    legend: bool = True,
) -> str:
    """Draw a state space, or as much of it as is known.

    With `link`, a node leads to an address; those that are `marked` stand out. Arrows have
    numbers, which a `legend` below explains.
    """
    words = {number: state_lines(space, number) for number in range(space.nodes)}
    longest = max(len(line) for lines in words.values() for line in lines[1:] or [""])
    characters = min(max(longest, 14), 34)
    width = characters * 5.6 + 16.0
    height = 12.0 + 13.0 * min(max(map(len, words.values())), 6)
    layers = _layers(space)
    widest = max(map(len, layers))
    gap_x, gap_y = 56.0, 66.0
    total = widest * (width + gap_x)
    places = {
        number: (
            total * (place + 0.5) / len(layer) + 30.0,
            60.0 + height / 2 + row * (height + gap_y),
        )
        for row, layer in enumerate(layers)
        for place, number in enumerate(layer)
    }
    system = space.system
    title = f"{system.model.name} ({system.mode}): {len(space.states)} states"
    content = [_ARROW, text(title, class_="title", x=14, y=24)]
    between: dict[tuple[int, int], list[str]] = {}
    numbers = {label: number for number, label in enumerate(transition_labels(space), 1)}
    above: list[str] = []
    for edge in space.edges:
        between.setdefault((edge.source, edge.target), []).append(edge_label(edge))
    for (source, target), labels in between.items():
        start, end = places[source], places[target]
        bend = 0.0 if start[1] < end[1] else 40.0 + abs(start[1] - end[1]) / 8
        distinct = dict.fromkeys(labels)
        shown = ", ".join(str(numbers[label]) for label in distinct)
        hint = "\n".join(distinct)
        arrow, label_on_it = _edge(
            start, end, (width, height), shown, bend, _PLACES, places.values(), hint
        )
        content.append(arrow)
        above.append(label_on_it)
    for number, (x, y) in places.items():
        box = _state(words[number], x, y, (width, height), characters, number, space)
        if number in marked:
            ring = element(
                "rect",
                class_="marked",
                x=x - width / 2 - 6.0,
                y=y - height / 2 - 6.0,
                width=width + 12.0,
                height=height + 12.0,
                rx=9,
                fill="#f5c542",
            )
            content.append(ring)
        content += box if link is None else [element("a", "".join(box), href=link(number))]
    content += above  # an arrow may be hidden by a box, its number must not be
    bottom = 50.0 + len(layers) * (height + gap_y)
    explained = numbers if legend else {}
    content += [
        text(f"{number}: {label}", class_="legend", x=14, y=bottom + 16.0 * number)
        for label, number in explained.items()
    ]
    longest_label = max((len(label) for label in explained), default=0)
    return document(
        max(total + 60.0, 420.0, 60.0 + 6.2 * longest_label),
        bottom + 16.0 * (len(explained) + 1),
        _STYLE,
        title,
        content,
        role="img" if link is None else "group",
    )


def transition_labels(space: StateSpace) -> list[str]:
    """Give what the numbers of arrows stand for, from 1 on: the labels are too long for arrows."""
    return list(dict.fromkeys(map(edge_label, space.edges)))


def _state(
    words: list[str],
    x: float,
    y: float,
    size: Point,
    characters: int,
    number: int,
    space: StateSpace,
) -> list[str]:
    width, height = size
    kind = "box" + " wrong" * (number in space.wrong) + " start" * (number == 0)
    left, top = x - width / 2, y - height / 2
    shown = words if len(words) <= 6 else [*words[:5], "…"]
    color = " wrong" if number in space.wrong else ""
    return [
        element("rect", class_=kind, x=left, y=top, width=width, height=height, rx=6),
        *(
            text(
                shortened(line, characters),
                "\n".join(words),
                class_=("name" if row == 0 else "words") + color,
                x=x,
                y=top + 16.0 + 13.0 * row,
            )
            for row, line in enumerate(shown)
        ),
    ]
