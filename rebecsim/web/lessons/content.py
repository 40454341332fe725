"""Read lessons, the tour, the plan and the quiz from the TOML files beside this module."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

QUIZ = "quiz"
"""What the quiz is called where a teacher opens its answers, as lessons are by their names."""

_EMPHASISED = r"(?<!\w)\*(\w[^*]*)\*(?!\w)"


@dataclass(frozen=True)
class Case:
    """A model of a lesson: a file of the package, its changes, and the expected verdict.

    `never` is a condition that one asks about; `questions` a property file of the package. `ends`
    is how what is said of the ends of runs begins, or "never" if no run ends.
    """

    what: str
    model: str
    replace: tuple[tuple[str, str], ...] = ()
    never: str = ""
    verdict: str = "satisfied"
    states: int | None = None
    ends: str = ""
    questions: str = ""
    run: str = "-"
    races: bool = False

    @property
    def text(self) -> str:
        """The text with its changes."""
        text = packaged(self.model).read_text("utf-8")
        for old, new in self.replace:
            if text.count(old) != 1:
                raise AssertionError(f"{self.model}: {old!r} is not there once")
            text = text.replace(old, new)
        return text

    @property
    def property_file(self) -> Path | None:
        """The property file that belongs to it."""
        return packaged(self.questions) if self.questions else None


@dataclass(frozen=True)
class Exercise:
    """An exercise: its hint, a solution to explore, and what often goes wrong."""

    task: str
    minutes: int
    hint: str
    solution: str
    wrong: str
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class Lesson:
    """A teaching model with a question: pupils predict first, then look.

    `hides` names other models that solve an exercise, `spoilers` are the comments in its own model
    that hold an answer. Pupils see neither before the teacher opens the lesson.
    """

    name: str
    title: str
    model: str
    minutes: int
    question: str
    text: str
    look: str
    hint: str
    answer: str
    cases: tuple[Case, ...]
    exercises: tuple[Exercise, ...]
    hides: tuple[str, ...] = ()
    spoilers: tuple[str, ...] = ()

    def without_spoilers(self, text: str) -> str:
        """Give the text of its model without the comments that hold an answer."""
        for each in self.spoilers:
            text = text.replace(each, "")
        return text

    @property
    def all_minutes(self) -> int:
        """The estimated minutes of the lesson and its exercises."""
        return self.minutes + sum(each.minutes for each in self.exercises)


@dataclass(frozen=True)
class Stop:
    """A stop of the tour: a run of a model, and what to look at."""

    title: str
    text: str
    case: Case


@dataclass(frozen=True)
class PlanStep:
    """A part of the plan for 45 minutes: what pupils do, and what their teacher does and opens."""

    title: str
    minutes: int
    address: str
    pupils: str
    teacher: str
    opens: str = ""


@dataclass(frozen=True)
class QuizQuestion:
    """A question with choices, of which one is right: its place, and why."""

    text: str
    choices: tuple[str, ...]
    right: int
    why: str


@cache
def lessons() -> tuple[Lesson, ...]:
    """Give all lessons, easy ones first."""
    return tuple(_lesson(each) for each in _read("lessons.toml")["lesson"])


def lesson_about(model: str) -> Lesson | None:
    """Give the lesson about a model that comes with the program."""
    return next((each for each in lessons() if each.model == model), None)


def lesson_hiding(model: str) -> Lesson | None:
    """Give the lesson whose exercise a listed model solves."""
    return next((each for each in lessons() if model in each.hides), None)


@cache
def stops() -> tuple[Stop, ...]:
    """Give the stops of the tour."""
    return tuple(
        Stop(each["title"], each["text"], _case(each | {"what": each["title"]}, ""))
        for each in _read("tour.toml")["stop"]
    )


@cache
def plan_steps() -> tuple[PlanStep, ...]:
    """Give the parts of a lesson of 45 minutes, in order."""
    return tuple(PlanStep(**each) for each in _read("plan.toml")["step"])


@cache
def questions() -> tuple[QuizQuestion, ...]:
    """Give the questions of the quiz that ends it."""
    return tuple(
        QuizQuestion(**(each | {"choices": tuple(each["choices"])}))
        for each in _read("plan.toml")["question"]
    )


def packaged(name: str) -> Path:
    """Give a file of the models that come with the program."""
    return Path(str(files("rebecsim.models"))) / name


def prose(text: str) -> Markup:
    """Give paragraphs; what stands between backticks is code, and between stars emphasised."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return Markup("").join(map(_paragraph, paragraphs))


def _paragraph(text: str) -> Markup:
    found = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text)))
    found = re.sub(_EMPHASISED, r"<em>\1</em>", found)
    return Markup(f"<p>{found}</p>")  # escaped above


def _read(name: str) -> dict[str, Any]:
    text = files("rebecsim.web.lessons").joinpath(name).read_text("utf-8")
    return tomllib.loads(text)


def _lesson(plain: dict[str, Any]) -> Lesson:
    model = plain["model"]
    given = plain | {
        "name": Path(model).stem,
        "cases": _cases(plain, model),
        "hides": tuple(plain.get("hides", ())),
        "spoilers": tuple(plain.get("spoilers", ())),
        "exercises": tuple(
            Exercise(**(each | {"cases": _cases(each, model)})) for each in plain["exercises"]
        ),
    }
    return Lesson(**given)


def _cases(plain: dict[str, Any], model: str) -> tuple[Case, ...]:
    return tuple(_case(each, model) for each in plain["cases"])


def _case(plain: dict[str, Any], model: str) -> Case:
    names = Case.__dataclass_fields__
    given = {"model": model} | {name: value for name, value in plain.items() if name in names}
    return Case(**(given | {"replace": tuple(map(tuple, plain.get("replace", ())))}))
