"""Checks that a model has everything that its scenario names, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from rebecsim.clusters.model.measures import BASE, own_columns
from rebecsim.clusters.model.observing import ALL, expression_fault, server_fault, server_names
from rebecsim.clusters.model.scenario import ModelScenario, Observe
from rebecsim.clusters.model.variants import (
    MODEL_SUFFIXES,
    ModelText,
    Opened,
    open_text,
    sweep_fault,
)
from rebecsim.lang import RebecaError
from rebecsim.lang.reading.parser import read_source
from rebecsim.studies.scenario_files import FieldError
from rebecsim.studies.sweeps import combinations, label_of
from rebecsim.studies.toml import FieldPath
from rebecsim.wording import suggestion

Given = TypeVar("Given", bound=ModelScenario)


def scenario_faults(scenario: ModelScenario, opened: Opened) -> Iterator[tuple[FieldPath, str]]:
    """Say which keys do not fit the model, and why."""
    if opened.model.core and scenario.steps is None:
        yield ("until",), "a model in Core Rebeca has no time; say how many steps a run has"
    for name in scenario.swept:
        if name in opened.checked.env:
            yield ("sweep", name), "is a key of scenarios too; give the constant another name"
    for name, values in scenario.varied.items():
        if fault := sweep_fault(opened, name, values):
            yield ("sweep", name), fault
    if scenario.terminal is not None:
        model, checked = opened.model, opened.checked
        if fault := expression_fault(scenario.terminal, model, checked, wants_condition=True):
            yield ("terminal",), fault
    if scenario.tick is not None and scenario.tick not in (names := server_names(opened.model)):
        hint = suggestion(scenario.tick, names)
        yield ("tick",), f"there is no message server {scenario.tick}; {hint}"
    yield from _observe_faults(scenario, opened)


def _observe_faults(scenario: ModelScenario, opened: Opened) -> Iterator[tuple[FieldPath, str]]:
    taken = dict.fromkeys(BASE, "which every run has")
    for place, each in enumerate(scenario.observe):
        if fault := _fault(each, opened):
            yield ("observe", place, each.what), fault
        for column in own_columns(each):
            if column in taken:
                yield (
                    ("observe", place),
                    f"has the column {column}, {taken[column]}; give it a name",
                )
            taken.setdefault(column, f"as entry {place}")


def _fault(each: Observe, opened: Opened) -> str | None:
    if each.is_followed and opened.model.core:
        return "a model in Core Rebeca has no time over which it could be followed"
    match each.what:
        case "value" | "first":
            wants_condition = each.what == "first"
            fault = expression_fault(each.text, opened.model, opened.checked, wants_condition)
            if fault and server_fault(opened.model, each.text) is None:
                return f"{each.text} is a message server; observe it as served or waits"
            return fault
        case "served" | "waits":
            return server_fault(opened.model, each.text)
        case "misses":
            return None if each.text == ALL else server_fault(opened.model, each.text)
    return None


def completed_scenario(scenario: Given, folder: Path) -> Given:
    """Read the model, and see whether what is asked for fits it. Raises FieldError."""
    path = folder / scenario.model
    if path.suffix not in MODEL_SUFFIXES:
        raise FieldError(
            [(("model",), f"{path} is not a model; the name of a model ends in .rebeca or .py")]
        )
    source = ModelText(str(path), read_source(path), scenario.core)
    opened = open_text(source)
    if faults := list(scenario_faults(scenario, opened)):
        raise FieldError(faults)
    for changes in combinations(scenario.varied) if scenario.varied else ():
        try:
            open_text(source.with_changes(changes))
        except RebecaError as error:
            # The position is in the printed variant, which the user has not seen.
            first = error.diagnostics[0]
            line = f", in {first.source_line.strip()!r}" if first.source_line else ""
            message = f"with {label_of(changes)} the model is wrong: {first.message}{line}"
            raise FieldError([(("sweep",), message)]) from error
    return scenario.model_copy(update={"text": source.text})
