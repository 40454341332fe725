"""What sequence diagrams show where there is little room."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from rebecsim.exploration import Checks, explore
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.report.sequence_diagram import sequence_diagram

MODEL = """\
reactiveclass Boss(3) {
    knownrebecs { Idle idle; Worker worker; }
    Boss() { self.begin(); }
    msgsrv begin() { worker.work(1000000, 2000000, true, 3000000); }
}
reactiveclass Idle(3) { Idle() { self.rest(); } msgsrv rest() { } }
reactiveclass Worker(3) {
    statevars { int done; }
    msgsrv work(int first, int second, boolean urgent, int third) {
        self.workMoreThanBefore(first, second, third);
    }
    msgsrv workMoreThanBefore(int first, int second, int third) {
        done = first;
        assertion(false, "done");
    }
}
main { Boss boss(idle, worker):(); Idle idle():(); Worker worker():(); }
"""
WORK = "work(first=1000000, second=2000000, urgent=true, third=3000000)"


@pytest.fixture(scope="module")
def drawn() -> list[Any]:
    """The elements of a picture, in the order in which they are painted."""
    path = explore(build_model(check_source(MODEL), "office")).path
    assert path is not None
    return list(ElementTree.fromstring(sequence_diagram(path)).iter())


def of_class(drawn: list[Any], *names: str) -> list[int]:
    return [
        place
        for place, each in enumerate(drawn)
        if set(names) <= set(each.get("class", "").split())
    ]


def test_lines_pass_behind_boxes_and_labels_stand_before_lines(drawn: list[Any]) -> None:
    lines = [each for each in of_class(drawn, "message") if drawn[each].tag.endswith("line")]
    bars, labels = of_class(drawn, "busy"), of_class(drawn, "label")
    assert lines
    assert max(lines) < min(bars)
    assert max(lines) < min(labels)
    assert max(bars) < min(labels)


def test_long_calls_are_wrapped_and_whole_under_a_pointer(drawn: list[Any]) -> None:
    lines = [
        drawn[each] for each in of_class(drawn, "label") if WORK in "".join(drawn[each].itertext())
    ]
    shown = [line[0].tail for line in lines]
    assert len(shown) == 2
    assert WORK.startswith(shown[0])
    assert all(line[0].text == WORK for line in lines)
    assert float(lines[1].get("y")) - float(lines[0].get("y")) >= 12


def test_labels_of_messages_to_oneself_end_before_the_notes(drawn: list[Any]) -> None:
    notes = min(float(drawn[each].get("x")) for each in of_class(drawn, "note", "wrong"))
    own = [drawn[each] for each in of_class(drawn, "label", "left", "wrong")]
    assert own
    for label in own:
        words = label[0].tail if len(label) else label.text
        assert float(label.get("x")) + 6.0 * len(words) < notes


@pytest.mark.parametrize(("steps", "times"), [(4, 1), (9, 2)])
def test_names_stand_below_many_steps_too(steps: int, times: int) -> None:
    text = f"""\
reactiveclass Clock(2) {{
    statevars {{ int count; }}
    Clock() {{ self.tick(); }}
    msgsrv tick() {{ count++; if (count < {steps}) {{ self.tick() after(1); }} }}
}}
main {{ Clock clock():(); }}
"""
    path = explore(build_model(check_source(text, "clock")), checks=Checks(deadlock=True)).path
    assert path is not None
    drawn = list(ElementTree.fromstring(sequence_diagram(replace(path, breach=None))).iter())
    names = [drawn[each] for each in of_class(drawn, "name")]
    assert [each.findtext("*") or each.text for each in names] == ["clock"] * times
    busy = [float(drawn[each].get("y", 0)) for each in of_class(drawn, "busy")]
    assert (float(names[-1].get("y", 0)) > max(busy)) is (times == 2)
    lowest = max(float(each.get("y2") or each.get("y") or 0) for each in drawn)
    assert lowest < float(drawn[0].get("height", 0)) < lowest + 40  # no empty space below


def test_pictures_are_dark_where_the_reader_is(drawn: list[Any]) -> None:
    (style,) = [each.text for each in drawn if each.tag.endswith("style")]
    assert "@media(prefers-color-scheme:dark){.ground{fill:#14191f}" in style
    (ground,) = of_class(drawn, "ground")
    assert drawn[ground].get("fill") == "#ffffff"
