"""Scenarios made from a command line: a model, and what to observe of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebecsim.actors import Model
from rebecsim.clusters.model.observing import ALL
from rebecsim.clusters.model.scenario import ModelScenario, Swept
from rebecsim.clusters.model.variants import MODEL_SUFFIXES, ModelText, open_text, sweep_fault
from rebecsim.clusters.scenarios import LoadedScenario
from rebecsim.errors import UserError
from rebecsim.generate.module import load_checked
from rebecsim.lang import CheckedModel
from rebecsim.lang.reading.parser import read_source
from rebecsim.studies.scenario import validated
from rebecsim.studies.scenario_files import FieldError, ScenarioError
from rebecsim.studies.sweeps import read_sweep
from rebecsim.studies.toml import FieldPath

_KEY = re.compile(r"(value|served|waits|misses|first|outcome)=(?!=)(.*)", re.S)
_MISSES = "misses"


@dataclass(frozen=True)
class _Given:
    """What was given, to name it in errors."""

    observe: Sequence[str]
    origin: str
    dashes: str

    def option(self, path: FieldPath) -> str:
        """Say which option a key comes from."""
        match path:
            case ("observe", int(place), *_):
                return f"{self.dashes}observe {self.observe[place]!r}"
            case ("sweep", str(name), *_):
                return f"{self.dashes}env {name}" if self.dashes else f"sweep {name}"
            case (str(name), *_) if name in ("until", "steps", "core"):
                return f"{self.dashes}{name}"
        return self.origin


def short_scenario(
    model: Path,
    observe: Sequence[str],
    *,
    sweep: Mapping[str, Sequence[Swept]],
    every: int | None = None,
    dashes: str = "--",
    **settings: object,
) -> LoadedScenario:
    """Make the scenario of a model; `settings` are keys of `ModelScenario`, None for its default.

    `every` follows the values that are observed over time. What is wrong is said with the option,
    which begins with `dashes`; without dashes it is an argument of a function. Raises UserError;
    RebecaError or LoadError for the model.
    """
    values: dict[str, Any] = {
        "name": re.sub(r"[^a-z0-9]+", "_", f"m_{model.stem.lower()}").removeprefix("m_") or "model",
        "title": model.stem,
        "model": model.name,
        "observe": [observation(each, every) for each in observe],
        "sweep": {name: list(values) for name, values in sweep.items()},
        **{name: value for name, value in settings.items() if value is not None},
    }
    if not values["name"][0].isalpha():
        values["name"] = f"model_{values['name']}"
    given = _Given(observe, str(model) if dashes else model.name, dashes)
    if every is not None and not any("every" in each for each in values["observe"]):
        raise UserError(f"{dashes}every follows variables over time; give one with {dashes}observe")
    if not model.is_file():
        raise UserError(f"{model}: there is no such file")
    try:
        scenario = validated(ModelScenario, given.origin, values, {})
        return LoadedScenario(scenario.completed(model.parent), model.parent)
    except FieldError as error:
        raise UserError(
            "\n".join(f"{given.option(path)}: {message}" for path, message in error.problems)
        ) from error
    except ScenarioError as error:
        raise UserError(_of_options(error, given)) from error


def single_variant(
    model: Path, env: Sequence[str], core: bool = False
) -> tuple[Model, CheckedModel | None]:
    """Load a model with other values of constants and arguments.

    Raises UserError for values that do not fit, RebecaError or LoadError for the model.
    """
    swept = read_sweep(env, "--env", numbers_only=True)
    for name, values in swept.items():
        if len(values) > 1:
            raise UserError(f"--env {name}: one run has one value; give --runs for several")
    if model.suffix not in MODEL_SUFFIXES or not model.is_file():
        load_checked(model)  # raises the error that fits
    source = ModelText(str(model), read_source(model), core)
    opened = open_text(source)
    for name, values in swept.items():
        if fault := sweep_fault(opened, name, tuple(values)):
            raise UserError(f"--env {name}: {fault}")
    changed = open_text(source.with_changes(tuple((name, each[0]) for name, each in swept.items())))
    return changed.model, None if changed.against else changed.checked


def _of_options(error: ScenarioError, given: _Given) -> str:
    """Name the option that each problem is of, where one of `--observe` is wrong."""
    lines = []
    for problem in error.problems:
        place = re.match(r"observe\[(\d+)\]", problem.field)
        where = given.option(("observe", int(place[1]))) if place else problem.field
        lines.append(": ".join(filter(None, (where or given.origin, problem.message))))
    return "\n".join(lines)


def observation(text: str, every: int | None = None) -> dict[str, object]:
    """Read what is to be observed: `office.left`, or `waits=office.buy` and the like."""
    if text == _MISSES:
        return {_MISSES: ALL}
    found = _KEY.fullmatch(text)
    what, said = (found[1], found[2].strip()) if found else ("value", text)
    followed = {} if every is None or what != "value" else {"every": every}
    return {what: said, **followed}
