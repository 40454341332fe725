"""Charts that are dark where the reader is: rules in the picture itself, and nothing else changed.

What is nearly white, nearly black or grey takes the place of its opposite between the colours of
the page; other colours stay, as they are told apart by them.
"""

from __future__ import annotations

import colorsys
import re

GROUND, INK = "#14191f", "#e4e7eb"
"""What white and black become: the colours of a dark page."""

ON_COLOUR = "on-colour"
"""How the ids of texts begin that stand on a colour: they stay as they are."""

_KEPT = f':not([id^="QuadMesh"] *):not([id^="{ON_COLOUR}"] *)'
_STYLED = re.compile(rb"(fill|stroke): #([0-9a-f]{6})")
_STYLE = b'<style type="text/css">'
_PALE = 0.8
_DEEP = 0.13
"""Luminance below which a colour has less than a contrast of 3 with a dark page."""
_LIGHTENED = 0.7
_GREY = 0.12


def with_dark_colours(picture: bytes) -> bytes:
    """Give a picture of matplotlib (SVG) rules for where colours are dark."""
    used = sorted({(kind.decode(), f"#{code.decode()}") for kind, code in _STYLED.findall(picture)})
    rules = "".join(
        f'[style*="{kind}: {colour}"]{_KEPT}{{{kind}:{dark}!important}}'
        for kind, colour in used
        if (dark := dark_colour(colour)) != colour
    )
    # Black text has no style of its own.
    text = f'svg{{fill:{INK}}}[id^="{ON_COLOUR}"]{{fill:#000000}}'
    added = f"@media screen and (prefers-color-scheme:dark){{{text}{rules}}}"
    return picture.replace(_STYLE, _STYLE + added.encode(), 1)


def dark_colour(colour: str) -> str:
    """Give what a colour, `#rrggbb`, becomes on a dark page."""
    parts = _parts(colour)
    hue, lightness, saturation = colorsys.rgb_to_hls(*parts)
    if saturation * (1 - abs(2 * lightness - 1)) <= _GREY:
        pairs = zip(_parts(INK), _parts(GROUND), strict=True)
        return _code(*(ink + (ground - ink) * lightness for ink, ground in pairs))
    if lightness > _PALE:
        return _code(*colorsys.hls_to_rgb(hue, 1 - lightness, saturation))
    if _luminance(*parts) < _DEEP:
        return _code(*colorsys.hls_to_rgb(hue, max(1 - lightness, _LIGHTENED), saturation))
    return colour


def _luminance(*parts: float) -> float:
    """Give how bright a colour is, from 0 to 1, as WCAG 2.2 has it."""
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _parts(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def _code(*parts: float) -> str:
    return "#" + "".join(f"{round(part * 255):02x}" for part in parts)
