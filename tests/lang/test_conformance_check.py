"""Every model and property file of the conformance suite is accepted or refused as it should be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from rebecsim.lang import (
    CheckedModel,
    Diagnostic,
    RebecaError,
    check_file,
    check_property,
    parse_property_file,
)

Place = tuple[int, int]


def refusal(results: list[dict[str, Any]]) -> str | None:
    """The reference's messages if the model is refused in every mode, also ideally."""
    verdicts = {result.get("ideal", result)["verdict"] for result in results}
    if verdicts != {"compile error"}:
        return None
    return str(results[0]["message"])


def places(message: str) -> list[Place]:
    """Lines and columns in a message of the reference, whose columns count from 0."""
    found = re.findall(r"line:(\d+), column:(\d+)", message)
    return [(int(line), int(column) + 1) for line, column in found]


def covers(diagnostic: Diagnostic, place: Place) -> bool:
    span = diagnostic.span
    line, column = place
    return span.line == line == span.end_line and span.column <= column < span.end_column


def assert_refused(diagnostics: tuple[Diagnostic, ...], message: str) -> None:
    expected = places(message)
    assert len(expected) == len(diagnostics) >= 1
    for diagnostic, place in zip(diagnostics, expected, strict=True):
        assert covers(diagnostic, place), (diagnostic, place)


def checked(conformance: Path, entry: dict[str, Any]) -> CheckedModel:
    return check_file(conformance / entry["file"], entry["language"])


def test_models(conformance: Path, manifest: list[dict[str, Any]]) -> None:
    refused = 0
    for entry in manifest:
        message = refusal([result for result in entry["results"] if "property" not in result])
        if message is None:
            assert checked(conformance, entry).instances, entry["file"]
            continue
        with pytest.raises(RebecaError) as caught:
            checked(conformance, entry)
        assert_refused(caught.value.diagnostics, message)
        refused += 1
    assert refused >= 1
    assert {entry["file"] for entry in manifest} == {
        path.name for path in conformance.glob("*.rebeca")
    }


def test_property_files(conformance: Path, manifest: list[dict[str, Any]]) -> None:
    seen = set()
    for entry in manifest:
        for name in {result["property"] for result in entry["results"] if "property" in result}:
            seen.add(name)
            message = refusal(
                [result for result in entry["results"] if result.get("property") == name]
            )
            properties = parse_property_file(conformance / name)
            model = checked(conformance, entry)
            if message is None or properties.ltl:  # the reference has no LTL for timed models
                assert check_property(properties, model).tree is properties
                continue
            with pytest.raises(RebecaError) as caught:
                check_property(properties, model)
            assert_refused(caught.value.diagnostics, message)
    assert seen == {path.name for path in conformance.glob("*.property")}


def test_what_the_checker_says_about_some_models(
    conformance: Path, manifest: list[dict[str, Any]]
) -> None:
    models = {entry["file"].removesuffix(".rebeca"): entry for entry in manifest}

    def model(name: str) -> CheckedModel:
        return checked(conformance, models[name])

    assert model("global_priority").uses_global_priority
    assert not model("priority_msgsrv").uses_global_priority
    priorities = {
        item.name: item.priority for item in model("priority_msgsrv").classes["A"].servers
    }
    assert priorities == {"low": 3, "mid": 2, "high": 1}
    assert [item.priority for item in model("priority_rebec").instances] == [2, 1, 3]
    assert [item.arguments for item in model("ctor_params").instances] == [
        (2, True, 7),
        (3, False, 9),
    ]
    special = model("inheritance").classes["Special"]
    assert [symbol.name for symbol in special.state_variables] == ["n", "extra"]
    assert [(server.name, server.number, server.owner) for server in special.servers] == [
        ("step", 0, "Special")
    ]
    assert special.methods["twice"].name == "twice"
