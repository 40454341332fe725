"""Answers what the playground's page asks, in the reader's browser, by the parts of the web studio.

`answer` takes and gives JSON, as the worker sends it. A question has the name and the text of a
model, what is to be done with it, and what that needs. The page's addresses are those of the
explorer; the model in them is always the one of the question.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import rebecsim as rs
from rebecsim.actors import Violation
from rebecsim.errors import UserError
from rebecsim.generate.templates import starter_text
from rebecsim.interface.loading import LoadedModel, as_loaded
from rebecsim.lang import format_source
from rebecsim.lang.highlighting import WORDS
from rebecsim.live import Alternative, Stepper
from rebecsim.simulation import Event
from rebecsim.web.addresses import LONGEST_RUN, Place, read_place
from rebecsim.web.library import Library, ListedModel
from rebecsim.web.rendering import rendered, shown_error
from rebecsim.web.steppers import ModelSteppers, go_on
from rebecsim.web.tiles import tiles_of
from rebecsim.web.verdict_worker import answered
from rebecsim.web.verdicts import Inquiry, note, request_of
from rebecsim.web.views import diagram_of, graph_of, problem_on, problems_shown, shown_lines, viewed

LIMITS = {"states": 200_000, "seconds": 60}
"""Where an exploration stops; 200,000 states take some 300 MB of the 2 GB that a page may have."""

DRAWN_STATES = 20

MODELS = Path(str(files("rebecsim.models")))
IN_PYTHON = ("ticket_service.py", "teaching/capacity_queues.py", "teaching/yarn_reservations.py")

Sheet = dict[str, Any]


def page() -> dict[str, Any]:
    """Give what the page shows before Python has been loaded: the models, words of the language."""
    rebeca = Library().models()
    paths = [*(MODELS / each for each in IN_PYTHON), Path(__file__).with_name("one_queue.py")]
    python = [Library(each).models()[0] for each in paths]
    begun = ListedModel(
        "", "my_model.rebeca", "typed", Path("my_model.rebeca"), starter_text("my_model")
    )
    tiles = [*tiles_of(rebeca), *tiles_of(python), *tiles_of([begun])]
    models = [
        {
            "name": each.listed.name,
            "title": "A new model" if each.listed is begun else each.title,
            "question": "Write your own." if each.listed is begun else each.question,
            "text": each.listed.text,
        }
        for each in tiles
    ]
    return {"models": models, "words": WORDS}


# --- the model of a question ----------------------------------------------------------------------


class _Opened:
    """A model that was read; the next questions are mostly about the same."""

    def __init__(self, name: str, text: str) -> None:
        file = Path(Path(name).name)
        beside = next(MODELS.glob(f"**/{file.stem}.property"), None)
        packaged = beside is not None and text == beside.with_suffix(file.suffix).read_text("utf-8")
        questions = beside if packaged else None
        self.listed = ListedModel("model", file.name, "typed", file, text, questions)
        self._steppers: ModelSteppers | None = None

    @property
    def steppers(self) -> ModelSteppers:
        """Its steppers. Raises as reading a model does."""
        self._steppers = self._steppers or ModelSteppers(self.listed)
        return self._steppers

    def loaded(self) -> LoadedModel:
        """Give the model to be run. Raises as reading a model does."""
        if self.listed.is_python:
            return as_loaded(self.steppers.model)
        return rs.loads(self.listed.text, self.listed.file.stem)


_last: tuple[str, str, _Opened] | None = None


def _opened(sheet: Sheet) -> _Opened:
    global _last
    name, text = sheet["name"], sheet["text"]
    if _last is None or _last[:2] != (name, text):
        _last = (name, text, _Opened(name, text))
    return _last[2]


# --- what is done with it -------------------------------------------------------------------------


def problems(sheet: Sheet) -> Sheet:
    """Give what is wrong with a text, as the editor marks it; Python is not run for that."""
    if not sheet["name"].endswith(".py"):
        return {"problems": problems_shown(sheet["text"])}
    try:
        compile(sheet["text"], sheet["name"], "exec")
    except (SyntaxError, ValueError) as error:
        line, column = getattr(error, "lineno", 1) or 1, getattr(error, "offset", 1) or 1
        return {"problems": [problem_on(line, getattr(error, "msg", str(error)), column)]}
    return {"problems": []}


def laid_out(sheet: Sheet) -> Sheet:
    """Give the text as `rebecsim format` lays it out."""
    return {"text": format_source(sheet["text"], sheet["name"])}


def check(sheet: Sheet) -> Sheet:
    """Say what `rebecsim check` says, and draw who knows whom."""
    file = Path(Path(sheet["name"]).name)
    file.write_text(sheet["text"], "utf-8")
    found = rs.check(file)
    drawing = _opened(sheet).loaded().draw().svg if found.is_fine else ""
    return {"text": str(found), "wrong": not found.is_fine, "diagram": drawing}


def simulate(sheet: Sheet) -> Sheet:
    """Run it once: the messages, as `rebecsim simulate` prints them, and as a diagram."""
    loaded = _opened(sheet).loaded()
    seed, steps = _number(sheet["seed"], "the seed"), _number(sheet["steps"], "the messages")
    run = rs.simulate(loaded, seed=seed, steps=steps)
    with _opened(sheet).steppers.at(()) as stepper:
        _follow(stepper, run.events)
        place = Place("model", stepper.ordinals, len(stepper))
        is_whole = place.at == len(run.events)
        diagram = diagram_of(stepper.path(), place) if place.at and is_whole else ""
    said = {"text": str(run), "wrong": run.is_violation, "diagram": diagram}
    if not is_whole:
        long = f"The diagram shows runs of at most {LONGEST_RUN:,} messages."
        drawn = "The run drew from a distribution what no step can choose, so there is no diagram."
        said["note"] = long if len(run.events) > LONGEST_RUN else drawn
    return said


def _number(text: str, what: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 9:
        raise UserError(f"{text[:40]!r} is not a number. Write whole digits for {what}.")
    return int(text)


def _follow(stepper: Stepper, events: Sequence[Event]) -> None:
    """Take the steps of a run, as far as an address goes."""
    for event in events[:LONGEST_RUN]:
        told = (event.rebec, event.sender, event.call, event.arrival, event.deadline, event.choices)
        for turn in stepper.turns():
            each = turn.step
            here = each.rebec, each.sender, each.call, each.arrival, each.deadline
            ways = (way for way in turn.alternatives if (*here, _indices(way)) == told)
            if (way := next(ways, None)) is not None:
                stepper.take(way)
                break
        else:
            return


def _indices(way: Alternative) -> tuple[int, ...]:
    return tuple(index for index, _ in way.step.choices)


def step(sheet: Sheet) -> Sheet:
    """Show an address of the explorer; with `go`, after a step at random."""
    steppers = _opened(sheet).steppers
    place = _place(sheet["address"])
    if sheet.get("go"):
        with steppers.at(place.behind) as stepper:
            go_on(stepper, steps=1, until=None, stop_if="")
            run = stepper.ordinals
        place = place._replace(run=run, at=len(run))
    view, listed = viewed(steppers, place), _opened(sheet).listed
    values = {
        "place": place,
        "view": view,
        "listed": listed,
        "timed": not steppers.model.core,
        "longest": LONGEST_RUN,
        "source": shown_lines(listed.text, listed.is_python, *view.ran),
    }
    parts = ("moves", "offers", "diagram", "cards", "source")
    return {each: rendered(f"place/{each}.html.j2", **values) for each in parts} | {
        "breach": view.breach
    }


def explore(sheet: Sheet) -> Sheet:
    """Try all orders: the verdict, a run that shows it, and the states nearest to the first."""
    opened, inquiry = _opened(sheet), Inquiry(sheet["never"].strip(), state="done")
    steppers = opened.steppers  # whose errors keep their lines, as no verdict does
    note(inquiry, answered(request_of(opened.listed, inquiry, **LIMITS)))
    beginning = Place("model", (), 0)
    said = {"verdict": _rendered_verdict(inquiry, beginning, opened), "diagram": "", "graph": ""}
    if inquiry.verdict == "cannot be explored":
        return said
    if inquiry.run is not None:
        place = Place("model", inquiry.run, len(inquiry.run))
        with steppers.at(inquiry.run) as stepper:
            said["diagram"] = diagram_of(stepper.path(), place) if inquiry.run else ""
    with steppers.at(()) as stepper:
        graph = graph_of(stepper, beginning, DRAWN_STATES, "")
    said["graph"] = rendered("place/states.html.j2", find="", error="", **graph)
    return said


def _rendered_verdict(inquiry: Inquiry, place: Place, opened: _Opened) -> str:
    return rendered("verdict.html.j2", inquiry=inquiry, place=place, listed=opened.listed)


def _place(address: str) -> Place:
    parts = urlsplit(address)
    _, _, model, run, *_ = parts.path.split("/")
    return read_place(model, run, parse_qs(parts.query).get("at", [None])[0])


DOES: dict[str, Callable[[Sheet], Sheet]] = {
    each.__name__: each for each in (problems, laid_out, check, simulate, step, explore)
}


def answer(question: str) -> str:
    """Answer a question; what is wrong with a model is an answer, too."""
    sheet = json.loads(question)
    try:
        found = DOES[sheet["do"]](sheet)
    except Violation as violation:
        where = "This is in a constructor, so no run of the model begins."
        found = {"error": f"{violation.verdict}: {violation}. {where}"}
    except UserError as error:
        found = {"error": shown_error(error)}
    except MemoryError:
        found = {"error": "This takes more memory than a page may have. Try a smaller model."}
    except RecursionError:
        found = {"error": "This is nested too deeply for a browser. Try it with `rebecsim`."}
    return json.dumps(found)
