from __future__ import annotations

from typing import Any

import pytest

from rebecsim.exploration import Checks, Limits, explore
from rebecsim.lang import RebecaCheckError, parse_property_file
from tests.exploration.conformance import SUITE, entries, load

pytestmark = pytest.mark.large

HUGE = {"resource_manager_edf3.rebeca"}  # half a million states of long message servers


def _cases() -> list[Any]:
    return [
        pytest.param(
            entry,
            result,
            id="-".join(
                filter(
                    None,
                    (entry["file"], result["mode"], result.get("property"), result.get("formula")),
                )
            ),
        )
        for entry in entries()
        for result in entry["results"]
    ]


def test_the_suite_is_there() -> None:
    assert len(_cases()) > 100


@pytest.mark.parametrize(("entry", "result"), _cases())
def test_verdict_and_counts(entry: dict[str, Any], result: dict[str, Any]) -> None:
    file = entry["file"]
    wanted = {**result, **result.get("ideal", {})}
    if wanted["verdict"] == "compile error" and not _has_linear_formulas(result):
        with pytest.raises(RebecaCheckError):
            _explore(entry, result)
        return
    found = _explore(entry, result)
    if file in HUGE or wanted["verdict"] == "unbounded":
        assert found.verdict == "undecided"
        assert found.bounds == ("states",)
        return
    if wanted["verdict"] == "compile error":  # the reference has no LTL for timed models
        assert found.verdict == "satisfied"
        return
    assert found.verdict == wanted["verdict"]
    if "message" in result and "ideal" not in result:
        assert found.message == result["message"]
    if "formula" in result:  # the reference counts pairs with states of its automaton
        return
    if not result.get("partial") or result.get("order_independent"):
        counts = wanted.get("states"), wanted.get("transitions")
        if "ideal" not in result or "states" in result["ideal"]:
            assert (found.states, found.transitions) == counts


def _has_linear_formulas(result: dict[str, Any]) -> bool:
    return "property" in result and bool(parse_property_file(SUITE / result["property"]).ltl)


def _explore(entry: dict[str, Any], result: dict[str, Any]) -> Any:
    checked, model = load(entry["file"], entry["language"])
    properties, only = None, ()
    if "property" in result:
        properties = parse_property_file(SUITE / result["property"])
        only = (result["formula"],) if "formula" in result else ()
        if not only and not properties.assertions:  # without a name, the reference judges none
            properties = None
    ideal = result.get("ideal", {})
    unbounded = entry["file"] in HUGE or "unbounded" in (result["verdict"], ideal.get("verdict"))
    return explore(
        model,
        mode=result["mode"],
        checked=checked,
        checks=Checks(deadlock=True, properties=properties, only=only),
        limits=Limits(states=10_000 if unbounded else None),
    )
