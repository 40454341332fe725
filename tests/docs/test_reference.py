"""The reference pages name everything that there is, as it is."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest
from pydantic import BaseModel

from rebecsim.cluster import (
    ARRIVAL_PATTERNS,
    LENGTH_PATTERNS,
    Eviction,
    HighPriority,
    Power,
    WorkloadPattern,
)
from rebecsim.cluster.policies import BUILTIN_DISPATCH_POLICIES
from rebecsim.experiments import Scenario
from rebecsim.lang import parse_model, syntax, walk
from tests.docs.markdown import ROOT, read_document
from tests.docs.session import model_of
from tests.docs.tables import COMMANDS, keys_table, options_table, parameters_of, require_table

COMMAND_LINE = ROOT / "docs/reference/command-line.md"
SCENARIO = ROOT / "docs/reference/scenario.md"
LANGUAGE = ROOT / "docs/reference/language.md"
PATTERNS = list(dict.fromkeys((*ARRIVAL_PATTERNS.values(), *LENGTH_PATTERNS.values())))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_section_with_its_options(name: str) -> None:
    assert name in read_document(COMMAND_LINE).anchors
    if parameters_of(COMMANDS[name]):
        require_table(COMMAND_LINE, options_table(COMMANDS[name]))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_the_same_options(name: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "rebecsim", name, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={"COLUMNS": "160", "PATH": "", "PYTHONUTF8": "1", "TERM": "dumb"},
    )
    _, _, below_the_options = run.stdout.partition(" Options ")
    declared = {item.shown for item in parameters_of(COMMANDS[name]) if item.shown[0] == "-"}
    shown = set(re.findall(r"--[a-z]+(?:-[a-z]+)*", below_the_options))
    assert {option for option in shown if not option.startswith("--no-")} == declared | {"--help"}


@pytest.mark.parametrize("model", [Scenario, HighPriority, Power, Eviction])
def test_every_key_of_a_scenario_is_there(model: type[BaseModel]) -> None:
    require_table(SCENARIO, keys_table(model))


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.__name__)
def test_every_pattern_is_there(pattern: type[WorkloadPattern]) -> None:
    require_table(SCENARIO, keys_table(pattern))
    for name in pattern.names():
        assert f"`{name}`" in SCENARIO.read_text("utf-8")


def test_every_policy_is_there() -> None:
    for policy in BUILTIN_DISPATCH_POLICIES:
        assert f"| `{policy.name}` | {policy.description} |\n" in SCENARIO.read_text("utf-8")


def test_the_values_of_patterns_are_what_the_page_says() -> None:
    """The page shows each pattern as a TOML table and its first values beside it."""
    classes = {name: kind for kind in PATTERNS for name in kind.names()}
    rows = re.findall(r"^\| `\{ (.*) \}` \| ([\d, ]+), \.\.\. \|$", SCENARIO.read_text(), re.M)
    assert len(rows) >= len(PATTERNS) - 1  # nondet draws
    for toml, values in rows:
        table = tomllib.loads(f"x = {{ {toml} }}")["x"]
        kind = classes[table["pattern"]]
        if table["pattern"] == "uniform":
            kind = next(each for each in PATTERNS if table.keys() == each.model_fields.keys())
        pattern = kind.model_validate(table)
        expected = [int(value) for value in values.split(", ")]
        assert [pattern.alternatives(t) for t in range(len(expected))] == [(v,) for v in expected]


def test_the_language_page_has_every_statement_and_expression() -> None:
    """Every kind of node of a syntax tree stands in some example of the page."""
    wanted = {
        kind
        for kind in vars(syntax).values()
        if isinstance(kind, type) and issubclass(kind, syntax.Node) and not kind.__subclasses__()
    } - {syntax.Member}  # for property files
    frame = ""
    seen = set()
    for block in read_document(LANGUAGE).blocks:
        if block.language == "rebeca" and "error" not in block.options:
            text = model_of(block, frame)
            frame = text if "frame" in block.options else frame
            seen |= {type(node) for node in walk(parse_model(text))}
    assert wanted - seen == set()
