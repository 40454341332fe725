"""Charts in the dark: what is pale or deep changes places, what tells policies apart stays."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from rebecsim.report import (
    COLOURS,
    GROUND,
    INK,
    dark_colour,
    line_styles,
    new_figure,
    render_figure,
    with_dark_colours,
)
from rebecsim.report.figures import _luminance, _parts
from rebecsim.report.line_charts import DARK_COLOURS

CODES = st.integers(0, 0xFFFFFF).map("#{:06x}".format)
GREYS = [f"#{level:02x}{level:02x}{level:02x}" for level in range(256)]


def brightness(colour: str) -> float:
    return _luminance(*_parts(colour))


def contrast(one: str, other: str) -> float:
    high, low = sorted((brightness(one), brightness(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_white_and_black_become_those_of_the_page() -> None:
    assert (dark_colour("#ffffff"), dark_colour("#000000")) == (GROUND, INK)


def test_brightness_is_that_of_wcag() -> None:
    """The three primaries by definition, and a grey that its examples have at 4.5 on white."""
    assert [brightness(each) for each in ("#ff0000", "#00ff00", "#0000ff")] == [
        pytest.approx(0.2126),
        pytest.approx(0.7152),
        pytest.approx(0.0722),
    ]
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_greys_keep_their_order_the_other_way_round() -> None:
    assert all(
        brightness(dark_colour(deep)) >= brightness(dark_colour(pale))
        for deep, pale in pairwise(GREYS)
    )


@given(CODES)
def test_what_can_be_seen_on_white_can_be_seen_in_the_dark(colour: str) -> None:
    found = dark_colour(colour)
    assert re.fullmatch("#[0-9a-f]{6}", found)
    if contrast(colour, "#ffffff") >= 6:
        assert contrast(found, GROUND) >= 3


@pytest.mark.parametrize("colour", [each for each in COLOURS if each != "#000000"])
def test_lines_keep_their_colours_and_can_be_seen(colour: str) -> None:
    assert dark_colour(colour.lower()) == colour.lower()
    assert contrast(colour, GROUND) >= 3


def test_the_interactive_chart_knows_its_black_line_and_band() -> None:
    black = next(
        each for each in line_styles(("a", "b", "c", "d")).values() if "000" in each.colour
    )
    assert DARK_COLOURS[black.colour] == INK
    red, green, blue = (int(INK[i : i + 2], 16) for i in (1, 3, 5))
    assert DARK_COLOURS[black.band_colour(0.22)] == f"rgba({red},{green},{blue},0.22)"


def test_a_picture_says_what_it_is_in_the_dark_and_is_else_the_same() -> None:
    def draw():
        figure = new_figure(2, 2)
        figure.add_subplot().plot([0, 1], color="#d0d0d0")
        return figure

    picture = render_figure(draw, (".svg",))[".svg"].decode()
    (added,) = re.findall(r"@media screen and \(prefers-color-scheme:dark\)\{.*\}\}", picture)
    plain = picture.replace(added, "")
    assert with_dark_colours(plain.encode()).decode() == picture
    for colour in ("#ffffff", "#d0d0d0", "#000000"):
        kind = "fill" if colour == "#ffffff" else "stroke"
        assert f'[style*="{kind}: {colour}"]' in added
        assert f"{kind}:{dark_colour(colour)}!important" in added
