"""The application: it joins all pages, makes the first one, and turns errors into pages."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from rebecsim.actors import Violation
from rebecsim.errors import UserError
from rebecsim.web.answers import problem
from rebecsim.web.editor_pages import editor_pages
from rebecsim.web.explorer import Explorer
from rebecsim.web.explorer_pages import explorer_pages
from rebecsim.web.guard import Admission, Guard
from rebecsim.web.lessons.content import stops
from rebecsim.web.lessons.pages import lesson_pages
from rebecsim.web.library import Library
from rebecsim.web.limits import BusyError
from rebecsim.web.rendering import UnknownPlaceError, rendered
from rebecsim.web.studies.pages import study_pages
from rebecsim.web.studies.scenarios import questions_by_kind
from rebecsim.web.tiles import tiles_of
from rebecsim.web.visitors import Classroom

_STATIC = {
    "app.css": "text/css; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "codemirror.min.js": "text/javascript; charset=utf-8",
    "codemirror-LICENSE.txt": "text/plain; charset=utf-8",
    "editor.js": "text/javascript; charset=utf-8",
    "tokens.css": "text/css; charset=utf-8",
    "studies.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "htmx-LICENSE.txt": "text/plain; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


def make_app(
    library: Library,
    admission: Admission,
    closing: threading.Event | None = None,
    classroom: Classroom | None = None,
) -> Guard:
    """Make the application, behind its guard; for a class, without studies and runs.

    Its streams end when it is `closing`.
    """
    explorer = Explorer(library)
    library.opens_scenarios = classroom is None

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(explorer.verdicts.close)

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(UserError, _on_user_error)
    app.add_exception_handler(Violation, _on_violation)
    _add_pages(app, library)
    app.include_router(explorer_pages(explorer))
    app.include_router(editor_pages(library))
    app.include_router(lesson_pages(library, classroom))
    if classroom is None:
        app.include_router(study_pages(library.directory, closing or threading.Event()))
    return Guard(app, admission, classroom)


def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return problem("There is no page at this address.", error.status_code)


def _on_user_error(request: Request, error: Exception) -> Response:
    if isinstance(error, BusyError):
        return problem(str(error), 503)
    return problem(str(error), 404 if isinstance(error, UnknownPlaceError) else 400)


def _on_violation(request: Request, error: Exception) -> Response:
    assert isinstance(error, Violation)
    where = "This is in a constructor, so no run of the model begins."
    return problem(f"{error.verdict}: {error}. {where}", 400)


def _add_pages(app: FastAPI, library: Library) -> None:
    @app.get("/")
    def models() -> Response:
        tiles = tiles_of(library.models())
        asked = questions_by_kind() if library.opens_scenarios else {}
        scenarios = [each for several in asked.values() for each in several]
        return HTMLResponse(
            rendered("models.html.j2", tiles=tiles, stops=len(stops()), scenarios=scenarios)
        )

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in _STATIC:
            raise HTTPException(404)
        data = Path(str(files("rebecsim.web"))) / "static" / name
        if name == "tokens.css":  # reports have the same ones
            data = Path(str(files("rebecsim.report"))) / "tokens.css.j2"
        kept = {"cache-control": "no-cache"}
        return Response(data.read_bytes(), media_type=_STATIC[name], headers=kept)
