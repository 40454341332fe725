"""Tables and drawings of one workflow: its shape, and its run under each manager."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

from rich.table import Column, Table

from rebecsim.clusters.kit.report import RED
from rebecsim.clusters.stages.cluster import FinishedStages
from rebecsim.clusters.stages.job import SECOND, WorkflowShape
from rebecsim.clusters.stages.measures import MeasuredStages
from rebecsim.errors import UserError
from rebecsim.files import write_text
from rebecsim.report.figures import (
    COLOURS,
    INK,
    dark_colour,
    line_colours,
    require_picture_name,
    write_figure,
)
from rebecsim.report.svg import document, element, painted, shortened, text
from rebecsim.wording import counted

MOST_DRAWN_TASKS = 2000
"""In a larger drawing, tasks cannot be told apart."""

_MOST_BOXES = 9
"""Tasks of a level that are drawn as boxes with their names; more are discs."""

_STYLE = (
    "text{font:12px system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1f2933}"
    ".title{font-weight:600}.note{fill:#52606d;font-size:11px}"
    ".name{text-anchor:middle;font-size:11px;font-weight:600}"
    ".time{text-anchor:middle;font-size:10.5px;fill:#52606d}"
    ".edge{stroke:#9aa5b1;fill:none;stroke-width:1}"
    f".critical{{stroke:{RED};fill:none;stroke-width:2.2}}"
)
_DARK = "".join(
    f'[{kind}="{colour}"]{{{kind}:{dark_colour(colour)}}}'
    for colour in (*COLOURS, "#ffffff", RED)
    if dark_colour(colour) != colour.lower()
    for kind in ("fill", "stroke")
)
_STYLE += (
    "@media screen and (prefers-color-scheme:dark){"
    f"text{{fill:{INK}}}.note,.time{{fill:#9aa5b1}}.edge{{stroke:#6b7784}}"
    f".critical{{stroke:{dark_colour(RED)}}}{_DARK}}}"
)
_BOX = 104.0, 36.0
_BOX_LETTERS = 12
_LEFT, _TOP, _LEGEND = 24.0, 84.0, 18.0
_LEAST_WIDTH, _MOST_WIDTH = 560.0, 1500.0
_SMALLEST, _LARGEST = 1.5, 9.0

Point = tuple[float, float]


def require_drawing(shape: WorkflowShape, name: str, file: Path) -> None:
    """Raise UserError unless a workflow can be drawn under this name of a file."""
    require_picture_name(file)
    if len(shape.tasks) > MOST_DRAWN_TASKS:
        raise UserError(
            f"{name}: has {len(shape.tasks):,} tasks; at most {MOST_DRAWN_TASKS:,} can be drawn"
        )


def draw_workflow(shape: WorkflowShape, name: str, file: Path) -> None:
    """Draw a workflow as .svg or .png. Raises UserError as `require_drawing`, OSError."""
    require_drawing(shape, name, file)
    drawing = workflow_svg(shape, name)
    if file.suffix == ".svg":
        write_text(file, drawing)
    else:
        write_figure(file, lambda: painted(drawing))


def workflow_svg(shape: WorkflowShape, name: str) -> str:
    """Draw a workflow from top to bottom, with a row for each level and a colour for each name.

    The critical path is red. Tasks of narrow workflows are labelled boxes, others discs.
    """
    boxed = shape.width <= _MOST_BOXES
    step = _step(shape.width, boxed)
    width = max(shape.width * step + 2 * _LEFT, _LEAST_WIDTH)
    height = _BOX[1] + 44.0 if boxed else max(6.0 * step, 64.0)
    rows = _arranged(shape)
    places = {
        number: (width / 2 + (place - (len(row) - 1) / 2) * step, _TOP + level * height)
        for level, row in enumerate(rows)
        for place, number in enumerate(row)
    }
    radius = min(max(0.42 * step, _SMALLEST), _LARGEST)
    half = _BOX[1] / 2 if boxed else radius
    content = [*_heading(shape, name), *_edges(shape, places, half)]
    colours = _colours(shape)
    for number, place in places.items():
        content += _task(shape, number, place, colours, None if boxed else radius)
    bottom = _TOP + (len(rows) - 1) * height + half + 34.0
    content += _legend(shape, colours, bottom)
    return document(width, bottom + _LEGEND * len(shape.groups), _STYLE, name, content)


def _step(widest: int, boxed: bool) -> float:
    if boxed:
        return _BOX[0] + 16.0
    return max(min(24.0, (_MOST_WIDTH - 2 * _LEFT) / widest), 2.6 * _SMALLEST)


def _arranged(shape: WorkflowShape) -> list[list[int]]:
    """Order the tasks of each level by the mean position of their parents."""
    rows: list[list[int]] = []
    at: dict[int, float] = {}
    for level in shape.levels:
        row = sorted(level, key=lambda number: (_middle(shape, number, at), number))
        at |= {number: (place + 0.5) / len(row) for place, number in enumerate(row)}
        rows.append(row)
    return rows


def _middle(shape: WorkflowShape, number: int, at: Mapping[int, float]) -> float:
    parents = shape.tasks[number].parents
    return sum(at[parent] for parent in parents) / len(parents) if parents else 0.5


def _heading(shape: WorkflowShape, name: str) -> list[str]:
    words = (
        f"{len(shape.tasks):,} tasks, {shape.depth} levels; work {shape.work / SECOND:,.1f} s, "
        f"critical path (red) {shape.shortest / SECOND:,.1f} s"
    )
    return [
        text(shortened(name, 70), name, class_="title", x=14, y=24),
        text(words, class_="note", x=14, y=42),
    ]


def _edges(shape: WorkflowShape, places: Mapping[int, Point], half: float) -> list[str]:
    """Give a line from each task to each that waits for it; those of the critical path last."""
    path = shape.critical_path
    critical = set(pairwise(path))
    plain: list[str] = []
    red: list[str] = []
    for task in shape.tasks:
        for parent in task.parents:
            begin, end = places[parent], places[task.number]
            first, last = begin[1] + half, end[1] - half
            middle = (first + last) / 2
            curve = (
                f"M{begin[0]:.1f} {first:.1f} C{begin[0]:.1f} {middle:.1f} "
                f"{end[0]:.1f} {middle:.1f} {end[0]:.1f} {last:.1f}"
            )
            is_red = (parent, task.number) in critical
            drawn = element("path", class_="critical" if is_red else "edge", d=curve)
            (red if is_red else plain).append(drawn)
    return [*plain, *red]


def _task(
    shape: WorkflowShape,
    number: int,
    place: Point,
    colours: Mapping[str, str],
    radius: float | None,
) -> list[str]:
    """Give a box, or a disc of a radius, with a hint of what the task is and how long it takes."""
    task, (x, y) = shape.tasks[number], place
    seconds = f"{task.duration / SECOND:,.1f} s"
    hint = f"{task.name}: {seconds}"
    colour = colours[task.name]
    stroke = RED if number in shape.critical_path else "#ffffff"
    if radius is not None:
        inside = element("title", escape(hint))
        disc = element(
            "circle", inside, cx=x, cy=y, r=radius, fill=colour, stroke=stroke, stroke_width=0.8
        )
        return [disc]
    edge = colour if stroke == "#ffffff" else stroke
    return [
        _box(place, fill="#ffffff"),  # lines end behind it
        _box(place, fill=colour, fill_opacity=0.16, stroke=edge),
        text(_short(task.name), hint, class_="name", x=x, y=y - 2),
        text(seconds, class_="time", x=x, y=y + 12),
    ]


def _short(name: str) -> str:
    """Shorten a name to fit a box; of dotted names, keep the last part."""
    return shortened(name.rsplit(".", 1)[-1] or name, _BOX_LETTERS)


def _box(middle: Point, **attributes: object) -> str:
    (x, y), (width, height) = middle, _BOX
    left, top = x - width / 2, y - height / 2
    return element("rect", "", x=left, y=top, width=width, height=height, rx=6, **attributes)


def _colours(shape: WorkflowShape) -> dict[str, str]:
    return dict(zip(shape.groups, line_colours(len(shape.groups)), strict=True))


def _legend(shape: WorkflowShape, colours: Mapping[str, str], top: float) -> list[str]:
    """Draw the legend: each name with the number of its tasks and their mean time."""
    found = []
    for place, (name, group) in enumerate(shape.groups.items()):
        y = top + place * _LEGEND
        words = f"{name}: {group.count:,}, {group.mean / SECOND:,.1f} s each on average"
        found += [
            element("rect", x=14.0, y=y - 9.0, width=10.0, height=10.0, fill=colours[name]),
            text(shortened(words, 80), words, class_="note", x=30.0, y=y),
        ]
    return found


def shape_table(shape: WorkflowShape) -> Table:
    """Make the table of a workflow's size, depth, width and run time."""
    table = Table(Column(no_wrap=True), Column(justify="right"), show_header=False)
    dummies = f", {shape.dummies:,} of which take no time" if shape.dummies else ""
    longest = max(task.duration for task in shape.tasks)
    rows = (
        ("Tasks", f"{len(shape.tasks):,}{dummies}"),
        ("Edges", f"{shape.edges:,}"),
        ("Depth", counted(shape.depth, "level")),
        ("Width", f"{shape.width:,} tasks"),
        ("Work", f"{_seconds(shape.work)} s"),
        ("Longest task", f"{_seconds(longest)} s"),
        ("Critical path", f"{_seconds(shape.shortest)} s"),
        ("Tasks at a time, on average", f"{shape.parallelism:.1f}"),
    )
    for row in rows:
        table.add_row(*row)
    return table


def groups_table(shape: WorkflowShape) -> Table:
    """Give a row for each name of tasks."""
    figures = ("Count", "Mean (s)", "Longest (s)", "Work (s)")
    table = Table("Tasks called", *(Column(each, justify="right") for each in figures))
    for name, group in shape.groups.items():
        times = (_seconds(each) for each in (group.mean, group.longest, group.work))
        table.add_row(name, f"{group.count:,}", *times)
    return table


def outcome_table(runs: Mapping[str, FinishedStages]) -> Table:
    """Make a row for each resource manager: when the workflow ended, and how late."""
    figures = ("Turnaround (s)", "To spare (s)", "Slots used (%)")
    right = (Column(each, justify="right") for each in figures)
    table = Table(Column("Manager", no_wrap=True), *right, "")
    for name, run in runs.items():
        measured = MeasuredStages(run)
        spare = 0.0 - float(measured.lateness[0])
        table.add_row(
            name,
            f"{measured.turnarounds[0]:,.1f}",
            f"{spare:,.1f}",
            f"{measured.utilisation:.1f}",
            "late" if spare < 0 else "in time",
        )
    return table


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / SECOND:,.1f}"
