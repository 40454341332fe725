"""State spaces as files for other tools: dot, Aldebaran, JSON lines, GraphML, XML."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from rebecsim.actors.values import call_text, drawn_text, value_text
from rebecsim.errors import UserError
from rebecsim.files import replacing_text
from rebecsim.report.svg import shortened

if TYPE_CHECKING:
    from rebecsim.exploration import QueuedMessage, RebecState, StateSpace, Transition

MOST_DOT_STATES = 300
"""Most states of a dot file: a drawing of more is unreadable."""

_LINE = 48  # characters of a line of a label
_LINES = 12


def check_ending(file: Path) -> None:
    """Raise UserError for a file whose ending names no format."""
    if file.suffix not in _WRITERS:
        raise UserError(f"{file}: must end in one of {', '.join(_WRITERS)}")


def write_state_space(file: Path, space: StateSpace) -> None:
    """Write a state space in the format that the ending of the file names.

    Raises UserError for an unknown ending, OSError if the file cannot be written.
    """
    check_ending(file)
    with replacing_text(file) as stream:
        stream.writelines(f"{line}\n" for line in _WRITERS[file.suffix](space))


def edge_label(edge: Transition) -> str:
    """Give the words for a transition; times count from that of its source."""
    if not edge.rebec:
        return f"time +{edge.duration}"
    label = f"{edge.sender} -> {edge.rebec}: {edge.call}"
    if edge.resumed:
        label = f"{edge.rebec} goes on with {edge.call}"
    if edge.drawn:
        label += f" [{drawn_text(edge.drawn)}]"
    if edge.duration:
        label += f" +{edge.duration}"
    if edge.resumed:
        return label
    if edge.arrival:
        label += f" arrived {edge.arrival}"
    return label if edge.deadline is None else f"{label} deadline {edge.deadline}"


def state_lines(space: StateSpace, number: int) -> list[str]:
    """Give the words for a state: what is wrong with it, then each rebec."""
    lines = [str(number)]
    breaches = space.wrong.get(number, ())
    if breaches:
        first, *others = breaches
        lines = [f"{number} {first.verdict}", first.message, *map(str, others)]
    if number < len(space.states):
        for rebec in space.rebecs(number):
            variables = ", ".join(f"{name}={value_text(v)}" for name, v in rebec.variables.items())
            bag = ", ".join(map(_message, rebec.bag))
            lines.append(f"{rebec.rebec}: {variables}{_busy(rebec)}" + (f" | {bag}" if bag else ""))
    return lines


def _busy(rebec: RebecState) -> str:
    if rebec.suspended is not None:
        return f" in {rebec.suspended.call} delay {rebec.busy}"
    return f" busy {rebec.busy}" if 0 < rebec.busy < 1 << 60 else ""


def _message(message: QueuedMessage) -> str:
    words = message.call
    return f"{words} +{message.arrival}" if message.arrival > 0 else words


# --- Graphviz ------------------------------------------------------------------------------------


def _dot(space: StateSpace) -> Iterator[str]:
    shown = set(range(min(len(space.states), MOST_DOT_STATES)))
    edges = [edge for edge in space.edges if edge.source in shown]
    shown |= {edge.target for edge in edges if edge.target >= len(space.states)}
    yield f"digraph {dot_text(space.system.model.name)} {{"
    yield '  node [shape=box, style="rounded", fontname="Helvetica", fontsize=10];'
    yield '  edge [fontname="Helvetica", fontsize=9];'
    left_out = space.nodes - len(shown)
    if left_out:
        note = f"{left_out:,} more states are left out"
        yield f"  label={dot_text(note)};"
    for number in sorted(shown):
        lines = state_lines(space, number)[:_LINES]
        label = "\n".join(shortened(line, _LINE) for line in lines)
        marks = ', color="#c81e1e", fontcolor="#c81e1e"' if number in space.wrong else ""
        marks += ", penwidth=2" if number == 0 else ""
        yield f"  {number} [label={dot_text(label)}{marks}];"
    elsewhere = False
    for edge in edges:
        label = dot_text(shortened(edge_label(edge), _LINE))
        if edge.target in shown:
            yield f"  {edge.source} -> {edge.target} [label={label}];"
        else:
            elsewhere = True
            yield f"  {edge.source} -> elsewhere [label={label}, style=dashed];"
    if elsewhere:
        yield '  elsewhere [label="...", shape=plaintext];'
    yield "}"


def dot_text(words: str) -> str:
    """Give a text as dot writes it, its lines one below the other."""
    escaped = words.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n") + '"'


# --- Aldebaran -----------------------------------------------------------------------------------


def _aut(space: StateSpace) -> Iterator[str]:
    """Give the transitions, and what is wrong with a state as loops whose labels begin with `!`.

    The format knows nothing of states but their numbers.
    """
    loops = sum(map(len, space.wrong.values()))
    yield f"des (0, {len(space.edges) + loops}, {space.nodes})"
    for edge in space.edges:
        yield _aut_line(edge.source, edge_label(edge), edge.target)
    for number, breaches in sorted(space.wrong.items()):
        for breach in breaches:
            yield _aut_line(number, f"!{breach}", number)


def _aut_line(source: int, label: str, target: int) -> str:
    # The format has no way to write a quote inside of a label.
    words = " ".join(label.replace('"', "'").split())
    return f'({source}, "{words}", {target})'


# --- JSON lines ----------------------------------------------------------------------------------


def _jsonl(space: StateSpace) -> Iterator[str]:
    system = space.system
    yield _json(
        {
            "kind": "state space",
            "model": system.model.name,
            "mode": system.mode,
            "states": len(space.states),
            "edges": len(space.edges),
            "complete": space.complete,
        }
    )
    for number in range(space.nodes):
        breaches = space.wrong.get(number, ())
        row: dict[str, object] = {"kind": "state", "number": number}
        if breaches:
            row |= {
                "verdict": breaches[0].verdict,
                "message": breaches[0].message,
                "breaches": [breach._asdict() for breach in breaches],
            }
        if number < len(space.states):
            row["rebecs"] = {
                rebec.rebec: {
                    "variables": rebec.variables,
                    "busy": rebec.busy,
                    "suspended": None if rebec.suspended is None else _plain(rebec.suspended),
                    "bag": list(map(_plain, rebec.bag)),
                }
                for rebec in space.rebecs(number)
            }
        yield _json(row)
    for edge in space.edges:
        yield _json({"kind": "edge", **_named_fields(edge)})


def _plain(message: QueuedMessage) -> dict[str, object]:
    return _named_fields(message) | {"deadline": _deadline(message)}


def _named_fields(row: Transition | QueuedMessage) -> dict[str, object]:
    """Give the fields by name, without the names of arguments, which are those of the model."""
    return {name: value for name, value in row._asdict().items() if name != "parameters"}


def _deadline(message: QueuedMessage) -> int | None:
    return None if math.isinf(message.deadline) else int(message.deadline)


def _json(row: dict[str, object]) -> str:
    return json.dumps(row, ensure_ascii=False, default=str)


# --- GraphML -------------------------------------------------------------------------------------

_KEYS = (
    ("state", "node", "string"),
    ("verdict", "node", "string"),
    ("label", "edge", "string"),
    ("duration", "edge", "int"),
    ("arrival", "edge", "int"),
    ("deadline", "edge", "int"),
)


def _graphml(space: StateSpace) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for name, of, kind in _KEYS:
        yield f'  <key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>'
    yield f'  <graph id={_quoted(space.system.model.name)} edgedefault="directed">'
    for number in range(space.nodes):
        breaches = space.wrong.get(number, ())
        verdict = _data("verdict", "; ".join(map(str, breaches))) if breaches else ""
        state = _data("state", "; ".join(state_lines(space, number)[1:]))
        yield f'    <node id="s{number}">{state}{verdict}</node>'
    for place, edge in enumerate(space.edges):
        data = _data("label", edge_label(edge)) + _data("duration", str(edge.duration))
        if edge.rebec:
            data += _data("arrival", str(edge.arrival))
        if edge.deadline is not None:
            data += _data("deadline", str(edge.deadline))
        ends = f'source="s{edge.source}" target="s{edge.target}"'
        yield f'    <edge id="e{place}" {ends}>{data}</edge>'
    yield "  </graph>"
    yield "</graphml>"


def _data(key: str, words: str) -> str:
    return f'<data key="{key}">{escape(_for_xml(words))}</data>'


# --- XML as RMC writes it ------------------------------------------------------------------------


def _xml(space: StateSpace) -> Iterator[str]:
    """Give states with their rebecs, and transitions with the message server that made them.

    The names of elements are those of RMC's export of a state space.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield "<transitionsystem>"
    for number in range(space.nodes):
        yield from _xml_state(space, number)
    for edge in space.edges:
        ends = f'source="{edge.source}" destination="{edge.target}"'
        if edge.rebec:
            deadline = "infinity" if edge.deadline is None else edge.deadline
            what = (
                f"<messageserver sender={_quoted(edge.sender)} owner={_quoted(edge.rebec)} "
                f'title={_quoted(edge.server)} arrival="{edge.arrival}" deadline="{deadline}"/>'
            )
            ends += f' executionTime="0" shift="{edge.duration}"'
        else:
            what = f'<time value="{edge.duration}"/>'
        yield f"<transition {ends}>{what}</transition>"
    yield "</transitionsystem>"


def _xml_state(space: StateSpace, number: int) -> Iterator[str]:
    breaches = space.wrong.get(number, ())
    wrong = f" verdict={_quoted(breaches[0].verdict)}" if breaches else ""
    yield f'<state id="{number}" atomicpropositions=""{wrong}>'
    for breach in breaches:
        message = _quoted(breach.message)
        yield f"<breach verdict={_quoted(breach.verdict)} message={message}/>"
    if number < len(space.states):
        for rebec in space.rebecs(number):
            yield f"<rebec name={_quoted(rebec.rebec)}>"
            yield "<statevariables>"
            for name, value in rebec.variables.items():
                title = _quoted(f"{rebec.reactive_class}.{name}")
                written = escape(_for_xml(value_text(value)))
                yield f"<variable name={title}>{written}</variable>"
            yield "</statevariables>"
            yield "<queue>"
            if rebec.suspended is not None:
                yield _xml_message(rebec.suspended, f' suspended="{rebec.busy}"')
            yield from map(_xml_message, rebec.bag)
            yield "</queue>"
            yield f"<now>{rebec.busy}</now>"
            yield "</rebec>"
    yield "</state>"


def _xml_message(message: QueuedMessage, more: str = "") -> str:
    deadline = _deadline(message)
    return (
        f'<message sender={_quoted(message.sender)} arrival="{message.arrival}" '
        f'deadline="{"infinity" if deadline is None else deadline}"{more}>'
        f"{escape(_for_xml(call_text(message.server, (), message.arguments)))}</message>"
    )


def _quoted(words: str) -> str:
    return quoteattr(_for_xml(words))


def _for_xml(words: str) -> str:
    """Replace the characters that XML has no form for."""
    return "".join("\ufffd" if ord(each) < 32 and each not in "\t\n\r" else each for each in words)


_WRITERS: dict[str, Callable[[StateSpace], Iterator[str]]] = {
    ".dot": _dot,
    ".aut": _aut,
    ".jsonl": _jsonl,
    ".graphml": _graphml,
    ".xml": _xml,
}
