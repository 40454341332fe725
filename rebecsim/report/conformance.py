"""Comparison of verdicts and state counts with those of a conformance suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebecsim.errors import UserError
from rebecsim.exploration import MODES, Checks, Limits, explore
from rebecsim.files import read_json
from rebecsim.generate.module import load_checked
from rebecsim.lang import PropertyFile, RebecaError, parse_property_file
from rebecsim.trust import Consent, refuse_programs, require_consent
from rebecsim.wording import clipped

UNBOUNDED = 10_000
"""States after which a model that the manifest calls unbounded is believed to be so."""

_OPTIONAL = {
    "ideal": dict,
    "property": str,
    "formula": str,
    "states": int,
    "transitions": int,
    "verdict": str,
}
"""What a result may have, and `ideal` in it."""


@dataclass(frozen=True)
class ConformanceResult:
    """One run of the suite: what should come out, what did.

    Counts are None where they are not compared: the reference stopped at a violation, or counts
    something else. `ideal`: the manifest holds that the reference is wrong here. `refused_there`:
    the model compiles, and the reference does not take its property file.
    """

    file: str
    mode: str
    property_file: str
    ideal: bool
    expected: tuple[str, int | None, int | None]
    found: tuple[str, int | None, int | None]
    refused_there: bool = False

    @property
    def agrees(self) -> bool:
        """Whether the verdict, and the counts that are compared, are the same."""
        return all(
            wanted is None or wanted == got
            for wanted, got in zip(self.expected, self.found, strict=True)
        )

    @property
    def is_beyond(self) -> bool:
        """Whether the reference refuses what is judged here, formulas of LTL on timed models."""
        return self.refused_there and self.found[0] != "compile error"


def compare_suite(
    directory: Path, max_states: int, consent: Consent = refuse_programs
) -> Iterator[ConformanceResult]:
    """Explore every model of a suite as its `manifest.json` says, one result after the other.

    A state space of more than `max_states` gives the verdict `undecided`. Models in Python are
    executed, for which `consent` is asked first. Raises UserError, naming the entry, for a manifest
    that cannot be read, and UntrustedCodeError without consent.
    """
    manifest = directory / "manifest.json"
    entries = _entries(manifest)
    require_consent(consent, str(manifest), (directory / each["file"] for each in entries))
    for entry in entries:
        for result in entry["results"]:
            yield _compare(directory, entry["file"], entry["language"], result, max_states)


def _entries(manifest: Path) -> list[dict[str, Any]]:
    """Read the models of a suite. Raises UserError, naming the entry, for a wrong one."""
    try:
        entries = read_json(manifest)["models"]
    except OSError as error:
        raise UserError(f"{manifest}: {error.strerror}") from error
    except (ValueError, LookupError, TypeError) as error:
        raise UserError(f"{manifest}: is not the manifest of a suite: {error}") from error
    if not isinstance(entries, list):
        raise UserError(f"{manifest}: `models` should be a list")
    for place, entry in enumerate(entries):
        where = f"{manifest}: models[{place}]"
        if not _fits(entry, {"file": str, "language": str, "results": list}):
            raise UserError(f"{where}: needs the texts `file` and `language`, and a list `results`")
        _require_name(entry, "file", where)
        for number, result in enumerate(entry["results"]):
            _require_result(result, f"{where}.results[{number}]")
    return entries


def _require_name(holder: Mapping[str, str], name: str, where: str) -> None:
    """Raise UserError unless a text can be the name of a file."""
    if not holder[name].isprintable():
        raise UserError(f"{where}: `{name}` cannot be {clipped(repr(holder[name]), 100)}")


def _require_result(result: Any, where: str) -> None:
    if not _fits(result, {"mode": str, "verdict": str}):
        raise UserError(f"{where}: needs the texts `mode` and `verdict`")
    if result["mode"] not in MODES:
        raise UserError(f"{where}: there is no mode {result['mode']!r}")
    for name, kind in _OPTIONAL.items():
        for holder in (result, result.get("ideal", {})):
            if name in holder and type(holder[name]) is not kind:
                raise UserError(f"{where}: `{name}` cannot be {clipped(repr(holder[name]), 100)}")
            if name == "property" and name in holder:
                _require_name(holder, name, where)


def _fits(value: Any, kinds: Mapping[str, type]) -> bool:
    """Whether a value is an object that has these, each of its type."""
    return isinstance(value, dict) and all(type(value.get(n)) is kind for n, kind in kinds.items())


def _compare(
    directory: Path, file: str, language: str, result: dict[str, Any], max_states: int
) -> ConformanceResult:
    wanted = {**result, **result.get("ideal", {})}
    unbounded = wanted["verdict"] == "unbounded"
    verdict = "undecided" if unbounded else wanted["verdict"]
    counted = (
        not unbounded
        and "formula" not in result
        and ("states" in result.get("ideal", {}) or "ideal" not in result)
        and (not result.get("partial") or result.get("order_independent"))
    )
    counts = (wanted.get("states"), wanted.get("transitions")) if counted else (None, None)
    limit = UNBOUNDED if unbounded else max_states
    return ConformanceResult(
        file=file,
        mode=result["mode"],
        property_file=result.get("property", ""),
        ideal="ideal" in result,
        expected=(verdict, *counts),
        found=_explore(directory, file, language, result, limit),
        refused_there=wanted["verdict"] == "compile error" and "property" in result,
    )


def _explore(
    directory: Path, file: str, language: str, result: dict[str, Any], limit: int
) -> tuple[str, int | None, int | None]:
    try:
        model, checked = load_checked(directory / file, "core" if language == "core" else "timed")
        properties, only = None, list[str]()
        if "property" in result:
            properties = parse_property_file(directory / result["property"])
            only = [result["formula"]] if "formula" in result else _assertions(properties)
        found = explore(
            model,
            mode=result["mode"],
            checked=checked,
            # The reference takes every end of a run for a deadlock.
            checks=Checks(deadlock=True, properties=properties if only else None, only=only),
            limits=Limits(states=limit),
        )
    except RebecaError:
        return "compile error", None, None
    return found.verdict, found.states, found.transitions


def _assertions(properties: PropertyFile) -> list[str]:
    """Name what the reference checks when it is asked for no formula."""
    return [each.name for each in properties.assertions]
