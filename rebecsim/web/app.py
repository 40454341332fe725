"""The pages of the server: the list of models, the explorer, verdicts."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from rebecsim.actors import Violation
from rebecsim.errors import UserError
from rebecsim.exploration import Recorded
from rebecsim.live import Stepper, Stop
from rebecsim.printable import clipped
from rebecsim.web.addresses import LONGEST_RUN, Place, read_place
from rebecsim.web.graph_page import drawn_graph, graph_of, states_asked
from rebecsim.web.guard import Admission, Guard
from rebecsim.web.library import Library, ListedModel
from rebecsim.web.verdicts import Inquiry, Verdicts
from rebecsim.web.views import sent_by, view_of
from rebecsim.web.walks import OpenModels, UnknownModelError, Walks, go_on

_STATIC = {
    "app.css": "text/css; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "htmx-LICENSE.txt": "text/plain; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_LONGEST_CONDITION = 300
_LONGEST_ERROR = 2000
_STOPS = {
    "breakpoint": "Stopped: what was to stop it is there.",
    "time": "Stopped: the time is reached.",
    "steps": "",
    "end": "This is the end of the run.",
    "interrupted": "Stopped: this was taking long. It can go on from here.",
}


class Explorer:
    """What the pages are made of: models, runs and verdicts."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.open = OpenModels(library.find)
        self.verdicts = Verdicts()

    def page(self, place: Place, *, why: str = "", error: str = "", never: str = "") -> str:
        """Give the explorer's page. Raises UserError, Violation."""
        listed, walks = self.open.get(place.model)
        sent: frozenset[tuple[str, str, int]] = frozenset()
        if place.at:
            with walks.at(place.run[: place.at - 1]) as stepper:
                sent = _sent(stepper, place.run[place.at - 1])
        with walks.at(place.behind) as stepper:
            view = view_of(stepper, place, sent)
        inquiry = self.verdicts.ask(listed)
        reaching = self.verdicts.ask(listed, never) if never else None
        return _rendered(
            "explorer.html.j2",
            listed=listed,
            place=place,
            view=view,
            timed=not walks.model.core,
            longest=LONGEST_RUN,
            why=_STOPS.get(why, ""),
            error=clipped(error, _LONGEST_ERROR),
            never=never,
            inquiry=inquiry,
            reaching=reaching,
            testable=bool(view.breach) or place.behind in _runs_of(inquiry, reaching),
        )

    def recorded(self, place: Place, never: str) -> tuple[Recorded | None, dict[str, Any]]:
        """Give the run to a place as it shows something wrong, if it does, and as a file has it.

        That may be something that only the search knows, as it looks at a property file; with
        `never`, also that this condition comes true. Raises UserError.
        """
        listed, walks = self.open.get(place.model)
        for inquiry in (self.verdicts.ask(listed, each) for each in dict.fromkeys((never, ""))):
            if inquiry.recorded is not None and inquiry.run == place.behind:
                return Recorded.from_json(inquiry.recorded), inquiry.recorded
        with walks.at(place.behind) as stepper:
            return stepper.recorded(), stepper.to_json()[0]

    def opened(self, place: Place) -> tuple[ListedModel, Walks]:
        """Give the model of a place. Raises UserError."""
        return self.open.get(place.model)


def _runs_of(*inquiries: Inquiry | None) -> list[tuple[int, ...] | None]:
    """Give the runs that are known to show something."""
    return [each.run for each in inquiries if each is not None and each.recorded is not None]


def _sent(stepper: Stepper, ordinal: int) -> frozenset[tuple[str, str, int]]:
    for turn in stepper.turns():
        for each in turn.alternatives:
            if each.ordinal == ordinal:
                return sent_by(each)
    return frozenset()


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("rebecsim.web"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _rendered(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(**values)


def _problem(text: str, status: int) -> HTMLResponse:
    page = _rendered("problem.html.j2", text=clipped(text, _LONGEST_ERROR), status=status)
    return HTMLResponse(page, status)


def make_app(library: Library, admission: Admission) -> Guard:
    """Make the application, behind its guard."""
    explorer = Explorer(library)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(explorer.verdicts.close)

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(UserError, _on_user_error)
    app.add_exception_handler(Violation, _on_violation)
    _add_pages(app, explorer)
    _add_runs(app, explorer)
    return Guard(app, admission)


def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _problem("There is no such page.", error.status_code)


def _on_user_error(request: Request, error: Exception) -> Response:
    return _problem(str(error), 404 if isinstance(error, UnknownModelError) else 400)


def _on_violation(request: Request, error: Exception) -> Response:
    assert isinstance(error, Violation)
    return _problem(f"{error.verdict}: {error}, in a constructor: there is no run to look at.", 400)


def _add_pages(app: FastAPI, explorer: Explorer) -> None:
    @app.get("/")
    def models() -> Response:
        return HTMLResponse(_rendered("models.html.j2", models=explorer.library.models()))

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in _STATIC:
            raise HTTPException(404)
        data = Path(str(files("rebecsim.web"))) / "static" / name
        kept = {"cache-control": "no-cache"}
        return Response(data.read_bytes(), media_type=_STATIC[name], headers=kept)

    @app.get("/x/{model}")
    def beginning(model: str) -> Response:
        return RedirectResponse(Place(model, (), 0).address(), 303)

    @app.get("/x/{model}/{run}")
    def explore(
        model: str, run: str, at: str | None = None, why: str = "", never: str = ""
    ) -> Response:
        place = read_place(model, run, at)
        return HTMLResponse(explorer.page(place, why=why, never=never[:_LONGEST_CONDITION]))

    def races_page(template: str, model: str, run: str, at: str | None) -> Response:
        place = read_place(model, run, at)
        listed, _ = explorer.opened(place)
        inquiry = explorer.verdicts.ask(listed, races=True)
        return HTMLResponse(_rendered(template, listed=listed, place=place, inquiry=inquiry))

    @app.get("/x/{model}/{run}/races")
    def races(model: str, run: str, at: str | None = None) -> Response:
        return races_page("races.html.j2", model, run, at)

    @app.get("/x/{model}/{run}/races/found")
    def races_found(model: str, run: str, at: str | None = None) -> Response:
        return races_page("races_found.html.j2", model, run, at)

    @app.get("/x/{model}/{run}/graph")
    def graph(
        model: str, run: str, at: str | None = None, states: str = "", find: str = ""
    ) -> Response:
        place, find = read_place(model, run, at), find.strip()[:_LONGEST_CONDITION]
        listed, walks = explorer.opened(place)
        error = ""
        with walks.at(place.behind) as stepper:
            try:
                shown = graph_of(stepper, place, states_asked(states), find)
            except UserError as wrong:
                error = clipped(str(wrong), _LONGEST_ERROR)
                shown = graph_of(stepper, place, states_asked(states), "")
        page = _rendered(
            "graph.html.j2", listed=listed, place=place, find=find, error=error, **shown
        )
        return HTMLResponse(page, 400 if error else 200)

    @app.get("/x/{model}/{run}/verdict")
    def verdict(model: str, run: str, at: str | None = None, never: str = "") -> Response:
        place = read_place(model, run, at)
        listed, _ = explorer.opened(place)
        inquiry = explorer.verdicts.ask(listed, never[:_LONGEST_CONDITION])
        return HTMLResponse(_rendered("verdict.html.j2", place=place, inquiry=inquiry))


def _add_runs(app: FastAPI, explorer: Explorer) -> None:
    @app.get("/x/{model}/{run}/model.rebeca")
    def source(model: str, run: str) -> Response:
        listed, _ = explorer.opened(read_place(model, run, None))
        return _download(listed.text, listed.file.name)

    @app.get("/x/{model}/{run}/run.svg")
    def drawing(model: str, run: str, at: str | None = None) -> Response:
        from rebecsim.report.diagrams.sequence import sequence_diagram

        place = read_place(model, run, at)
        listed, walks = explorer.opened(place)
        with walks.at(place.behind) as stepper:
            svg = sequence_diagram(stepper.path())
        return _download(svg, f"{listed.file.stem}.svg", "image/svg+xml")

    @app.get("/x/{model}/{run}/graph.svg")
    def graph(
        model: str, run: str, at: str | None = None, states: str = "", find: str = ""
    ) -> Response:
        place = read_place(model, run, at)
        listed, walks = explorer.opened(place)
        with walks.at(place.behind) as stepper:
            svg = drawn_graph(stepper, states_asked(states), find.strip()[:_LONGEST_CONDITION])
        return _download(svg, f"{listed.file.stem}_states.svg", "image/svg+xml")

    @app.get("/x/{model}/{run}/run.json")
    def saved(model: str, run: str, at: str | None = None, never: str = "") -> Response:
        place = read_place(model, run, at)
        _, data = explorer.recorded(place, never[:_LONGEST_CONDITION])
        name = f"{explorer.opened(place)[0].file.stem}.json"
        return _download(json.dumps(data, indent=1), name, "application/json")

    @app.get("/x/{model}/{run}/test.py")
    def test(model: str, run: str, at: str | None = None, never: str = "") -> Response:
        from rebecsim.report.models.pytest_source import pytest_source

        place = read_place(model, run, at)
        recorded, _ = explorer.recorded(place, never[:_LONGEST_CONDITION])
        if recorded is None:
            raise UserError("Nothing goes wrong in this run that a test could show.")
        kept = Path(_safe(explorer.opened(place)[0].file.name))
        name = f"test_{kept.stem}.py"
        return _download(pytest_source(recorded, kept, Path(name)), name, "text/x-python")

    @app.post("/x/{model}/{run}/on")
    async def on(request: Request, model: str, run: str, at: str | None = None) -> Response:
        asked = _form(await request.body())
        place = read_place(model, run, at)
        return await run_in_threadpool(_gone_on, explorer, place, asked)

    @app.post("/x/{model}/{run}/reach")
    async def reach(request: Request, model: str, run: str, at: str | None = None) -> Response:
        never = _form(await request.body()).get("condition", "").strip()
        place = read_place(model, run, at)
        return await run_in_threadpool(_reaching, explorer, place, never)


def _gone_on(explorer: Explorer, place: Place, asked: dict[str, str]) -> Response:
    """Let a run go on by itself, and lead to where it has come."""
    _, walks = explorer.opened(place)
    try:
        steps = _number(asked.get("steps", "1"), "steps") or 1
        until = _number(asked.get("until", ""), "the time")
        stop_if = _condition(asked.get("stop", ""))
        with walks.at(place.behind) as stepper:
            stop: Stop = go_on(stepper, steps=steps, until=until, stop_if=stop_if)
            run = stepper.ordinals
    except UserError as error:
        return HTMLResponse(explorer.page(place, error=str(error)), 400)
    there = Place(place.model, run, len(run))
    if place.run[: len(run)] == run:  # back to an earlier time: the rest stays
        there = place.moved(len(run))
    return RedirectResponse(there.address(why=stop.reason), 303)


def _reaching(explorer: Explorer, place: Place, never: str) -> Response:
    """Begin to look for a run that reaches a condition, and lead to where that is shown."""
    _, walks = explorer.opened(place)
    if not never:
        hint = "Write a condition over variables of rebecs."
        return HTMLResponse(explorer.page(place, error=hint), 400)
    try:
        never = _condition(never)
        with walks.at(place.behind) as stepper:
            go_on(stepper, steps=0, until=None, stop_if=never)  # whether it is one
    except UserError as error:
        return HTMLResponse(explorer.page(place, error=str(error)), 400)
    return RedirectResponse(place.address(never=never), 303)


def _condition(text: str) -> str:
    if len(text) > _LONGEST_CONDITION:
        raise UserError(f"A condition may have {_LONGEST_CONDITION} characters.")
    return text.strip()


def _number(text: str, what: str) -> int | None:
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > 9:
        raise UserError(f"{text[:40]!r} is no number for {what}.")
    return int(text)


def _form(body: bytes) -> dict[str, str]:
    """Read the fields of a form; of several with one name, the last."""
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=20)
    except ValueError as error:
        raise UserError("The form cannot be read.") from error
    return {name: values[-1] for name, values in fields.items()}


def _safe(name: str) -> str:
    """Give a name of a file without letters that mean something elsewhere."""
    return "".join(
        each if each.isascii() and (each.isalnum() or each in "._-") else "_" for each in name
    )


def _download(text: str, name: str, kind: str = "text/plain") -> Response:
    headers = {"content-disposition": f'attachment; filename="{_safe(name)}"'}
    return PlainTextResponse(text, headers=headers, media_type=kind)
