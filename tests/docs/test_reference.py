"""The reference pages name everything that there is, as it is."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from rebecsim.clusters import (
    ARRIVAL_PATTERNS,
    LENGTH_PATTERNS,
    Eviction,
    HighPriority,
    Power,
    WorkloadPattern,
)
from rebecsim.clusters.batch.measures import SCHEDULE_METRICS
from rebecsim.clusters.batch.policies.orders import Settings
from rebecsim.clusters.batch.scenario import (
    BatchScenario,
    ExpectedEnds,
    Gantt,
    Generate,
    MachineTable,
    NodesTable,
    WorkloadSource,
)
from rebecsim.clusters.dispatch.policies import BUILTIN_DISPATCH_POLICIES
from rebecsim.clusters.dispatch.scenario import Scenario
from rebecsim.clusters.mapreduce import configuration, scenario as mapreduce, workload_tables
from rebecsim.clusters.mapreduce.measures import MAPREDUCE_MEASURES
from rebecsim.clusters.mapreduce.schedulers.registry import BUILTIN_SLOT_SCHEDULERS
from rebecsim.clusters.mapreduce.tables import TABLES as MAPREDUCE_TABLES
from rebecsim.clusters.model.scenario import ModelScenario, Observe
from rebecsim.clusters.stages import scenario as stages
from rebecsim.clusters.stages.managers.registry import BUILTIN_STAGES_POLICIES
from rebecsim.clusters.stages.measures import STAGES_MEASURES, TABLES as STAGES_TABLES
from rebecsim.clusters.yarn import scenario as yarn
from rebecsim.clusters.yarn.configuration import Quirks
from rebecsim.clusters.yarn.measures import YARN_MEASURES
from rebecsim.clusters.yarn.schedulers.registry import BUILTIN_YARN_SCHEDULERS
from rebecsim.clusters.yarn.tables import TABLES as YARN_TABLES
from rebecsim.studies.scenario import Table
from tests.conftest import Run
from tests.docs.markdown import ROOT, read_document
from tests.docs.tables import (
    COMMANDS,
    REFERENCE,
    Command,
    keys_table,
    metrics_table,
    options_table,
    parameters_of,
    policies_table,
    require_table,
    views_table,
    written,
)

SCENARIO = ROOT / "docs/reference/scenario.md"
WORKLOAD_SCENARIO = ROOT / "docs/reference/workload-scenario.md"
MODEL_SCENARIO = ROOT / "docs/reference/model-scenario.md"
MAPREDUCE_SCENARIO = ROOT / "docs/reference/mapreduce-scenario.md"
STAGES_SCENARIO = ROOT / "docs/reference/stages-scenario.md"
YARN_SCENARIO = ROOT / "docs/reference/yarn-scenario.md"
PATTERNS = list(dict.fromkeys((*ARRIVAL_PATTERNS.values(), *LENGTH_PATTERNS.values())))


@pytest.mark.parametrize("page", sorted(REFERENCE.glob("*.md")), ids=lambda page: page.stem)
def test_the_tables_of_a_page_are_up_to_date(page: Path) -> None:
    text = page.read_text("utf-8")
    assert written(text) == text, "write them anew: python -m tests.docs.tables"


def test_every_option_stands_where_its_command_says() -> None:
    elsewhere = re.compile(r"^\|(.*)\|\|(?:as for|see) \[.*\]\(#(.*)\)\|$", re.M)
    for command in COMMANDS:
        sections = command.page.read_text("utf-8").lower().split("\n## ")
        for names, anchor in elsewhere.findall(options_table(command)):
            (there,) = (each for each in sections if each.startswith(anchor.replace("-", " ")))
            for name in names.lower().split(", "):
                assert f"|{name}|" in there, (command, name, anchor)


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_every_command_has_a_section_with_its_options(command: Command) -> None:
    assert command.words[-1] in read_document(command.page).anchors
    if parameters_of(command.function):
        require_table(section_of(command), options_table(command), command.page)


def section_of(command: Command) -> str:
    """The text below the heading of a command, up to the next heading of its level."""
    text = command.page.read_text("utf-8")
    return text.partition(f"\n## {command.words[-1]}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_help_shows_the_same_options(run: Run, command: Command) -> None:
    helped = run(*command.words, "--help", columns=160)
    assert helped.returncode == 0
    _, _, below_the_options = helped.stdout.partition("\nOptions:\n")
    declared = {item.shown for item in parameters_of(command.function) if item.shown[:2] == "--"}
    shown = set(re.findall(r"--[a-z]+(?:-[a-z]+)*", below_the_options))
    assert {option for option in shown if not option.startswith("--no-")} == declared | {"--help"}


def test_the_reference_has_no_command_that_is_not_there() -> None:
    for page in {command.page for command in COMMANDS}:
        names = {command.words[-1] for command in COMMANDS if command.page == page}
        text = page.read_text("utf-8")
        for heading, section in re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", text, re.M | re.S):
            assert heading in names or "|Argument or option|" not in section, (page, heading)


@pytest.mark.parametrize("model", [Scenario, HighPriority, Power, Eviction])
def test_every_key_of_a_scenario_is_there(model: type[BaseModel]) -> None:
    require_table(SCENARIO.read_text("utf-8"), keys_table(model), SCENARIO)


@pytest.mark.parametrize(
    "model",
    [
        BatchScenario,
        WorkloadSource,
        Generate,
        MachineTable,
        NodesTable,
        Settings,
        ExpectedEnds,
        Gantt,
    ],
)
def test_every_key_of_a_workload_scenario_is_there(model: type[BaseModel]) -> None:
    require_table(WORKLOAD_SCENARIO.read_text("utf-8"), keys_table(model), WORKLOAD_SCENARIO)


@pytest.mark.parametrize("model", [ModelScenario, Observe])
def test_every_key_of_a_model_scenario_is_there(model: type[BaseModel]) -> None:
    require_table(MODEL_SCENARIO.read_text("utf-8"), keys_table(model), MODEL_SCENARIO)


@pytest.mark.parametrize(
    "model",
    [
        each
        for each in vars(yarn).values()
        if isinstance(each, type) and issubclass(each, Table) and each.__module__ == yarn.__name__
    ],
)
def test_every_key_of_a_yarn_scenario_is_there(model: type[BaseModel]) -> None:
    require_table(YARN_SCENARIO.read_text("utf-8"), keys_table(model), YARN_SCENARIO)


@pytest.mark.parametrize(
    "model",
    [
        each
        for module in (mapreduce, configuration, workload_tables)
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Table) and each.__module__ == module.__name__
    ],
)
def test_every_key_of_a_mapreduce_scenario_is_there(model: type[BaseModel]) -> None:
    require_table(MAPREDUCE_SCENARIO.read_text("utf-8"), keys_table(model), MAPREDUCE_SCENARIO)


@pytest.mark.parametrize(
    "model",
    [
        each
        for each in vars(stages).values()
        if isinstance(each, type)
        and issubclass(each, Table)
        and each.__module__.startswith(stages.__package__)
    ],
)
def test_every_key_of_a_stages_scenario_is_there(model: type[BaseModel]) -> None:
    require_table(STAGES_SCENARIO.read_text("utf-8"), keys_table(model), STAGES_SCENARIO)


@pytest.mark.parametrize(
    ("page", "policies", "measures", "tables"),
    [
        (MAPREDUCE_SCENARIO, BUILTIN_SLOT_SCHEDULERS, MAPREDUCE_MEASURES, MAPREDUCE_TABLES),
        (STAGES_SCENARIO, BUILTIN_STAGES_POLICIES, STAGES_MEASURES, STAGES_TABLES),
        (YARN_SCENARIO, BUILTIN_YARN_SCHEDULERS, YARN_MEASURES, YARN_TABLES),
    ],
    ids=["mapreduce", "stages", "yarn"],
)
def test_policies_figures_and_tables_of_a_kind_are_there(
    page: Path, policies: Any, measures: Any, tables: Any
) -> None:
    text = page.read_text("utf-8")
    require_table(text, policies_table(policies), page)
    require_table(text, metrics_table(measures), page)
    require_table(text, views_table(tables), page)


def test_every_quirk_of_dss_is_there() -> None:
    text = (ROOT / "docs/background/dss.md").read_text("utf-8")
    assert re.findall(r"^\|`(\w+)`\|", text, re.M) == [each.name for each in fields(Quirks)]


def test_every_metric_of_schedules_is_there() -> None:
    text = WORKLOAD_SCENARIO.read_text("utf-8")
    require_table(text, metrics_table(SCHEDULE_METRICS), WORKLOAD_SCENARIO)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.__name__)
def test_every_pattern_is_there(pattern: type[WorkloadPattern]) -> None:
    require_table(SCENARIO.read_text("utf-8"), keys_table(pattern), SCENARIO)
    for name in pattern.names():
        assert f"`{name}`" in SCENARIO.read_text("utf-8")


def test_every_policy_is_there() -> None:
    require_table(SCENARIO.read_text("utf-8"), policies_table(BUILTIN_DISPATCH_POLICIES), SCENARIO)


def test_the_values_of_patterns_are_what_the_page_says() -> None:
    """The page shows each pattern as a TOML table and its first values beside it."""
    classes = {name: kind for kind in PATTERNS for name in kind.names()}
    rows = re.findall(r"^\|`\{ (.*) \}`\|([\d, ]+), \.\.\.\|$", SCENARIO.read_text(), re.M)
    assert len(rows) >= len(PATTERNS) - 1  # nondet draws
    for toml, values in rows:
        table = tomllib.loads(f"x = {{ {toml} }}")["x"]
        kind = classes[table["pattern"]]
        if table["pattern"] == "uniform":
            kind = next(each for each in PATTERNS if table.keys() == each.model_fields.keys())
        pattern = kind.model_validate(table)
        expected = [int(value) for value in values.split(", ")]
        assert [pattern.alternatives(t) for t in range(len(expected))] == [(v,) for v in expected]
