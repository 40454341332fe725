"""The editor's pages: check a model while someone types, format, explore and save it.

Typed text is parsed and checked as Rebeca; it is never run as Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from rebecsim.errors import UserError
from rebecsim.files import reason_of
from rebecsim.generate.templates import starter_text
from rebecsim.lang import format_source, problems_of
from rebecsim.lang.highlighting import WORDS
from rebecsim.web.answers import download, read_form
from rebecsim.web.library import LARGEST_TEXT, ChangedMeanwhileError, Library
from rebecsim.web.limits import visitor
from rebecsim.web.rendering import UnknownPlaceError, rendered, shown_error
from rebecsim.web.tiles import edit_address
from rebecsim.web.views import problem_on, problems_shown

_STARTER = "starter"


@dataclass(frozen=True)
class Sheet:
    """The text in the editor; `version` is that of its file, empty without a file."""

    address: str
    name: str
    text: str
    version: str = ""


def editor_pages(library: Library) -> APIRouter:
    """Make the routes below `/edit`."""
    router = APIRouter()

    @router.get("/edit")
    def edit(file: str = "", new: str = "", start: str = "", copy: str = "") -> Response:
        return _page(library, _opened(library, file, new, start, copy))

    @router.post("/edit/check")
    async def check(request: Request) -> Response:
        form = read_form(await request.body())
        return JSONResponse({"problems": await run_in_threadpool(_problems, form)})

    @router.post("/edit/format")
    async def laid_out(request: Request) -> Response:
        form = read_form(await request.body())
        return await run_in_threadpool(_formatted, form)

    @router.post("/edit/explore")
    async def explore(request: Request) -> Response:
        form = read_form(await request.body())
        return await run_in_threadpool(_explored, library, form)

    @router.post("/edit/save")
    async def save(request: Request) -> Response:
        form = read_form(await request.body())
        return await run_in_threadpool(_saved, library, form)

    @router.post("/edit/download")
    async def keep(request: Request) -> Response:
        form = read_form(await request.body())
        return download(_text(form), form.get("name", "") or "model.rebeca")

    return router


def _opened(library: Library, file: str, new: str, start: str, copy: str) -> Sheet:
    """Open the model that an address names. Raises UserError."""
    if file:
        if library.named_so("yours", file) is None:
            raise UnknownPlaceError(f"{file}: is not among your models. Open the list of models.")
        found = library.own.read(file)
        return Sheet(edit_address(file=file), file, found.text, found.version)
    name = new.removesuffix(".rebeca") or "model"
    text = starter_text(name)  # also checks the name
    if start not in ("", _STARTER):
        listed = library.named_so("teaching", start)
        if listed is None:
            raise UnknownPlaceError(
                f"{start}: is not among the models to learn from. Open the list of models."
            )
        text = listed.shown_text
    elif copy:
        shown = library.find(copy)
        if shown is None or shown.is_python:
            raise UnknownPlaceError(
                "The server no longer has this text. Open the model again and edit it."
            )
        text = shown.shown_text
    wanted = {"new": name, "start": start if start != _STARTER else "", "copy": copy}
    given = {key: value for key, value in wanted.items() if value}
    return Sheet(edit_address(**given), f"{name}.rebeca", text)


def _page(library: Library, sheet: Sheet, problem: str = "", status: int = 200) -> HTMLResponse:
    page = rendered(
        "editor.html.j2",
        sheet=sheet,
        words=WORDS,
        can_write=library.own.can_write,
        problem=shown_error(problem),
    )
    return HTMLResponse(page, status)


def _text(form: dict[str, str]) -> str:
    """Give the text that a form has. Raises UserError if it is too long."""
    text = form.get("text", "").replace("\r\n", "\n")
    if len(text.encode("utf-8", "replace")) > LARGEST_TEXT:
        raise UserError(f"A text may have at most {LARGEST_TEXT:,} bytes.")
    return text


def _problems(form: dict[str, str]) -> list[dict[str, Any]]:
    try:
        text = _text(form)
    except UserError as error:
        return [problem_on(1, str(error))]
    return problems_shown(text)


def _formatted(form: dict[str, str]) -> Response:
    try:
        return JSONResponse({"text": format_source(_text(form), "model.rebeca")})
    except UserError as error:
        return JSONResponse({"error": shown_error(error)}, 400)


def _explored(library: Library, form: dict[str, str]) -> Response:
    """Open the explorer on a text, or show it again with what is wrong."""
    sheet = _sheet(form)
    errors = [each for each in problems_of(sheet.text, sheet.name) if each.severity == "error"]
    if errors:
        return _page(library, sheet, str(errors[0]), 400)
    beside = library.named_so("yours", sheet.name) if sheet.version else None
    questions = None if beside is None else beside.questions
    owner = visitor.get().owner
    listed = library.add_typed(sheet.text, sheet.name or "model", sheet.address, questions, owner)
    return RedirectResponse(f"/x/{listed.id}/-", 303)


def _sheet(form: dict[str, str]) -> Sheet:
    """Read the editor's form. Raises UserError."""
    address = form.get("editor", "")
    if not address.startswith("/edit?"):
        address = "/edit"
    return Sheet(
        address[:500], form.get("name", "").strip()[:200], _text(form), form.get("version", "")
    )


def _saved(library: Library, form: dict[str, str]) -> Response:
    """Write a text into its file; the script of the page reads the answer."""
    sheet = _sheet(form)
    try:
        version = library.own.write(sheet.name, sheet.text, sheet.version)
    except ChangedMeanwhileError as error:
        return JSONResponse({"error": str(error), "changed": True}, 409)
    except UserError as error:
        return JSONResponse({"error": str(error)}, 400)
    except OSError as error:
        return JSONResponse({"error": f"{sheet.name}: {reason_of(error)}"}, 400)
    return JSONResponse({"version": version, "address": edit_address(file=sheet.name)})
