"""The routes of lessons: their list and pages, the tour, a plan, a quiz, a teacher's page."""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from rebecsim.web.addresses import Place, read_place
from rebecsim.web.answers import read_form
from rebecsim.web.lessons.content import (
    QUIZ,
    Case,
    Lesson,
    lessons,
    plan_steps,
    prose,
    questions,
    stops,
)
from rebecsim.web.library import Library, ListedModel
from rebecsim.web.limits import visitor
from rebecsim.web.rendering import UnknownPlaceError, rendered
from rebecsim.web.tiles import editor_address
from rebecsim.web.visitors import Classroom, qr_svg


def lesson_pages(library: Library, classroom: Classroom | None) -> APIRouter:
    """Make the routes below `/lessons` and `/tour`; pupils see the answers that are open."""
    router = APIRouter()

    @router.get("/lessons")
    def listed() -> Response:
        return _page("lessons", lessons=lessons(), stops=stops())

    @router.get("/lessons/plan")
    def plan() -> Response:
        return _page("plan", steps=plan_steps())

    @router.get("/lessons/quiz")
    def quiz() -> Response:
        return _page("quiz", questions=questions(), chosen=None)

    @router.post("/lessons/quiz")
    async def checked(request: Request) -> Response:
        sent = read_form(await request.body())
        chosen = [sent.get(str(number), "") for number in range(len(questions()))]
        return _page("quiz", questions=questions(), chosen=chosen)

    _add_teacher(router, classroom)

    @router.get("/lessons/{name}")
    def lesson(name: str) -> Response:
        found = _lesson(name)
        model = library.packaged(found.model)
        return _page(
            "lesson",
            lesson=found,
            model=model,
            editor=editor_address(model),
            shows_answers=visitor.get().may_see_answers(name),
        )

    @router.get("/lessons/{name}/{exercise}/{case}")
    def case(name: str, exercise: int, case: int) -> Response:
        found = _lesson(name)
        groups = [found.cases, *(each.cases for each in found.exercises)]
        is_there = 0 <= exercise < len(groups) and 0 <= case < len(groups[exercise])
        if not is_there or not visitor.get().may_see_answers(name):
            raise UnknownPlaceError("There is no such solution, or your teacher has not opened it.")
        chosen = groups[exercise][case]
        model = _opened(library, chosen)
        query = {"never": chosen.never} if chosen.never else {}
        return RedirectResponse(Place(model.id, (), 0).address(**query), 303)

    @router.get("/tour/{number}")
    def tour(number: int) -> Response:
        if not 1 <= number <= len(stops()):
            raise UnknownPlaceError(f"The tour has {len(stops())} stops.")
        stop = stops()[number - 1].case
        model = _opened(library, stop)
        place = read_place(model.id, stop.run, None, str(number))
        return RedirectResponse(place.address("/races" if stop.races else ""), 303)

    return router


def _add_teacher(router: APIRouter, classroom: Classroom | None) -> None:
    """Add the teacher's page, and the routes that open answers to pupils."""

    def require_teacher() -> None:
        if visitor.get().is_pupil:
            raise UnknownPlaceError("This page is for your teacher.")

    @router.get("/lessons/teacher")
    def teacher() -> Response:
        require_teacher()
        return _page(
            "teacher", lessons=lessons(), stops=stops(), steps=plan_steps(), room=classroom
        )

    @router.get("/lessons/teacher/address")
    def address() -> Response:
        require_teacher()
        if classroom is None:
            raise UnknownPlaceError("Start `rebecsim web --class --host 0.0.0.0` for a class.")
        codes = [(each, qr_svg(each)) for each in classroom.addresses]
        return _page("address", codes=codes)

    @router.post("/lessons/teacher/{act}")
    async def act(request: Request, act: str) -> Response:
        require_teacher()
        lesson = read_form(await request.body()).get("lesson", "")
        names = {QUIZ, *(each.name for each in lessons())}
        if classroom is None or act not in ("open", "close") or lesson not in names:
            raise UnknownPlaceError("There is no such lesson to open.")
        (classroom.open if act == "open" else classroom.close)(lesson)
        return RedirectResponse("/lessons/teacher", 303)


def tour_panel(tour: str) -> dict[str, Any] | None:
    """Give the panel of a stop of the tour; None if the address names no stop."""
    if not re.fullmatch(r"\d{1,2}", tour, re.ASCII) or not 1 <= int(tour) <= len(stops()):
        return None
    number = int(tour)
    stop = stops()[number - 1]
    return {
        "number": number,
        "title": stop.title,
        "text": prose(stop.text),
        "races": stop.case.races,
        "count": len(stops()),
    }


def _page(name: str, **values: Any) -> HTMLResponse:
    page = rendered(f"lessons/{name}.html.j2", prose=prose, quiz=QUIZ, **values)
    return HTMLResponse(page)


def _lesson(name: str) -> Lesson:
    found = next((each for each in lessons() if each.name == name), None)
    if found is None:
        raise UnknownPlaceError("There is no such lesson.")
    return found


def _opened(library: Library, case: Case) -> ListedModel:
    """Make the text of a case known to the explorer."""
    name = case.model.rpartition("/")[2]
    return library.add_typed(case.text, name, "", case.property_file)
