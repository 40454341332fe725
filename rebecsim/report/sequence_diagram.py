"""A run as a sequence diagram: lifelines, a time axis, messages, busy periods, the violation.

Every step of the run has a row, and every instant at which something begins or ends has its place
on the time axis. Distances between instants grow with the time between them, up to a limit, so
that a long pause does not tear the picture apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Literal

from rebecsim.actors.values import value_text
from rebecsim.exploration import Path, PathStep
from rebecsim.report.svg import document, element, shortened, text, title as hint_of

MOST_STEPS = 200
"""Steps that are drawn; of a longer run, the last ones."""

_ROW = 36.0
_HEAD = 34.0
_HEAD_EVERY = 24  # rows between two repetitions of the names
_HEAD_BELOW = 5  # rows from which on the names stand below them, too
_AXIS = 70.0
_LANE = 190.0
_NARROW_LANE = 130.0
_WIDE_LANE = 300.0
_MOST_WIDE = 4  # lanes that are widened for what is written in them
_NOTES = 330.0
_NARROWEST = 480.0  # so that what goes wrong is said in few lines
_BAR = 12.0
_FAR = 5  # rows that a message may cross as a slanted line
_LABEL_LINES = 2
_LINE = 13.0
_BESIDE = 33.0  # from a lifeline to the label of a message to itself
_NOTE = 50  # characters of a line of notes
_PIXELS_PER_CHARACTER = 6.3

_STYLE = (
    "text{font:12px system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1f2933}"
    ".name{font-weight:600;text-anchor:middle}.class{fill:#52606d}"
    ".time{text-anchor:end;font-variant-numeric:tabular-nums}.note{fill:#52606d;font-size:11px}"
    ".label{text-anchor:middle;paint-order:stroke;stroke:#fff;stroke-width:4px;"
    "stroke-linejoin:round}.left{text-anchor:start}.right{text-anchor:end}"
    ".life{stroke:#9aa5b1;stroke-dasharray:4 4}.axis{stroke:#52606d}.tick{stroke:#e4e7eb}"
    ".box{fill:#e6f0fa;stroke:#2f6fab}.busy{fill:#bcd7f0;stroke:#2f6fab}"
    ".message{stroke:#2f6fab;fill:none;stroke-width:1.4}.far{stroke-dasharray:5 3}"
    ".head{fill:#2f6fab}.dot{fill:#2f6fab}"
    ".wrong.message,.wrong.busy{stroke:#c81e1e}.wrong.busy{fill:#f9c6c6}"
    ".wrong.head,.wrong.dot{fill:#c81e1e}text.wrong{fill:#c81e1e;font-weight:600}"
    ".band{fill:#fdecec}"
    "@media(prefers-color-scheme:dark){.ground{fill:#14191f}text{fill:#e4e7eb}"
    ".label{stroke:#14191f}.class,.note{fill:#a5b1bd}.tick{stroke:#2b343d}"
    ".axis,.life{stroke:#7b8794}.box{fill:#1f3247;stroke:#84bdf2}"
    ".busy{fill:#2d4d6e;stroke:#84bdf2}.message{stroke:#84bdf2}.head,.dot{fill:#84bdf2}"
    ".wrong.message,.wrong.busy{stroke:#ff9d9d}.wrong.busy{fill:#6b2b2b}"
    ".wrong.head,.wrong.dot,text.wrong{fill:#ff9d9d}.band{fill:#431c1c}}"
)
_MARK_STYLE = (
    ".marked{fill:#fff3c4}.number{fill:#7a5200;font-size:17px;text-anchor:middle}"
    "@media(prefers-color-scheme:dark){.marked{fill:#4d3f0b}text.number{fill:#ffe08a}}"
)


@dataclass(frozen=True)
class _Layout:
    """The positions in pixels: `rows` of steps, `instants` of times."""

    lanes: dict[str, float]
    width: float
    notes: float
    right: float  # of the picture
    rows: tuple[float, ...]
    instants: dict[int, float]
    heads: tuple[float, ...]
    bottom: float  # of the lifelines
    end: float


@dataclass(frozen=True)
class _Message:
    """A message in two layers: its line, which passes behind boxes, and what is before them."""

    line: str
    front: tuple[str, ...]


def sequence_diagram(
    path: Path,
    *,
    last: int = MOST_STEPS,
    title: str = "",
    link: Callable[[int], str] | None = None,
    marked: Mapping[int, str] | None = None,
    rebecs: Sequence[str] = (),
) -> str:
    """Draw the last steps of a path as SVG, with a title of its own or the model's name.

    A message starts when it was sent, as far as the run tells: at the earlier one of its arrival
    and the end of the step that sent it. Messages sent long before are dashed and say when that
    was. A dashed loop is a message that a rebec sent to itself long before. Only rebecs that take
    part are shown. With `link`, the message of a step, numbered from 0, leads to an address;
    the steps `marked` stand out, each with a short mark of its own. Lifelines of `rebecs` are
    always there, and come first.
    """
    steps = path.steps[max(len(path) - min(last, MOST_STEPS), 0) :]
    left_out = len(path) - len(steps)
    layout = _layout(steps, rebecs)
    shortens = left_out and not title
    title = title or f"{path.model} ({path.mode})"
    if shortens:
        title += f", the last {len(steps):,} of {len(path):,} steps"
    wrong = len(steps) - 1 if path.goes_wrong_at_last else -1
    content = [text(title, x=14, y=22, font_weight="600")]
    content += _marks(layout, marked or {}, left_out)
    content += _violation_band(layout, wrong)
    content += _time_axis(layout, steps)
    messages = {
        number: _message(layout, steps, number, left_out, number == wrong)
        for number, step in enumerate(steps)
        if step.kind != "time"
    }
    hrefs = {} if link is None else {number: link(left_out + number) for number in messages}
    for number, message in messages.items():
        line = message.line
        content.append(_linked_line(line, hrefs[number]) if hrefs else line)
    content += _lifelines(layout)
    content += _busy_periods(layout, steps, wrong)
    for number, step in enumerate(steps):
        if number in messages:
            front = list(messages[number].front)
            place = left_out + number
            content += [_linked(front, hrefs[number], place, step)] if hrefs else front
        content += _notes(layout, step, number, number == wrong)
    content += _loop(layout, path, left_out)
    content += _breach(layout, path)
    role: Literal["img", "group"] = "img" if link is None else "group"
    style = _STYLE + _MARK_STYLE if marked else _STYLE
    return document(
        layout.right,
        layout.end + (74.0 if path.breach or path.loop is not None else 16.0),
        style,
        title,
        content,
        role=role,
    )


# --- layout --------------------------------------------------------------------------------------


def _lane_width(steps: tuple[PathStep, ...], places: Mapping[str, int]) -> float:
    """Give few lanes the width that their labels need in two lines, within bounds."""
    if len(places) > _MOST_WIDE:
        return _LANE if len(places) <= 6 else _NARROW_LANE
    needed = [
        (_needed(step.call) + 45.0) / max(abs(places[step.sender] - places[step.rebec]), 1)
        for step in steps
        if step.kind != "time"
    ]
    return min(max([_LANE, *needed]), _WIDE_LANE)


def _needed(words: str) -> float:
    """Give the width of a label, of a long one in two lines."""
    return _PIXELS_PER_CHARACTER * (len(words) if len(words) < 40 else len(words) / 2 + 6)


def _labels(words: str, width: float) -> list[str]:
    """Break a label to a width; the last line is cut where that is not enough."""
    fits = max(int(width / _PIXELS_PER_CHARACTER), 4)
    lines = wrap(words, fits) or [""]
    if len(lines) <= _LABEL_LINES:
        return lines
    kept = lines[: _LABEL_LINES - 1]
    rest = " ".join(lines[_LABEL_LINES - 1 :])
    return [*kept, shortened(rest, fits)]


def _layout(steps: tuple[PathStep, ...], rebecs: Sequence[str]) -> _Layout:
    names = dict.fromkeys([*rebecs, *rebecs_of(steps)])
    width = _lane_width(steps, {name: place for place, name in enumerate(names)})
    lanes = {name: _AXIS + 60.0 + width * (place + 0.5) for place, name in enumerate(names)}
    lanes = lanes or {"": _AXIS + 60.0 + width / 2}
    times = {step.time for step in steps} | {
        step.finished for step in steps if step.finished is not None
    }
    rows: list[float] = []
    instants: dict[int, float] = {}
    heads = [36.0]
    y, before, since_head = 36.0 + _HEAD + 14.0, None, 0
    by_time: dict[int, list[int]] = {time: [] for time in sorted(times)}
    for number, step in enumerate(steps):
        by_time[step.time].append(number)
    for time, served in by_time.items():
        if before is not None:
            y += min(10.0 + 4.0 * (time - before), 50.0)
        y += 16.0
        instants[time] = y
        for number in served:
            if since_head >= _HEAD_EVERY:
                heads.append(y + 6.0)
                y += _HEAD + 24.0
                since_head = 0
            since_head += 1
            rows.append(y + 6.0)
            y += 0.0 if steps[number].kind == "time" else _ROW
        before = time
    notes = max(lanes.values()) + max(width / 2, _own_labels(steps, lanes, width)) + 20.0
    bottom = end = y + 8.0
    if since_head >= _HEAD_BELOW:
        heads.append(bottom)
        end += _HEAD
    longest = max((len(_note(step)) for step in steps), default=0)
    beside = min(_PIXELS_PER_CHARACTER * (longest + 3.0), _NOTES) if longest else 0.0
    right = max(notes + beside, _NARROWEST)
    return _Layout(lanes, width, notes, right, tuple(rows), instants, tuple(heads), bottom, end)


def rebecs_of(steps: Iterable[PathStep]) -> list[str]:
    """Name the rebecs that take part in steps, in the order in which they come."""
    served = [step for step in steps if step.kind != "time"]
    return list(dict.fromkeys(name for step in served for name in (step.sender, step.rebec)))


def _own_labels(steps: tuple[PathStep, ...], lanes: Mapping[str, float], width: float) -> float:
    """Give how far labels reach beside the last lane: of what a rebec sends to itself."""
    last = max(lanes, key=lambda name: lanes[name])
    lines = [
        line
        for step in steps
        if step.kind != "time" and step.rebec == last and last in (step.sender, "")
        for line in _labels(step.call, width - _BESIDE - 12.0)
    ]
    return _BESIDE + _PIXELS_PER_CHARACTER * max(map(len, lines), default=0)


def _time_axis(layout: _Layout, steps: tuple[PathStep, ...]) -> list[str]:
    end = max(layout.lanes.values()) + 60.0
    top = min(layout.instants.values(), default=0.0)
    drawn = [
        element("line", class_="axis", x1=_AXIS, x2=_AXIS, y1=top, y2=layout.bottom),
        text("time", class_="note time", x=_AXIS - 8, y=top - 14),
    ]
    for time, y in layout.instants.items():
        drawn.append(element("line", class_="tick", x1=_AXIS, x2=end, y1=y, y2=y))
        drawn.append(element("line", class_="axis", x1=_AXIS - 4, x2=_AXIS + 4, y1=y, y2=y))
        drawn.append(text(f"{time:,}", class_="time", x=_AXIS - 9, y=y + 4))
    return drawn


def _lifelines(layout: _Layout) -> list[str]:
    drawn = [
        element("line", class_="life", x1=x, x2=x, y1=36.0 + _HEAD, y2=layout.bottom)
        for x in layout.lanes.values()
    ]
    width = layout.width - 30.0
    for name, x in layout.lanes.items():
        if not name:
            continue
        for y in layout.heads:
            box = element(
                "rect", class_="box", x=x - width / 2, y=y, width=width, height=_HEAD - 6.0, rx=5
            )
            drawn.append(box)
            fits = int(width / (_PIXELS_PER_CHARACTER + 1.0))
            drawn.append(text(shortened(name, fits), name, class_="name", x=x, y=y + 18.5))
    return drawn


# --- steps ---------------------------------------------------------------------------------------


def _busy_periods(layout: _Layout, steps: tuple[PathStep, ...], wrong: int) -> list[str]:
    drawn = []
    for number, step in enumerate(steps):
        if step.kind == "time":
            continue
        top = layout.rows[number] - 2.0
        end = top + _ROW / 2
        if step.finished is not None and step.finished > step.time:
            end = layout.instants[step.finished] + 2.0
        kind = "busy wrong" if number == wrong else "busy"
        x = layout.lanes[step.rebec] - _BAR / 2
        drawn.append(element("rect", class_=kind, x=x, y=top, width=_BAR, height=end - top, rx=2))
    return drawn


def _message(
    layout: _Layout, steps: tuple[PathStep, ...], number: int, left_out: int, wrong: bool
) -> _Message:
    step = steps[number]
    kind = " wrong" if wrong else ""
    y, receiver = layout.rows[number], layout.lanes[step.rebec]
    full = step.call
    if step.kind == "resume":
        x = receiver + _BAR / 2 + 6.0
        words = shortened(full, int((layout.width - 45.0) / _PIXELS_PER_CHARACTER))
        label = text(f"↻ {words}", full, class_=f"label left{kind}", x=x, y=y + 9)
        return _Message("", (label,))
    sent = _sending(layout, steps, step, left_out)
    far = sent is None or sum(sent < row < y for row in layout.rows) > _FAR
    line = f"message far{kind}" if far else f"message{kind}"
    if step.sender == step.rebec:
        return _to_itself(layout, line, kind, receiver, y, full)
    if far:
        full += _when(steps, step, left_out)
    sender = layout.lanes[step.sender]
    side = 1.0 if receiver > sender else -1.0
    start = (sender + side * _BAR / 2, y if far or sent is None else sent)
    tip = (receiver - side * _BAR / 2, y)
    # Below the end of the line, which comes from above: no other step writes there.
    side_of_text = "right" if side > 0 else "left"
    labels = [
        text(
            words,
            full,
            class_=f"label {side_of_text}{kind}",
            x=tip[0] - side * 6.0,
            y=y + 14.0 + place * _LINE,
        )
        for place, words in enumerate(_labels(full, abs(receiver - sender) - 40.0))
    ]
    return _Message(
        element("line", class_=line, x1=start[0], y1=start[1], x2=tip[0], y2=tip[1]),
        (
            element("circle", class_=f"dot{kind}", cx=start[0], cy=start[1], r=2.5),
            _arrow_head(kind, start, tip),
            *labels,
        ),
    )


def _linked(message: list[str], address: str, place: int, step: PathStep) -> str:
    said = hint_of(f"Step {place + 1}: {step.sender} to {step.rebec}, {step.call}")
    return element("a", said + "".join(message), href=address)


def _linked_line(line: str, href: str) -> str:
    """Have a line lead somewhere, for pointers only: the label in front is the link for keys."""
    return element("a", line, href=href, tabindex=-1, aria_hidden="true") if line else ""


def _to_itself(layout: _Layout, line: str, kind: str, x: float, y: float, full: str) -> _Message:
    edge = x + _BAR / 2
    hook = f"M{edge:g} {y - 10:g} h16 q6 0 6 5 t-6 5 h-10"
    labels = [
        text(words, full, class_=f"label left{kind}", x=x + _BESIDE, y=y - 1.0 + place * _LINE)
        for place, words in enumerate(_labels(full, layout.width - _BESIDE - 12.0))
    ]
    front = (element("path", class_=line, d=hook), _arrow_head(kind, (edge + 20.0, y), (edge, y)))
    return _Message("", (*front, *labels))


def _arrow_head(kind: str, start: tuple[float, float], tip: tuple[float, float]) -> str:
    """Give a filled triangle at the end of a line."""
    across, down = tip[0] - start[0], tip[1] - start[1]
    length = (across**2 + down**2) ** 0.5 or 1.0
    across, down = across / length, down / length
    back = tip[0] - 9.0 * across, tip[1] - 9.0 * down
    corners = (
        tip,
        (back[0] - 4.0 * down, back[1] + 4.0 * across),
        (back[0] + 4.0 * down, back[1] - 4.0 * across),
    )
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return element("polygon", class_=f"head{kind}", points=points)


def _sending(
    layout: _Layout, steps: tuple[PathStep, ...], step: PathStep, left_out: int
) -> float | None:
    """Give where a message was sent; None if that is not in the picture."""
    if step.sent_in is None or step.sent_in < left_out:
        return None
    number = step.sent_in - left_out
    time = _sent_at(steps[number], step)
    if time > steps[number].time:
        return layout.instants.get(time, layout.rows[number])
    return layout.rows[number] + 8.0


def _sent_at(sending: PathStep, step: PathStep) -> int:
    end = sending.time if sending.finished is None else sending.finished
    return max(sending.time, min(step.arrival, end))


def _when(steps: tuple[PathStep, ...], step: PathStep, left_out: int) -> str:
    """Say when a message was sent whose line is not drawn."""
    if step.sent_in is None:
        return ", from the start"
    if step.sent_in < left_out:
        return ", sent before"
    sent = _sent_at(steps[step.sent_in - left_out], step)
    return ", sent before" if sent == step.time else f", sent at {sent:,}"


def _notes(layout: _Layout, step: PathStep, number: int, wrong: bool) -> list[str]:
    """Write beside a step what it has chosen and changed, in at most two lines."""
    full = _note(step)
    lines = wrap(full, _NOTE)
    if len(lines) > 2:
        lines = [lines[0], shortened(f"{lines[1]} {lines[2]}", _NOTE)]
    kind = "note wrong" if wrong else "note"
    return [
        text(line, full, class_=kind, x=layout.notes, y=layout.rows[number] + 2.0 + 13.0 * place)
        for place, line in enumerate(lines)
    ]


def _note(step: PathStep) -> str:
    parts = []
    if step.choices:
        parts.append(f"chooses {step.drawn_text}")
    if step.deadline is not None:
        parts.append(f"deadline {step.deadline:,}")
    parts += [f"{name} = {value_text(value)}" for name, value in step.changed]
    return ";  ".join(parts)


def _marks(layout: _Layout, marked: Mapping[int, str], left_out: int) -> Iterator[str]:
    """Put steps on a ground of their own, with a mark at its edge."""
    for place, mark in marked.items():
        if place < left_out:
            continue
        y, width = layout.rows[place - left_out] - 15.0, layout.right - 16.0
        yield element("rect", class_="marked", x=8, y=y, width=width, height=_ROW - 2.0, rx=4)
        yield text(mark, class_="number", x=20, y=y + 23.0)


# --- the violation -------------------------------------------------------------------------------


def _violation_band(layout: _Layout, wrong: int) -> list[str]:
    if wrong < 0:
        return []
    y, width = layout.rows[wrong] - 15.0, layout.right - 16.0
    return [element("rect", class_="band", x=8, y=y, width=width, height=_ROW - 2.0, rx=4)]


def _loop(layout: _Layout, path: Path, left_out: int) -> list[str]:
    """Draw a bracket beside the steps that repeat for ever."""
    if path.loop is None:
        return []
    y = layout.end + 2.0
    drawn = [text(path.loop_text, class_="note", x=_AXIS - 44, y=y)]
    rows = layout.rows[max(path.loop - left_out, 0) :]
    if path.loop < len(path) and rows:
        top, end, x = rows[0] - 12.0, rows[-1] + 14.0, _AXIS - 50
        bracket = f"M{x + 8} {top:g} h-8 V{end:g} h8"
        drawn.append(element("path", class_="axis", fill="none", d=bracket))
        drawn.append(text("↻", class_="label", x=x - 9, y=(top + end) / 2 + 5))
    return drawn


def _breach(layout: _Layout, path: Path) -> list[str]:
    if path.breach is None:
        return []
    words = f"✗ {path.breach.verdict}: {path.breach.text}"
    fits = int((layout.right - 40.0) / (_PIXELS_PER_CHARACTER + 0.6))
    lines = wrap(words, fits)[:3]
    return [
        text(line, words, class_="wrong", x=14, y=layout.end + 20.0 + 17.0 * place)
        for place, line in enumerate(lines)
    ]
