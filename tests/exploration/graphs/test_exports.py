"""State spaces and topologies as files."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest

from rebecsim.actors import Model
from rebecsim.errors import UserError
from rebecsim.exploration import (
    BreachKey,
    Checks,
    Limits,
    Mode,
    StateSpace,
    explore,
    pose,
    state_space,
)
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.report import draw_space, draw_topology, edge_label, write_state_space
from rebecsim.report.state_spaces import MOST_DOT_STATES

ENDINGS = (".dot", ".aut", ".jsonl", ".graphml", ".xml")
SVG = "{http://www.w3.org/2000/svg}"
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"

LATE = """
reactiveclass A(3) {
    knownrebecs { B b; }
    A() { self.go(); }
    msgsrv go() { b.work(true) deadline(1); b.work(false) deadline(1); }
}
reactiveclass B(4) {
    statevars { int[2] done; }
    msgsrv work(boolean first) { done[0] = ?(1, 2); delay(2); }
}
main { A a(b):(); B b():(); }
"""


def late() -> Model:
    return build_model(check_source(LATE, "late.rebeca", "timed"), "late.rebeca")


@pytest.fixture
def tickets(shipped: Callable[[str], Model]) -> Model:
    return shipped("ticket_service.rebeca")


def space(model: Model, mode: Mode | None = None, states: int | None = None) -> StateSpace:
    return state_space(pose(model, mode=mode), Limits(states=states))


def written(model_space: StateSpace, ending: str, folder: Path) -> str:
    file = folder / f"space{ending}"
    write_state_space(file, model_space)
    return file.read_text("utf-8")


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
def test_a_space_has_the_states_and_edges_of_exploring(tickets: Model, mode: Mode) -> None:
    found = space(tickets, mode)
    result = explore(tickets, mode=mode)
    assert (len(found.states), len(found.edges) + 1) == (result.states, result.transitions)
    assert found.complete
    assert found.wrong == {}


def test_breaches_are_nodes_and_carry_no_times_of_one_path() -> None:
    found = space(late())
    assert found.wrong == {len(found.states): (BreachKey("deadline missed", "b", "work"),)}
    assert found.nodes == len(found.states) + 1
    result = explore(late(), checks=Checks(deadlock=False), stop_at="all")
    assert len(found.states) == result.states
    assert sum(edge.target < len(found.states) for edge in found.edges) == result.transitions - 1


def test_states_that_violate_are_marked(tickets: Model) -> None:
    problem = pose(tickets, checks=Checks(invariants=("office.left > 0",)))
    found = state_space(problem)
    for number in range(1, len(found.states)):
        left = found.rebecs(number)[0].variables["left"]
        assert (number in found.wrong) == (left <= 0)


def test_a_limit_cuts_the_space(tickets: Model) -> None:
    found = space(tickets, states=100)
    assert not found.complete
    assert len(found.states) == 100


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_are_the_same_every_time(ending: str, tmp_path: Path) -> None:
    assert written(space(late()), ending, tmp_path) == written(space(late()), ending, tmp_path)


def test_aldebaran_has_transitions_and_what_is_wrong_with_states_as_loops(tmp_path: Path) -> None:
    found = state_space(pose(late(), checks=Checks(invariants=("b.done[0] == 0",))))
    assert min(found.wrong) < len(found.states) <= max(found.wrong)  # states, and steps
    header, *lines = written(found, ".aut", tmp_path).splitlines()
    assert header == f"des (0, {len(lines)}, {found.nodes})"
    shape = re.compile(r'\((\d+), "([^"]+)", (\d+)\)')
    rows = [match.groups() for match in map(shape.fullmatch, lines) if match]
    assert len(rows) == len(lines)
    ends = [(int(source), int(target)) for source, label, target in rows if label[0] != "!"]
    assert ends == [(edge.source, edge.target) for edge in found.edges]
    loops = [
        (str(number), f"!{breach}", str(number))
        for number, breaches in found.wrong.items()
        for breach in breaches
    ]
    assert sorted(row for row in rows if row[1][0] == "!") == sorted(loops)


def test_json_lines_hold_every_state_and_edge(tmp_path: Path) -> None:
    found = space(late())
    rows = [json.loads(line) for line in written(found, ".jsonl", tmp_path).splitlines()]
    kinds = [row["kind"] for row in rows]
    assert kinds.count("state") == found.nodes
    assert kinds.count("edge") == len(found.edges)
    assert rows[1]["rebecs"]["b"]["variables"] == {"done": [0, 0]}
    assert rows[2]["rebecs"]["b"]["bag"][0]["arguments"] in ([True], [False])


def test_graphml_and_xml_are_well_formed_and_complete(tmp_path: Path) -> None:
    found = space(late(), "TTS")
    graph = ElementTree.fromstring(written(found, ".graphml", tmp_path))
    assert len(list(graph.iter(f"{GRAPHML}node"))) == found.nodes
    assert len(list(graph.iter(f"{GRAPHML}edge"))) == len(found.edges)
    system = ElementTree.fromstring(written(found, ".xml", tmp_path))
    assert len(system.findall("state")) == found.nodes
    transitions = system.findall("transition")
    assert len(transitions) == len(found.edges)
    served = transitions[0].find("messageserver")
    assert served is not None
    assert served.attrib == {
        "sender": "a",
        "owner": "a",
        "title": "go",
        "arrival": "0",
        "deadline": "infinity",
    }
    assert any(each.find("time") is not None for each in transitions)


def test_a_message_server_in_a_delay_is_shown_with_its_message(tmp_path: Path) -> None:
    """Without it, a state in a delay looks like one in which the rebec has nothing to do."""
    found = space(late(), "TTS")
    shown = {ending: written(found, ending, tmp_path) for ending in ENDINGS}
    assert "b: done=[1, 0] in work(first=true) delay 2 | work(first=false)" in shown[".graphml"]
    assert "b: done=[1, 0] in work(first=true) delay 0 | work(first=false)" in shown[".graphml"]
    assert r"\nb: done=[1, 0] in work(first=true) delay 2" in shown[".dot"]
    assert '"b goes on with work(first=true)"' in shown[".aut"]
    rows = [json.loads(line) for line in shown[".jsonl"].splitlines()]
    waiting = [row["rebecs"]["b"] for row in rows if "rebecs" in row]
    assert {
        "sender": "a",
        "server": "work",
        "arguments": [True],
        "arrival": -2,
        "deadline": -1,
    } in [each["suspended"] for each in waiting]
    assert any(row["resumed"] for row in rows if row["kind"] == "edge")
    places = [
        {name: message.get(name) for name in ("arrival", "deadline", "suspended")}
        for message in ElementTree.fromstring(shown[".xml"]).iter("message")
        if message.text == "work(true)"
    ]
    assert {"arrival": "0", "deadline": "1", "suspended": "2"} in places
    assert {"arrival": "0", "deadline": "1", "suspended": None} in places
    draw_space(found, tmp_path / "space.svg")
    assert "in work(first=true) delay 2" in (tmp_path / "space.svg").read_text("utf-8")


@pytest.mark.parametrize("ending", ENDINGS)
def test_edges_tell_the_arrival_and_deadline_of_messages(ending: str, tmp_path: Path) -> None:
    text = written(space(late()), ending, tmp_path)
    marks = {
        ".jsonl": ('"arrival": -2, "deadline": -1', '"arrival": 0, "deadline": 1'),
        ".graphml": ('<data key="arrival">-2</data><data key="deadline">-1</data>',),
        ".xml": ('arrival="-2" deadline="-1"',),
    }
    for mark in marks.get(ending, ("arrived -2 deadline -1",)):
        assert mark in text


@pytest.mark.parametrize("ending", ENDINGS)
def test_all_that_is_wrong_with_a_state_is_written(ending: str, tmp_path: Path) -> None:
    checks = Checks(invariants=("b.done[0] == 0", "b.done[0] < 1"))
    found = state_space(pose(late(), checks=checks))
    both = [number for number, keys in found.wrong.items() if len(keys) == 2]
    assert both
    assert max(both) < len(found.states)
    text = written(found, ending, tmp_path)
    assert text.count("b.done[0] == 0") >= len(both)
    assert len(re.findall(r"b\.done\[0\] (<|&lt;) 1", text)) >= len(both)


def test_overflows_of_two_rebecs_are_two_breaches() -> None:
    text = """
    reactiveclass A(3) { knownrebecs { B b; B c; } A() { self.go(); self.come(); }
      msgsrv go() { b.work(); b.work(); } msgsrv come() { c.work(); c.work(); } }
    reactiveclass B(1) { msgsrv work() { } }
    main { A a(b, c):(); B b():(); B c():(); }
    """
    found = space(build_model(check_source(text, "two.rebeca", "timed"), "two.rebeca"))
    assert sorted(str(key) for keys in found.wrong.values() for key in keys) == [
        "queue overflow: b.work",
        "queue overflow: c.work",
    ]


def test_dot_is_bounded(tickets: Model, tmp_path: Path) -> None:
    text = written(space(tickets), ".dot", tmp_path)
    assert len(re.findall(r"^  \d+ \[label", text, re.M)) == MOST_DOT_STATES
    assert f"{8028 - MOST_DOT_STATES:,} more states are left out" in text
    assert max(map(len, re.findall(r'label="([^"]*)"', text))) < 700


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"x\.png: must end in one of \.dot, \.aut"):
        write_state_space(tmp_path / "x.png", space(late()))


def test_a_topology_shows_rebecs_and_whom_they_know(tickets: Model, tmp_path: Path) -> None:
    file = tmp_path / "topology.svg"
    draw_topology(tickets, file)
    root = ElementTree.parse(file).getroot()
    names = {each.text for each in root.iter(f"{SVG}text") if each.get("class") == "name"}
    assert names == {"office", "ann", "bob"}
    assert sum(each.get("class") == "edge" for each in root.iter(f"{SVG}path")) == 2
    draw_topology(tickets, tmp_path / "topology.dot")
    dot = (tmp_path / "topology.dot").read_text()
    assert '"ann" -> "office" [label="office"];' in dot
    with pytest.raises(UserError, match="must end in"):
        draw_topology(tickets, tmp_path / "topology.png")


def test_small_state_spaces_are_drawn_and_large_ones_refused(
    tickets: Model, tmp_path: Path
) -> None:
    file = tmp_path / "space.svg"
    found = space(late())
    draw_space(found, file)
    root = ElementTree.parse(file).getroot()
    boxes = [each for each in root.iter(f"{SVG}rect") if "box" in each.get("class", "")]
    assert len(boxes) == found.nodes
    with pytest.raises(UserError, match="up to 60 states"):
        draw_space(space(tickets, states=61), file)


def test_arrows_have_numbers_and_a_list_says_what_they_are(tmp_path: Path) -> None:
    file = tmp_path / "space.svg"
    found = space(late())
    draw_space(found, file)
    texts = [(each.get("class"), each) for each in ElementTree.parse(file).iter(f"{SVG}text")]
    listed = [each.text or "" for kind, each in texts if kind == "legend"]
    labels = list(dict.fromkeys(map(edge_label, found.edges)))
    assert listed == [f"{number}: {label}" for number, label in enumerate(labels, 1)]
    shown = ["".join(each.itertext()) for kind, each in texts if kind == "label"]
    assert len(shown) == len({(edge.source, edge.target) for edge in found.edges})
    assert all(
        any(each.endswith(str(number + 1)) for each in shown) for number in range(len(labels))
    )


def test_a_number_stands_on_no_box(tmp_path: Path) -> None:
    file = tmp_path / "space.svg"
    draw_space(space(build_model(check_source(ROUND, "round.rebeca"), "round.rebeca")), file)
    root = ElementTree.parse(file).getroot()
    boxes = [each for each in root.iter(f"{SVG}rect") if "box" in each.get("class", "")]
    labels = [each for each in root.iter(f"{SVG}text") if each.get("class") == "label"]
    assert len(labels) > 10
    for label in labels:
        x, y = float(label.get("x", 0)), float(label.get("y", 0))
        for box in boxes:
            left, top = float(box.get("x", 0)), float(box.get("y", 0))
            width, height = float(box.get("width", 0)), float(box.get("height", 0))
            assert not (left < x < left + width and top < y < top + height)


ROUND = """
reactiveclass A(4) {
  knownrebecs { A other; }
  statevars { byte x; }
  A(boolean first) { if (first) self.go(); }
  msgsrv go() {
    x = (byte)((x + ?(1, 2)) % 3);
    if (x == 0) other.go() after(1); else self.go() after(2);
  }
}
main { A left(right):(true); A right(left):(false); }
"""
