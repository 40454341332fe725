"""The routes of runs: their list, one run, questions in SQL, differences of two runs."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from anyio import CapacityLimiter
from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, Response, StreamingResponse
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from rebecsim.web.answers import read_form
from rebecsim.web.studies.questions import FILES

if TYPE_CHECKING:
    from rebecsim.web.studies.run_views import RunViews

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
        # those that nobody waits for any more, as newer ones have been asked for, are not drawn.
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
