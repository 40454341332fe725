"""Writing SVG: elements with escaped text and attributes."""

from __future__ import annotations

from functools import cache
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

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
