"""The pages of lessons: a list, a page each, the tour, and what teachers want to know."""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from rebecsim.web.addresses import Place, read_place
from rebecsim.web.answers import UnknownPlaceError, rendered
from rebecsim.web.editor_pages import editor_address
from rebecsim.web.lessons.content import Case, Lesson, lessons, prose, stops
from rebecsim.web.library import Library, ListedModel


def lesson_pages(library: Library, *, in_class: bool) -> APIRouter:
    """Give what answers below `/lessons` and `/tour`; in class, without solutions."""
    router = APIRouter()

    @router.get("/lessons")
    def listed() -> Response:
        return _page("lessons", in_class, lessons=lessons(), stops=stops())

    @router.get("/lessons/teacher")
    def teacher() -> Response:
        if in_class:
            raise UnknownPlaceError(
                "What is for teachers is left out, as the server is for a class."
            )
        return _page("teacher", in_class, lessons=lessons(), stops=stops())

    @router.get("/lessons/{name}")
    def lesson(name: str) -> Response:
        found = _lesson(name)
        model = library.packaged(found.model)
        return _page("lesson", in_class, lesson=found, model=model, editor=editor_address(model))

    @router.get("/lessons/{name}/{exercise}/{case}")
    def case(name: str, exercise: int, case: int) -> Response:
        found = _lesson(name)
        groups = [found.cases, *(each.cases for each in found.exercises)]
        shown = not in_class and exercise < len(groups) and case < len(groups[exercise])
        if not shown or min(exercise, case) < 0:
            raise UnknownPlaceError("There is no such solution, or it is not shown here.")
        asked = groups[exercise][case]
        model = _opened(library, asked)
        query = {"never": asked.never} if asked.never else {}
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


def tour_panel(tour: str) -> dict[str, Any] | None:
    """Give what a page says of the stop of the tour that its address names; None for no stop."""
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


def _page(name: str, in_class: bool, **values: Any) -> HTMLResponse:
    page = rendered(f"lessons/{name}.html.j2", prose=prose, in_class=in_class, **values)
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
