"""The routes of studies and runs."""

from __future__ import annotations

import asyncio
import io
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from anyio import CapacityLimiter
from fastapi import APIRouter, Request
from fastapi.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from rebecsim.errors import UserError
from rebecsim.extras import REPORTS, require
from rebecsim.web.answers import read_form
from rebecsim.web.limits import STREAMS, BusyError, Quota, visitor
from rebecsim.web.rendering import shown_error
from rebecsim.web.studies.sql import FILES
from rebecsim.web.studies.study_process import ALIVE

if TYPE_CHECKING:
    from rebecsim.web.studies.run_views import RunViews
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
        return HTMLResponse(views.form(sent, applied=False, error=shown_error(error)), 400)
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
    """Yield the changed parts of a study's page until it ends."""
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


_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".parquet": "application/vnd.apache.parquet",
}
_REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""A report is a page with programs in it that somebody may have given to the user: in a sandbox it
has no part in this server's pages, so it cannot do what they can."""

_PIECE = 256 * 1024

_QUESTION = "SELECT run, policy, count(*) AS cells FROM cells GROUP BY ALL ORDER BY ALL"


def run_pages(views: Callable[[], RunViews]) -> APIRouter:
    """Give the pages of runs; `views` makes them when the first one is asked for."""
    router = APIRouter()
    _add_lists(router, views)
    _add_run(router, views)
    return router


def _add_lists(router: APIRouter, views: Callable[[], RunViews]) -> None:
    @router.get("/runs")
    def runs(sort: str = "name", down: str = "", find: str = "") -> Response:
        return HTMLResponse(views().runs(sort, bool(down), find))

    @router.get("/runs/sql")
    def box(sql: str = _QUESTION) -> Response:
        return HTMLResponse(views().box(sql))

    @router.post("/runs/sql")
    async def answer(request: Request) -> Response:
        sql = read_form(await request.body()).get("sql", "")
        return HTMLResponse(*await run_in_threadpool(lambda: views().answer(sql)))

    @router.post("/runs/sql/answer.{form}")
    async def answer_as_file(request: Request, form: str) -> Response:
        sql = read_form(await request.body()).get("sql", "")
        return await run_in_threadpool(_answer_as_file, views(), sql, form)

    @router.get("/runs/diff")
    def difference(request: Request) -> Response:
        return HTMLResponse(views().difference(request.query_params.getlist("run")))


def _answer_as_file(views: RunViews, sql: str, form: str) -> Response:
    if form not in FILES:
        raise HTTPException(404)
    folder = tempfile.TemporaryDirectory(prefix="rebecsim-")
    out = Path(folder.name) / f"answer.{form}"
    if (wrong := views.write_answer(sql, out)) is not None:
        folder.cleanup()
        return HTMLResponse(*wrong)
    return FileResponse(
        out,
        media_type=_TYPES[out.suffix],
        filename=out.name,
        background=BackgroundTask(folder.cleanup),
    )


def _add_run(router: APIRouter, views: Callable[[], RunViews]) -> None:
    @router.get("/runs/{run}")
    def one(run: str) -> Response:
        return HTMLResponse(views().run(run))

    drawing = CapacityLimiter(1)

    @router.get("/runs/{run}/charts/{name}.svg")
    async def chart(request: Request, run: str, name: str) -> Response:
        # One is drawn at a time. Those that wait hold no thread, which other answers need, and
        # those whose page is gone, as a newer one was asked for, are not drawn.
        async with drawing:
            if await request.is_disconnected():
                return Response(status_code=204)
            drawn = await run_in_threadpool(lambda: views().chart(run, name))
        return _kept(None if drawn is None else io.BytesIO(drawn), f"{name}.svg")

    @router.get("/runs/{run}/files/{file:path}")
    def file(run: str, file: str) -> Response:
        return _kept(views().file(run, file), file)


def _kept(opened: BinaryIO | None, file: str) -> Response:
    """Answer with a file, if there is one, a piece at a time: it may be large."""
    if opened is None:
        raise HTTPException(404)
    size = opened.seek(0, io.SEEK_END)
    opened.seek(0)
    headers = {"cache-control": "no-cache", "content-length": str(size)}
    if file.endswith((".html", ".svg")):
        headers["content-security-policy"] = _REPORT_POLICY
    if file.endswith(".csv"):
        headers["content-disposition"] = f'attachment; filename="{file}"'
    return StreamingResponse(
        _pieces(opened, size), media_type=_TYPES[Path(file).suffix], headers=headers
    )


def _pieces(opened: BinaryIO, size: int) -> Iterator[bytes]:
    """Give the bytes of a file, as many as were announced at most."""
    with opened:
        while size > 0 and (piece := opened.read(min(size, _PIECE))):
            size -= len(piece)
            yield piece


def study_pages(root: Path | None, closing: threading.Event) -> APIRouter:
    """Give the pages; without a directory they say so, and when the server is `closing` they end.

    What reads results is imported when it is asked for: whoever steps through a model should not
    wait for it.
    """

    @cache
    def runs() -> RunViews:
        require("a study in the browser", *REPORTS, "duckdb")
        from rebecsim.web.studies.run_views import RunViews

        return RunViews(root)

    @cache
    def studies() -> StudyViews:
        shown = runs()
        from rebecsim.web.studies.study_views import StudyViews

        return StudyViews(shown)

    router = run_pages(runs)
    router.include_router(study_router(studies, closing))
    return router
