"""Write drawings as SVG, and paint them as figures for PNG files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from rebecsim.report.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_VISIBLE = {code: "�" for code in (*range(32), 0xFFFE, 0xFFFF) if chr(code) not in "\t\n"}


def element(name: str, content: str = "", **attributes: object) -> str:
    """Give one element; `content` is SVG already. `_` in attribute names stands for `-`."""
    written = "".join([_attribute(key, value) for key, value in attributes.items()])
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def text(shown: str, full: str = "", **attributes: object) -> str:
    """Give a text; where it is cut, `full` is what a pointer over it shows."""
    hint = "" if full in ("", shown) else title(full)
    return element("text", hint + _escaped(shown), **attributes)


def title(words: str) -> str:
    """Give what a pointer over an element shows, and what it is called if it is a link."""
    return element("title", _escaped(words))


def shortened(words: str, length: int) -> str:
    """Cut a text to a number of characters."""
    return words if len(words) <= length else words[: length - 1] + "…"


def document(
    width: float,
    height: float,
    style: str,
    title: str,
    content: list[str],
    *,
    role: Literal["img", "group"] = "img",
) -> str:
    """Give a whole picture on a white ground; sizes in pixels. One with links is a "group"."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="{role}">'
    )
    ground = element("rect", class_="ground", width=width, height=height, fill="#ffffff")
    parts = [head, element("title", _escaped(title)), f"<style>{style}</style>", ground]
    return "\n".join([*parts, *content, "</svg>"]) + "\n"


def _escaped(words: str) -> str:
    return escape(words.translate(_VISIBLE))


def _attribute(key: str, value: object) -> str:
    if isinstance(value, float):
        return f' {_name(key)}="{value:g}"'
    return f" {_name(key)}={quoteattr(str(value).translate(_VISIBLE))}"


@cache
def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


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
