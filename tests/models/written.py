"""The files that are written by the program, and what it writes today: modules, models, drawings.

`python -m tests.models.written` writes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rebecsim.generate import python_source, template_environment
from rebecsim.lang import check_file
from rebecsim.report import draw_topology
from rebecsim.report.sequence_diagram import sequence_diagram
from tests.models.lessons import LESSONS, MODELS, VARIANTS, Lesson, explored, model_of

ROOT = MODELS.parent

YARN_SIZES = {
    "models/teaching/yarn_fifo2.rebeca": 2,
    "models/benchmarks/yarn_fifo4.rebeca": 4,
}
"""The models of the YARN template: numbers of AppMasters."""

TOPOLOGIES = ("philosophers", "leader_election")
"""The pages that show who knows whom."""

SEQUENCES = {
    "producer_consumer": ("producer_consumer", 21),
    "sensor_network": ("four", 8),
    "train_crossing": ("late_gate", 6),
    "token_ring": ("hasty", 8),
}
"""The pages that show a counterexample: the name of the model there, and the number of steps."""


def yarn(app_masters: int) -> str:
    """The model of a first in, first out cluster."""
    template = template_environment().get_template("yarn_fifo.rebeca.j2")
    return template.render(app_masters=app_masters)


def module_source(lesson: Lesson) -> str:
    """The Python module of a lesson's model."""
    return python_source(check_file(lesson.file, lesson.dialect), lesson.file.name)


def topology(page: str) -> str:
    """The drawing of the rebecs of a page's model."""
    lesson = next(each for each in LESSONS if each.file.stem == page)
    with TemporaryDirectory() as directory:
        drawing = Path(directory) / "topology.svg"
        draw_topology(model_of(lesson), drawing)
        return drawing.read_text("utf-8")


def sequence(page: str) -> str:
    """The sequence diagram of a page's counterexample."""
    name, steps = SEQUENCES[page]
    path = next(
        path
        for each in (*LESSONS, *VARIANTS)
        if each.file.stem == page and each.steps == steps
        for path in [explored(each).path]
        if path is not None
    )
    return sequence_diagram(replace(path, model=name))


def written() -> dict[str, Callable[[], str]]:
    """What each file should hold, by its path in the repository."""
    texts: dict[str, Callable[[], str]] = {}
    for file, size in YARN_SIZES.items():
        texts[file] = lambda size=size: yarn(size)
    for lesson in LESSONS:
        if lesson.is_module_generated:
            module = lesson.module.relative_to(ROOT).as_posix()
            texts[module] = lambda lesson=lesson: module_source(lesson)
    for page in TOPOLOGIES:
        texts[f"docs/models/{page}.svg"] = lambda page=page: topology(page)
    for page in SEQUENCES:
        texts[f"docs/models/{page}.svg"] = lambda page=page: sequence(page)
    return texts


def main() -> None:
    """Write the files, those first that others are made of."""
    for file, text in written().items():
        (ROOT / file).write_text(text(), "utf-8")
        print(file)


if __name__ == "__main__":
    main()
