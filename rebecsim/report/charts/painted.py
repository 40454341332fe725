"""Drawings in SVG as figures, so that they can be written as PNG.

Only what this project's drawings of graphs consist of is known: `rect`, `circle`, `text`, and
`path` with one cubic curve. A style sheet says no more than colours and sizes by class.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from rebecsim.report.charts.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PIXELS = 96.0
"""An inch; a point is a seventy-second of it."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_RULE = re.compile(r"([a-z]*)(?:\.([a-z]+))?\{([^{}]*)\}")

Style = Mapping[str, str]


def painted(svg: str) -> Figure:
    """Paint a drawing as a figure of its size. Raises ValueError for elements of another kind."""
    root = ElementTree.fromstring(svg)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    figure = new_figure(width / _PIXELS, height / _PIXELS)
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    rules: dict[str, dict[str, str]] = {}
    for place, each in enumerate(root):
        name = each.tag.rpartition("}")[2]
        if name == "style":
            rules = _rules(each.text or "")
        elif name != "title":
            style = {**rules.get(name, {}), **rules.get(each.get("class", ""), {}), **each.attrib}
            _paint(axes, name, each, style, place)
    return figure


def _rules(sheet: str) -> dict[str, dict[str, str]]:
    """Give what a style sheet says of elements and of classes, without what is for dark screens."""
    found: dict[str, dict[str, str]] = {}
    for name, class_, body in _RULE.findall(sheet.partition("@media")[0]):
        pairs = (each.partition(":")[::2] for each in body.split(";") if each)
        found.setdefault(class_ or name, {}).update(dict(pairs))
    return found


def _paint(axes: Axes, name: str, each: ElementTree.Element, style: Style, place: int) -> None:
    from matplotlib.patches import Circle, FancyBboxPatch, PathPatch
    from matplotlib.path import Path

    def number(key: str, default: float = 0.0) -> float:
        return float(style.get(key, default))

    if name == "text":
        _write(axes, each, style, place)
        return
    edge = style.get("stroke", "none")
    drawn: dict[str, Any] = {
        "facecolor": style.get("fill", "black"),
        "edgecolor": edge,
        "linewidth": 0.75 * number("stroke-width", 1.0) if edge != "none" else 0.0,
        "zorder": place,
    }
    if name == "rect":
        radius = number("rx")
        box = FancyBboxPatch(
            (number("x") + radius, number("y") + radius),
            number("width") - 2 * radius,
            number("height") - 2 * radius,
            boxstyle=f"round,pad={radius},rounding_size={radius}" if radius else "square,pad=0",
            **drawn,
        )
        if "fill-opacity" in style:
            from matplotlib.colors import to_rgba

            box.set_facecolor(to_rgba(style["fill"], number("fill-opacity")))
        axes.add_patch(box)
    elif name == "circle":
        axes.add_patch(Circle((number("cx"), number("cy")), number("r"), **drawn))
    elif name == "path":
        values = [float(found) for found in _NUMBER.findall(style["d"])]
        points = list(zip(values[::2], values[1::2], strict=True))
        codes = [Path.MOVETO, *[Path.CURVE4] * (len(points) - 1)]
        axes.add_patch(PathPatch(Path(points, codes), **drawn))
    else:
        raise ValueError(f"a drawing with an element {name} cannot be painted")


def _write(axes: Axes, each: ElementTree.Element, style: Style, place: int) -> None:
    hint = each.find("{*}title")
    words = (each.text or "") if hint is None else (hint.tail or "")
    size = _NUMBER.search(style.get("font-size", style.get("font", "12px")))
    axes.text(
        float(style["x"]),
        float(style["y"]),
        words,
        fontsize=0.75 * float(size.group(0)) if size else 9.0,
        color=style.get("fill", "black"),
        fontweight="bold" if int(style.get("font-weight", 400)) >= 600 else "normal",
        ha="center" if style.get("text-anchor") == "middle" else "left",
        va="baseline",
        parse_math=False,
        zorder=place,
    )
