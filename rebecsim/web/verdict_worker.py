"""Explore a model in a separate process: it reads a question and prints progress and a verdict.

Each is a line of JSON. A process can be stopped, has limits of its own and does not slow the pages.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from rebecsim.actors import Violation
from rebecsim.errors import UserError
from rebecsim.exploration import Limits, Progress, Question, Recorded, Result, explore
from rebecsim.interface.exploring import ask
from rebecsim.interface.loading import LoadedModel, as_loaded, loads


def main() -> None:
    """Answer the question on standard input."""
    asked = json.loads(sys.stdin.readline())
    say(answered(asked))


def answered(asked: dict[str, Any]) -> dict[str, Any]:
    """Give a verdict, or the reason that there is none."""
    try:
        return verdict(asked)
    except (UserError, Violation) as error:
        given = getattr(error, "verdict", "cannot be explored")
        return {"verdict": given, "text": _without_folders(str(error), asked)}
    except MemoryError:
        return {"verdict": "undecided", "text": "it used all the memory that a search may have"}


def say(what: dict[str, Any]) -> None:
    """Print a line at once."""
    print(json.dumps(what), flush=True)


def verdict(asked: dict[str, Any]) -> dict[str, Any]:
    """Explore and give the result. Raises UserError, Violation."""
    loaded = _loaded(asked)
    limits = Limits(**asked["limits"])
    invariants = tuple(asked["invariants"])
    question = ask(loaded, False, invariants, asked["questions"], limits=limits)
    if asked["races"]:
        return _races(asked["model"], loaded, question, limits)
    result = explore(
        loaded.model,
        mode=question.mode,
        checks=question.checks(),
        checked=loaded.checked,
        limits=limits,
        progress=_show,
    )
    return _plain(result, question)


def _races(model: str, loaded: LoadedModel, question: Question, limits: Limits) -> dict[str, Any]:
    from rebecsim.exploration import find_races
    from rebecsim.web.race_pages import shown_races

    found = find_races(
        loaded.model,
        mode=question.mode,
        checks=question.checks(),
        checked=loaded.checked,
        limits=limits,
        progress=_show,
    )
    return {
        "verdict": "looked at",
        "text": "",
        "states": found.states,
        "found": shown_races(model, found),
    }


def _loaded(asked: dict[str, Any]) -> LoadedModel:
    if asked.get("cut") is not None:
        from rebecsim.web.cut_scenarios import CutScenario

        return CutScenario(**asked["cut"]).opened()
    if asked["python"] is None:
        return loads(asked["text"], asked["name"])
    from rebecsim.generate.module import python_model

    return as_loaded(python_model(asked["text"], Path(asked["python"])))


def _without_folders(text: str, asked: dict[str, Any]) -> str:
    """Leave out the folders of files, which readers of the page need not know."""
    for file in (asked["questions"], asked["python"]):
        text = text if file is None else text.replace(file, Path(file).name)
    return text


def _show(progress: Progress) -> None:
    say({"states": progress.states, "frontier": progress.frontier})


def _plain(result: Result, question: Question) -> dict[str, Any]:
    first = result.violations[0] if result.violations else None
    text = first.message if first else result.message if result.bounds else ""
    ends = result.ends
    path = result.path if ends is None else ends.path
    if path is not None and path.mode != question.mode:
        # Its transitions are those of a finer system, which the explorer does not walk.
        path, text = None, f"{text}; `rebecsim explore` shows a run"
    # Readers of the run need no path of this machine.
    named = replace(question, file=Path(question.file).name)
    recorded = path is not None and path.breach is not None
    return {
        "verdict": result.verdict,
        "text": text,
        "ends": "" if ends is None else ends.text,
        "states": result.states,
        "run": None if path is None else list(path.ordinals),
        "loop": None if path is None else path.loop,
        "recorded": Recorded.of(path, named).to_json() if path and recorded else None,
    }


if __name__ == "__main__":
    main()
