"""The routes of studies: their form, their progress, and buttons to stop and resume them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import (
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from rebecsim.errors import UserError
from rebecsim.printable import clipped
from rebecsim.web.answers import LONGEST_ERROR, read_form
from rebecsim.web.limits import STREAMS, BusyError, Quota, visitor
from rebecsim.web.studies.started import ALIVE

if TYPE_CHECKING:
    from rebecsim.web.studies.study_views import StudyViews

_MOST_FIELDS = 400
_PAUSE = 0.5  # seconds between two looks at a study
_STILL_HERE = 30  # looks after which a stream says something, so that it is not taken for dead
_BETWEEN_FIGURES = 4  # looks, at least, between figures that change: charts come with them


def study_router(views: Callable[[], StudyViews], closing: threading.Event) -> APIRouter:
    """Give the pages; their streams end when the server is `closing`."""
    router = APIRouter()
    _add_form(router, views)
    _add_study(router, views)
    _add_stream(router, views, closing)
    return router


def _add_form(router: APIRouter, views: Callable[[], StudyViews]) -> None:
    @router.get("/studies")
    def index() -> Response:
        return HTMLResponse(views().index())

    @router.get("/studies/new")
    def new(request: Request, kind: str = "", run: str = "") -> Response:
        builtin = request.query_params.get("from", "")
        return HTMLResponse(views().form_of(kind, builtin, run))

    @router.post("/studies/form")
    async def form(request: Request) -> Response:
        sent = read_form(await request.body(), _MOST_FIELDS)
        applied = sent.get("use") == "fields" or "act" in sent
        page = await run_in_threadpool(lambda: views().form(sent, applied=applied))
        return HTMLResponse(page)

    @router.post("/studies/check")
    async def check(request: Request) -> Response:
        sent = read_form(await request.body(), _MOST_FIELDS)
        changes = {sent["field"]: sent.get("value", "")} if "field" in sent else {}
        act = sent.get("act", "")
        found = await run_in_threadpool(lambda: views().check(sent, changes, act))
        return JSONResponse(asdict(found))

    @router.post("/studies/start")
    async def start(request: Request) -> Response:
        sent = read_form(await request.body(), _MOST_FIELDS)
        return await run_in_threadpool(_started, views(), sent)


def _started(views: StudyViews, sent: dict[str, str]) -> Response:
    try:
        study = views.start(sent)
    except UserError as error:
        said = clipped(str(error), LONGEST_ERROR)
        return HTMLResponse(views.form(sent, applied=False, error=said), 400)
    return RedirectResponse(f"/studies/{study}", 303)


def _add_study(router: APIRouter, views: Callable[[], StudyViews]) -> None:
    @router.get("/studies/{study}")
    def page(study: str) -> Response:
        return HTMLResponse(views().page(study))

    @router.post("/studies/{study}/{what}")
    def act(study: str, what: str) -> Response:
        views().act(study, what)
        return RedirectResponse(f"/studies/{study}", 303)


def _add_stream(
    router: APIRouter, views: Callable[[], StudyViews], closing: threading.Event
) -> None:
    streams = Quota(STREAMS)

    @router.get("/studies/{study}/events")
    async def events(study: str) -> Response:
        await run_in_threadpool(lambda: views().parts(study))  # whether there is one
        return _Watching(
            streams,
            _followed(views(), study, closing),
            media_type="text/event-stream",
            headers={"cache-control": "no-store"},
        )


class _Watching(StreamingResponse):
    """A stream that has a place, also when it is left before it has begun."""

    def __init__(self, places: Quota, content: AsyncIterator[str], **how: Any) -> None:
        super().__init__(content, **how)
        self._places = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it. Raises BusyError if there is no place."""
        client = visitor.get().name
        if not self._places.take(client):
            raise BusyError("Too many open pages follow a study. Close some of them.")
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._places.free(client)


async def _followed(views: StudyViews, study: str, closing: threading.Event) -> AsyncIterator[str]:
    """Say what has changed of a study, until it ends."""
    known: dict[str, str] = {}
    looks = next_figures = 0
    try:
        while not closing.is_set():
            state, parts = await run_in_threadpool(views.parts, study)
            for name, html in parts.items():
                is_early = name == "figures" and looks < next_figures and state in ALIVE
                if known.get(name) == html or is_early:
                    continue
                known[name] = html
                if name == "figures":
                    next_figures = looks + _BETWEEN_FIGURES
                yield _event(name, html)
            if state not in ALIVE:
                yield _event("end", state)
                return
            looks += 1
            if looks % _STILL_HERE == 0:
                yield ": still here\n\n"
            await asyncio.sleep(_PAUSE)
    except UserError:  # it was removed
        yield _event("end", "removed")


def _event(name: str, data: str) -> str:
    lines = "".join(f"data: {line}\n" for line in data.replace("\r", "").split("\n"))
    return f"event: {name}\n{lines}\n"
