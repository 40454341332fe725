"""The routes of the explorer: runs, graphs, two runs side by side, and files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from rebecsim.actors.values import value_text
from rebecsim.errors import UserError
from rebecsim.exploration import Path as Run, RebecState
from rebecsim.live import Stepper, Stop
from rebecsim.report.messages import bag_texts, busy_text
from rebecsim.report.sequence_diagram import rebecs_of, sequence_diagram
from rebecsim.web.addresses import Place, read_place
from rebecsim.web.answers import download, read_form, safe_name
from rebecsim.web.explorer import Explorer
from rebecsim.web.lessons.pages import tour_panel
from rebecsim.web.rendering import UnknownPlaceError, rendered, shown_error
from rebecsim.web.steppers import ModelSteppers, go_on, shared_steps
from rebecsim.web.views import drawn_graph, graph_of, most_states

_DRAWN_STEPS = 60


def beside(steppers: ModelSteppers, one: Place, other: Place) -> dict[str, Any]:
    """Give the values of the page of two runs. Raises UserError, Violation."""
    shared = shared_steps(one.run, other.run)
    paths, states = [], []
    for place in (one, other):
        with steppers.aside(place.run) as stepper:
            paths.append(stepper.path())
            states.append(_End(stepper))
    rebecs = rebecs_of([step for path in paths for step in path.steps[shared:]])
    runs = [
        _drawn(path, place, shared, rebecs) for path, place in zip(paths, (one, other), strict=True)
    ]
    differences = list(_differences(*states))
    return {"shared": shared, "runs": runs, "differences": differences}


def _drawn(path: Run, place: Place, shared: int, rebecs: Sequence[str]) -> dict[str, Any]:
    """Draw a run from where it parts; each message links to the state after it was served."""
    steps = len(place.run)
    drawing = ""
    if steps > shared:
        last = min(steps - shared, _DRAWN_STEPS)
        drawing = sequence_diagram(
            path,
            last=last,
            link=lambda step: place.moved(step + 1).address(),
            rebecs=rebecs,
        )
    breach = path.breach
    return {
        "place": place.moved(steps),
        "steps": steps,
        "drawing": drawing,
        "breach": "" if breach is None else f"{breach.verdict}: {breach.text}",
    }


class _End:
    """The state at the end of a run: name -> text."""

    def __init__(self, stepper: Stepper) -> None:
        timed = not stepper.model.core
        self.said: dict[str, str] = {"time": str(stepper.time)} if timed else {}
        for rebec in stepper.rebecs():
            self.said |= dict(_said(rebec, stepper.time, timed))


def _said(rebec: RebecState, time: int, timed: bool) -> Iterator[tuple[str, str]]:
    for name, value in rebec.variables.items():
        yield f"{rebec.rebec}.{name}", value_text(value)
    yield f"bag of {rebec.rebec}", "\n".join(sorted(bag_texts(rebec, time, timed=timed))) or "empty"
    yield f"{rebec.rebec} is", busy_text(rebec, time).strip(" ()") or "free"


def _differences(first: _End, second: _End) -> Iterator[tuple[str, str, str]]:
    """Give the name and both texts of each difference."""
    for what, one in first.said.items():
        if one != (other := second.said[what]):
            yield what, one, other


_LONGEST_CONDITION = 300


def explorer_pages(explorer: Explorer) -> APIRouter:
    """Make the routes below `/x`."""
    router = APIRouter()
    _add_pages(router, explorer)
    _add_runs(router, explorer)
    return router


def _add_pages(router: APIRouter, explorer: Explorer) -> None:
    @router.get("/scenarios/{name}")
    def scenario(name: str, cell: str = "", jobs: str = "2", nodes: str = "2") -> Response:
        from rebecsim.web.cut_scenarios import cut_scenario

        if not explorer.library.opens_scenarios:
            raise UnknownPlaceError("This server is for a class and opens no scenarios.")
        sizes = _number(jobs, "jobs") or 0, _number(nodes, "nodes") or 0
        return RedirectResponse(Place(cut_scenario(name, cell, *sizes).id, (), 0).address(), 303)

    @router.get("/x/{model}")
    def beginning(model: str) -> Response:
        return RedirectResponse(Place(model, (), 0).address(), 303)

    @router.get("/x/{model}/{run}")
    def explore(
        model: str, run: str, at: str | None = None, tour: str = "", why: str = "", never: str = ""
    ) -> Response:
        place = read_place(model, run, at, tour)
        return HTMLResponse(explorer.page(place, why=why, never=never[:_LONGEST_CONDITION]))

    def races_page(template: str, model: str, run: str, at: str | None, tour: str) -> Response:
        place = read_place(model, run, at, tour)
        listed, _ = explorer.opened(place)
        if not listed.shows_answers:
            raise UnknownPlaceError("Your teacher has not opened this page for your class yet.")
        inquiry = explorer.verdicts.ask(listed, races=True)
        return HTMLResponse(
            rendered(
                template, listed=listed, place=place, inquiry=inquiry, tour=tour_panel(place.tour)
            )
        )

    @router.get("/x/{model}/{run}/races")
    def races(model: str, run: str, at: str | None = None, tour: str = "") -> Response:
        return races_page("races.html.j2", model, run, at, tour)

    @router.get("/x/{model}/{run}/races/found")
    def races_found(model: str, run: str, at: str | None = None, tour: str = "") -> Response:
        return races_page("races_found.html.j2", model, run, at, tour)

    @router.get("/x/{model}/{run}/graph")
    def graph(
        model: str,
        run: str,
        at: str | None = None,
        tour: str = "",
        states: str = "",
        find: str = "",
    ) -> Response:
        place, find = read_place(model, run, at, tour), find.strip()[:_LONGEST_CONDITION]
        listed, steppers = explorer.opened(place)
        error = ""
        with steppers.aside(place.behind) as stepper:
            try:
                shown = graph_of(stepper, place, most_states(states), find)
            except UserError as wrong:
                error = shown_error(wrong)
                shown = graph_of(stepper, place, most_states(states), "")
        page = rendered(
            "graph.html.j2", listed=listed, place=place, find=find, error=error, **shown
        )
        return HTMLResponse(page, 400 if error else 200)

    @router.get("/x/{model}/{run}/beside")
    def two(request: Request, model: str, run: str) -> Response:
        place = read_place(model, run, None)
        other = read_place(model, request.query_params.get("with", ""), None)
        listed, steppers = explorer.opened(place)
        shown = beside(steppers, place, other)
        return HTMLResponse(rendered("beside.html.j2", listed=listed, place=place, **shown))

    @router.get("/x/{model}/{run}/verdict")
    def verdict(
        model: str, run: str, at: str | None = None, tour: str = "", never: str = ""
    ) -> Response:
        place = read_place(model, run, at, tour)
        listed, _ = explorer.opened(place)
        inquiry = explorer.verdicts.ask(listed, never[:_LONGEST_CONDITION])
        return HTMLResponse(
            rendered("verdict.html.j2", listed=listed, place=place, inquiry=inquiry)
        )


def _add_runs(router: APIRouter, explorer: Explorer) -> None:
    @router.get("/x/{model}/{run}/model.rebeca")
    def source(model: str, run: str) -> Response:
        listed, _ = explorer.opened(read_place(model, run, None))
        return download(listed.shown_text, listed.file.name)

    @router.get("/x/{model}/{run}/run.svg")
    def drawing(model: str, run: str, at: str | None = None) -> Response:
        place = read_place(model, run, at)
        listed, steppers = explorer.opened(place)
        with steppers.at(place.behind) as stepper:
            svg = sequence_diagram(stepper.path())
        return download(svg, f"{listed.file.stem}.svg", "image/svg+xml")

    @router.get("/x/{model}/{run}/graph.svg")
    def graph(
        model: str, run: str, at: str | None = None, states: str = "", find: str = ""
    ) -> Response:
        place = read_place(model, run, at)
        listed, steppers = explorer.opened(place)
        with steppers.aside(place.behind) as stepper:
            svg = drawn_graph(stepper, most_states(states), find.strip()[:_LONGEST_CONDITION])
        return download(svg, f"{listed.file.stem}_states.svg", "image/svg+xml")

    @router.get("/x/{model}/{run}/run.json")
    def saved(model: str, run: str, at: str | None = None, never: str = "") -> Response:
        place = read_place(model, run, at)
        _, data = explorer.recorded(place, never[:_LONGEST_CONDITION])
        name = f"{explorer.opened(place)[0].file.stem}.json"
        return download(json.dumps(data, indent=1), name, "application/json")

    @router.get("/x/{model}/{run}/test.py")
    def test(model: str, run: str, at: str | None = None, never: str = "") -> Response:
        place = read_place(model, run, at)
        kept = Path(safe_name(explorer.opened(place)[0].file.name))
        name = f"test_{kept.stem}.py"
        text = explorer.as_test(place, never[:_LONGEST_CONDITION], kept, Path(name))
        return download(text, name, "text/x-python")

    @router.post("/x/{model}/{run}/on")
    async def on(
        request: Request, model: str, run: str, at: str | None = None, tour: str = ""
    ) -> Response:
        form = read_form(await request.body())
        place = read_place(model, run, at, tour)
        return await run_in_threadpool(_gone_on, explorer, place, form)

    @router.post("/x/{model}/{run}/reach")
    async def reach(
        request: Request, model: str, run: str, at: str | None = None, tour: str = ""
    ) -> Response:
        never = read_form(await request.body()).get("condition", "").strip()
        place = read_place(model, run, at, tour)
        return await run_in_threadpool(_reaching, explorer, place, never)


def _gone_on(explorer: Explorer, place: Place, form: dict[str, str]) -> Response:
    """Let a run go on by itself, and redirect to its end."""
    _, steppers = explorer.opened(place)
    try:
        steps = _number(form.get("steps", "1"), "steps") or 1
        until = _number(form.get("until", ""), "the time")
        stop_if = _condition(form.get("stop", ""))
        is_short = steps == 1 and until is None
        with steppers.at(place.behind) if is_short else steppers.aside(place.behind) as stepper:
            stop: Stop = go_on(stepper, steps=steps, until=until, stop_if=stop_if)
            run = stepper.ordinals
    except UserError as error:
        return HTMLResponse(explorer.page(place, error=str(error)), 400)
    there = place._replace(run=run, at=len(run))
    if place.run[: len(run)] == run:  # back to an earlier time: the rest stays
        there = place.moved(len(run))
    return RedirectResponse(there.address(why=stop.reason), 303)


def _reaching(explorer: Explorer, place: Place, never: str) -> Response:
    """Check a condition, and redirect to the page that searches for a run to it."""
    _, steppers = explorer.opened(place)
    if not never:
        hint = "Write a condition over variables of rebecs."
        return HTMLResponse(explorer.page(place, error=hint), 400)
    try:
        never = _condition(never)
        with steppers.at(place.behind) as stepper:
            go_on(stepper, steps=0, until=None, stop_if=never)  # whether it is one
    except UserError as error:
        return HTMLResponse(explorer.page(place, error=str(error)), 400)
    return RedirectResponse(place.address(never=never), 303)


def _condition(text: str) -> str:
    if len(text) > _LONGEST_CONDITION:
        raise UserError(f"A condition may have at most {_LONGEST_CONDITION} characters.")
    return text.strip()


def _number(text: str, what: str) -> int | None:
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > 9:
        raise UserError(f"{text[:40]!r} is not a number. Write whole digits for {what}.")
    return int(text)
