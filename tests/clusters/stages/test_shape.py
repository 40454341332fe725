"""Shapes of workflows: depth, width, critical paths; and their drawings."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from rebecsim.clusters.stages.job import StageJob, StageTask, WorkflowShape
from rebecsim.clusters.stages.laxity import sequential_time, shortest_time
from rebecsim.clusters.stages.report.workflow import workflow_svg
from rebecsim.report import GROUND, INK, painted


@st.composite
def workflows(draw: st.DrawFn) -> tuple[StageTask, ...]:
    count = draw(st.integers(1, 12))
    tasks = []
    for number in range(count):
        parents = draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else set()
        duration = draw(st.integers(0 if number else 1, 9)) * 1000
        name = draw(st.sampled_from("pqr"))
        tasks.append(StageTask(number, duration, tuple(sorted(parents)), name=name))
    return tuple(tasks)


@given(workflows())
def test_a_shape_agrees_with_how_the_job_runs(tasks: tuple[StageTask, ...]) -> None:
    shape, job = WorkflowShape(tasks), StageJob(0, 0, 0, 0, tasks)
    assert shape.shortest == shortest_time(job)
    assert shape.work == sequential_time(job) == sum(each.work for each in shape.groups.values())
    path = shape.critical_path
    assert all(parent in tasks[child].parents for parent, child in itertools.pairwise(path))
    assert sorted(number for level in shape.levels for number in level) == list(range(len(tasks)))
    level_of = {number: place for place, level in enumerate(shape.levels) for number in level}
    for task in tasks:
        assert level_of[task.number] == 1 + max(
            (level_of[each] for each in task.parents), default=-1
        )
    assert shape.depth * shape.width >= len(tasks)


@pytest.mark.parametrize("width", [3, 40])
def test_a_drawing_has_every_task_and_every_edge(width: int) -> None:
    first = StageTask(0, 1000, name="<split>")
    others = [StageTask(each, 2000, (0,), name="work") for each in range(1, width + 1)]
    shape = WorkflowShape((first, *others))
    drawn = ElementTree.fromstring(workflow_svg(shape, "a & b"))
    space = "{http://www.w3.org/2000/svg}"
    edges = [each.get("class") for each in drawn.iter(f"{space}path")]
    assert sorted(edges) == ["critical", *["edge"] * (width - 1)]
    titles = ["".join(each.itertext()) for each in drawn.iter(f"{space}title")]
    boxes = [each for each in drawn.iter(f"{space}rect") if each.get("fill-opacity")]
    discs = list(drawn.iter(f"{space}circle"))
    assert len(boxes) + len(discs) == width + 1
    assert titles[0] == "a & b"
    assert any(each.startswith("<split>: 1.0 s") for each in titles)


def test_a_drawing_is_dark_where_the_reader_is() -> None:
    drawing = workflow_svg(WorkflowShape((StageTask(0, 1000, name="alone"),)), "one")
    light, dark = drawing.split("@media screen and (prefers-color-scheme:dark)")
    assert "text{font" in light
    assert f'[fill="#ffffff"]{{fill:{GROUND}}}' in dark
    assert f'[fill="#000000"]{{fill:{INK}}}' in dark
    assert f"text{{fill:{INK}}}" in dark


def test_boxes_have_the_part_of_a_name_that_tells_it_apart() -> None:
    names = "flow.sub.ALIGN", "flow.sub.GET_SOFTWARE_VERSIONS", "flow.sub."
    drawing = workflow_svg(
        WorkflowShape(tuple(StageTask(n, 1000, name=name) for n, name in enumerate(names))), "one"
    )
    assert re.findall(r'class="name".*?</title>([^<]*)</text>', drawing) == [
        "ALIGN",
        "GET_SOFTWAR…",
        "flow.sub.",
    ]


def test_the_figure_of_a_drawing_has_all_that_the_drawing_has() -> None:
    chain = tuple(
        StageTask(n, 1000 * (n + 1), (n - 1,) if n else (), name=f"t{n}") for n in range(3)
    )
    many = tuple(StageTask(n, 1000, (), name="wide") for n in range(12))
    for tasks, discs in ((chain, 0), (many, 12)):
        drawing = workflow_svg(WorkflowShape(tasks), "costs $5$")
        figure = painted(drawing)
        (axes,) = figure.axes
        kinds = Counter(type(each).__name__ for each in axes.patches)
        assert kinds["FancyBboxPatch"] == drawing.count("<rect")
        assert kinds["PathPatch"] == drawing.count("<path")
        assert kinds["Circle"] == drawing.count("<circle") == discs
        assert axes.texts[0].get_text() == "costs $5$"
        assert len(axes.texts) == drawing.count("<text")
        width = float(ElementTree.fromstring(drawing).attrib["width"])
        assert figure.get_size_inches()[0] * 96 == pytest.approx(width)


def test_what_cannot_be_painted_is_refused() -> None:
    with pytest.raises(ValueError, match="an element ellipse cannot be painted"):
        painted('<svg width="9" height="9"><ellipse/></svg>')
