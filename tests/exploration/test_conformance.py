from __future__ import annotations

from typing import Any

import pytest

from rebecsim.exploration import Checks, Limits, UnsupportedPropertyError, explore
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
    if wanted["verdict"] == "compile error":
        with pytest.raises(RebecaCheckError):
            _explore(entry, result)
        return
    if "property" in result and _has_formulas(result):
        with pytest.raises(UnsupportedPropertyError, match=r"property:\d+:\d+: T?C?LTL|TCTL"):
            _explore(entry, result)
        return
    found = _explore(entry, result)
    if file in HUGE or wanted["verdict"] == "unbounded":
        assert found.verdict == "out of bounds"
        assert found.bounds == ("states",)
        return
    assert found.verdict == wanted["verdict"]
    if "message" in result and "ideal" not in result:
        assert found.message == result["message"]
    if not result.get("partial") or result.get("order_independent"):
        counts = wanted.get("states"), wanted.get("transitions")
        if "ideal" not in result or "states" in result["ideal"]:
            assert (found.states, found.transitions) == counts


def _has_formulas(result: dict[str, Any]) -> bool:
    tree = parse_property_file(SUITE / result["property"])
    return bool(tree.ltl or tree.tctl)


def _explore(entry: dict[str, Any], result: dict[str, Any]) -> Any:
    checked, model = load(entry["file"], entry["language"])
    properties = None
    if "property" in result:
        properties = parse_property_file(SUITE / result["property"])
    ideal = result.get("ideal", {})
    unbounded = entry["file"] in HUGE or "unbounded" in (result["verdict"], ideal.get("verdict"))
    return explore(
        model,
        mode=result["mode"],
        checked=checked,
        checks=Checks(properties=properties),
        limits=Limits(states=10_000 if unbounded else None),
    )
