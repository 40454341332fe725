"""The addresses of runs: their list, one of them, questions in SQL, what two differ in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import CapacityLimiter
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from rebecsim.web.answers import read_form

if TYPE_CHECKING:
    from rebecsim.web.studies.run_views import RunViews

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
_REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""A report is a page with programs in it that somebody may have given to the user: in a sandbox it
has no part in this server's pages, so it cannot do what they can."""

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

    @router.get("/runs/diff")
    def difference(request: Request) -> Response:
        return HTMLResponse(views().difference(request.query_params.getlist("run")))


def _add_run(router: APIRouter, views: Callable[[], RunViews]) -> None:
    @router.get("/runs/{run}")
    def one(run: str) -> Response:
        return HTMLResponse(views().run(run))

    drawing = CapacityLimiter(1)

    @router.get("/runs/{run}/charts/{name}.svg")
    async def chart(request: Request, run: str, name: str) -> Response:
        # One is drawn at a time. Those that wait hold no thread, which other answers need, and
        # those that nobody waits for any more, as newer ones have been asked for, are not drawn.
        async with drawing:
            if await request.is_disconnected():
                return Response(status_code=204)
            drawn = await run_in_threadpool(lambda: views().chart(run, name))
        return _kept(drawn, f"{name}.svg")

    @router.get("/runs/{run}/files/{file:path}")
    def file(run: str, file: str) -> Response:
        return _kept(views().file(run, file), file)


def _kept(data: bytes | None, file: str) -> Response:
    """Answer with a file, if there is one."""
    if data is None:
        raise HTTPException(404)
    headers = {"cache-control": "no-cache"}
    if file.endswith((".html", ".svg")):
        headers["content-security-policy"] = _REPORT_POLICY
    if file.endswith(".csv"):
        headers["content-disposition"] = f'attachment; filename="{file}"'
    return Response(data, media_type=_TYPES[Path(file).suffix], headers=headers)
