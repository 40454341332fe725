"""Render the pages of studies: the form, and the progress of those that were started."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rebecsim.clusters.kinds import find_kind, kind_names
from rebecsim.errors import UserError
from rebecsim.interface.searching import cells_text
from rebecsim.studies.executors import available_workers
from rebecsim.studies.scenario_files import ScenarioError, ScenarioProblem
from rebecsim.studies.toml_edits import toml_text
from rebecsim.web.rendering import UnknownPlaceError, rendered, shown_error
from rebecsim.web.studies.forms import (
    GROUPS,
    FormField,
    every_field,
    fields_of,
    shown,
    with_field,
    with_table,
)
from rebecsim.web.studies.run_finder import id_of
from rebecsim.web.studies.run_views import RunViews
from rebecsim.web.studies.scenarios import (
    questions_by_kind,
    text_of_builtin,
    values_of,
)
from rebecsim.web.studies.study_process import (
    ALIVE,
    BUDGET,
    LONGEST_SCENARIO,
    OVER,
    Request,
    StartedStudy,
    StudyState,
    read_request,
    start_study,
    started_studies,
)
from rebecsim.wording import clipped

_LONGEST_SUMMARY = 90
_BUDGET = 1_000
"""Runs of a search, unless the user says otherwise."""
_LAST = re.compile(r"(^|\.|\[)[^.\[]*$")


@dataclass(frozen=True)
class Checked:
    """A checked scenario: the mistakes of each field and of the whole.

    Attributes:
        text: the scenario, with the changes that could be made.
        layout: what is another text when the form has to have other fields.
        kind: its kind, if it has one.
        values: what each field is to show.
        problems: name of a field -> what is wrong there.
        general: what is wrong elsewhere.
        said: what would be run, if nothing is wrong.
    """

    text: str
    layout: str
    kind: str
    values: dict[str, str]
    problems: dict[str, list[str]]
    general: list[str]
    said: str


class StudyViews:
    """The pages about studies over a directory; they can be started only if there is one."""

    def __init__(self, runs: RunViews) -> None:
        self._runs = runs
        self._root = runs.finder.root

    def index(self) -> str:
        """Give the page that lists studies to start and studies that were started."""
        studies = [] if self._root is None else list(started_studies(self._root))
        return rendered(
            "studies/studies.html.j2",
            root=self._root,
            studies=[(id_of(each.name), each.name, each.state, each.progress) for each in studies],
            kinds=kind_names(),
            questions=questions_by_kind(),
        )

    # --- the form ------------------------------------------------------------------------------

    def form_of(self, kind: str, builtin: str, run: str) -> str:
        """Give the form for a kind, a built-in scenario, or what a run was. Raises UserError."""
        text = text_of_builtin(builtin) if builtin else None
        if text is not None:
            return self.form({"toml": text, "builtin": "yes"}, applied=False)
        if run:
            return self.form(self._again(run), applied=False)
        if kind not in kind_names():
            raise UnknownPlaceError("There is no kind of study or scenario of this name.")
        values = {"toml": f'kind = "{kind}"\nname = "my_study"\n'}
        return self.form(values, applied=False)

    def form(self, sent: Mapping[str, str], *, applied: bool, error: str = "") -> str:
        """Give the form as it was sent, the changes of its fields applied if that is wanted."""
        changes = {n.removeprefix("f:"): v for n, v in sent.items() if n.startswith("f:")}
        found = self.check(sent, changes if applied else {}, sent.get("act", "") if applied else "")
        name = sent.get("name") or self._free_name(str((values_of(found.text) or {}).get("name")))
        return rendered(
            "studies/form.html.j2",
            found=found,
            fields=_fields(found.text),
            question=str((values_of(found.text) or {}).get("title", "")),
            parted=lambda fields: _parted(fields, found),
            has_problems=lambda fields: _has_problems(fields, found),
            summary=lambda field: _summary(field, found),
            builtin=sent.get("builtin", ""),
            name=name,
            workers=sent.get("workers") or "1",
            most_workers=available_workers(),
            orders=sent.get("orders", "" if "name" in sent else "yes"),
            what=sent.get("what", ""),
            budget=sent.get("budget") or _BUDGET,
            over=sent.get("over", ""),
            labels=(OVER, BUDGET),
            has_orders="orders" in find_kind(found.kind).options if found.kind else False,
            error=error,
            root=self._root,
        )

    def check(self, sent: Mapping[str, str], changes: Mapping[str, str], act: str = "") -> Checked:
        """Check a scenario, after some of its fields have been changed.

        `act` names a list that gets another table, or a table that goes from its list.
        """
        text = sent.get("toml", "").replace("\r\n", "\n")[:LONGEST_SCENARIO]
        problems: dict[str, list[str]] = {}
        for name, typed in changes.items():
            try:
                text = with_field(text, _by_name(text).get(name), typed)
            except UserError as error:
                problems.setdefault(name, []).append(str(error))
        fields = _by_name(text := with_table(text, _by_name(text).get(act)))
        general, said = self._wrong(sent, text, fields, problems)
        values = values_of(text) or {}
        shown_values = {name: shown(of, values) for name, of in fields.items()}
        layout = hashlib.sha256("\n".join(fields).encode()).hexdigest()[:16]
        return Checked(text, layout, _kind(text), shown_values, problems, general, said)

    def start(self, sent: Mapping[str, str]) -> str:
        """Start a study and give its id. Raises UserError."""
        if self._root is None:
            raise UserError("Studies need a directory: start `rebecsim web DIRECTORY`.")
        text = sent.get("toml", "").replace("\r\n", "\n")
        if len(text) > LONGEST_SCENARIO:
            raise UserError(f"A scenario may have at most {LONGEST_SCENARIO:,} characters.")
        workers = sent.get("workers", "1").strip()
        if not re.fullmatch(r"\d{1,3}", workers, re.ASCII) or not (
            1 <= int(workers) <= available_workers()
        ):
            raise UserError(f"The number of workers must be from 1 to {available_workers()}.")
        request = replace(_request_of(sent, text), workers=int(workers))
        loaded = request.loaded(self._root)  # it says now what is wrong
        orders = request.orders and "orders" in loaded.study.options
        return id_of(start_study(self._root, replace(request, orders=orders)).name)

    def _wrong(
        self,
        sent: Mapping[str, str],
        text: str,
        fields: Mapping[str, FormField],
        problems: dict[str, list[str]],
    ) -> tuple[list[str], str]:
        """Give the mistakes of a scenario, by field and in general; or what it would run."""
        general: list[str] = []
        try:
            request = _request_of(sent, text)
            plan = request.loaded(self._root or Path("/nonexistent")).plan()
        except ScenarioError as error:
            for each in error.problems:
                place = _field_of(each, fields)
                where = problems.setdefault(place, []) if place else general
                where.append(self._named(_said(each, place)))
        except (UserError, OSError) as error:
            general.append(self._named(str(error)))
        else:
            if not problems:
                return [], cells_text(plan)
        return general, ""

    def _again(self, run: str) -> dict[str, str]:
        """Give the scenario that a run was made from."""
        found = self._runs.finder.find(run)
        study = StartedStudy(found.directory)
        if study in self._started():
            request = read_request(found.directory)
            again = {"toml": request.text, "builtin": "yes" if request.builtin else ""}
            asked = {"what": request.what, "over": request.over, "budget": str(request.budget)}
            return again | (asked if request.what else {})
        return {"toml": toml_text(found.stored.scenario)}

    def _free_name(self, name: str) -> str:
        base = re.sub(r"[^a-z0-9_-]", "_", name.casefold())[:50] or "study"
        tries = [base, *(f"{base}-{number}" for number in range(2, 1000))]
        root = self._root
        return next((each for each in tries if root is None or not (root / each).exists()), base)

    # --- a study that was started --------------------------------------------------------------

    def page(self, study: str) -> str:
        """Give the page of a study. Raises UnknownPlaceError."""
        found = self._find(study)
        state, parts = self.parts(study)  # it may be another one by now, as the stream will say
        return rendered(
            "studies/study.html.j2", study=found, id=study, parts=parts, alive=state in ALIVE
        )

    def parts(self, study: str) -> tuple[StudyState, dict[str, str]]:
        """Give what the page of a study shows, in parts that change at different times."""
        found = self._find(study)
        state = found.state
        figures = self._stored(study)
        values = {
            "study": found,
            "state": state,
            "id": study,
            "why": self._why(found),
            "has_run": figures is not None,
        }
        parts = {
            part: rendered(f"studies/study_{part}.html.j2", **values)
            for part in ("controls", "status", "log")
        }
        parts["figures"] = figures or ""
        return state, parts

    def act(self, study: str, what: str) -> None:
        """Pause, go on with or cancel a study. Raises UserError."""
        found = self._find(study)
        actions = {"pause": found.pause, "resume": found.go_on, "cancel": found.cancel}
        if what not in actions:
            raise UnknownPlaceError("A study can be paused, resumed or cancelled.")
        actions[what]()

    def _stored(self, study: str) -> str | None:
        """Give the figures of its run as HTML; None as long as there is no run."""
        try:
            return self._runs.figures(study)
        except UserError:
            return None

    def _why(self, study: StartedStudy) -> str:
        return self._named(study.why)

    def _named(self, text: str) -> str:
        """Shorten what is said, and name files by where they are below the directory."""
        return shown_error(self._runs.finder.without_root(text))

    def _find(self, study: str) -> StartedStudy:
        for each in self._started():
            if id_of(each.name) == study:
                return each
        raise UnknownPlaceError("There is no study at this address. It was moved or removed.")

    def _started(self) -> list[StartedStudy]:
        return [] if self._root is None else list(started_studies(self._root))


def _request_of(sent: Mapping[str, str], text: str) -> Request:
    """Give what a form asks for. Raises UserError for a budget that is no number."""
    what, budget = sent.get("what", ""), sent.get("budget", "").strip() or str(_BUDGET)
    if not re.fullmatch(r"\d{1,9}", budget, re.ASCII):
        raise UserError(f"{BUDGET}: it must be a number of runs.")
    return Request(
        sent.get("name", "").strip(),
        text,
        bool(sent.get("builtin")),
        1,
        not what and bool(sent.get("orders")),
        what,
        int(budget) if what == "tune" else 0,
        sent.get("over", "") if what else "",
    )


def _kind(text: str) -> str:
    kind = (values_of(text) or {}).get("kind")
    return kind if isinstance(kind, str) and kind in kind_names() else ""


def _fields(text: str) -> tuple[FormField, ...]:
    kind = _kind(text)
    schema = find_kind(kind).scenario.model_json_schema() if kind else {}
    return fields_of(schema, values_of(text) or {})


def _parted(fields: Sequence[FormField], found: Checked) -> tuple[list[FormField], list[FormField]]:
    """Part fields that are needed or given from the others, which have defaults; groups last."""
    ordered = sorted(fields, key=lambda each: each.shape in GROUPS)
    basic = [each for each in ordered if each.required or found.values.get(each.name)]
    return basic, [each for each in ordered if each not in basic]


def _has_problems(fields: Sequence[FormField], found: Checked) -> bool:
    return any(found.problems.get(each.name) for each in every_field(tuple(fields)))


def _summary(field: FormField, found: Checked) -> str:
    """Summarise a table of a list in a line."""
    given = ((each.label, found.values.get(each.name, "")) for each in field.inner)
    said = ", ".join(f"{label} {value}" for label, value in given if value and value != "yes")
    return clipped(said, _LONGEST_SUMMARY) or "empty"


def _by_name(text: str) -> dict[str, FormField]:
    return {each.name: each for each in every_field(_fields(text))}


def _field_of(problem: ScenarioProblem, fields: Mapping[str, FormField]) -> str:
    """Give the field that a problem is with, or the nearest one around it."""
    name = problem.field
    while name and name not in fields:
        name = _LAST.sub("", name)
    return name


def _said(problem: ScenarioProblem, place: str) -> str:
    named = "" if problem.field == place else problem.field
    line = "" if problem.line is None else f"line {problem.line}"
    return ": ".join(filter(None, (line, named, problem.message)))
