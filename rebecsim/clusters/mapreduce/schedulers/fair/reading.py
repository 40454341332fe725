"""Reads the allocations file of Hadoop 1's Fair Scheduler, `fair-scheduler.xml`, as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rebecsim.clusters.mapreduce.schedulers.fair.settings import (
    POOL_SETTINGS,
    SCHEDULER_SETTINGS,
    FairSettings,
    FairSettingsError,
    changed,
    pool_key,
)
from rebecsim.workloads.safe_xml import Element, XmlError, read_xml

Lines = dict[str, int]


def read_fair_settings(path: Path, name: str = "") -> tuple[FairSettings, tuple[str, ...]]:
    """Read the settings, and give what the file says that has no effect, as texts with lines.

    `name` is what messages call the file. Raises XmlError, with file, line and element, for what
    cannot be used; OSError when the file cannot be read.
    """
    root = read_xml(path, name)
    if root.tag != "allocations":
        raise root.wrong(f"an <allocations> is expected, not <{root.tag}>")
    values: dict[str, object] = {}
    lines: Lines = {}
    idle: list[str] = []
    for key, element in _settings(root):
        if not key:
            idle.append(f"{root.file}:{element.line}: <{element.tag}> has no effect")
        elif key in values:
            raise element.wrong(f"{key} stands there twice, first on line {lines[key]}")
        else:
            values[key], lines[key] = element.text, element.line
    try:
        return changed(FairSettings(), values), tuple(idle)
    except FairSettingsError as error:
        line = lines.get(error.key, root.line)
        raise XmlError.at(root.file, line, str(error)) from error


def _settings(root: Element) -> Iterator[tuple[str, Element]]:
    """Give each setting with its element; an empty name for what is not known."""
    for element in root.children:
        if element.tag == "pool":
            yield from _of(element, "pool", POOL_SETTINGS)
        elif element.tag == "user":
            yield from _of(element, "user", ("maxRunningJobs",))
        elif element.tag in SCHEDULER_SETTINGS:
            yield element.tag, element
        else:
            yield "", element


def _of(element: Element, what: str, known: tuple[str, ...]) -> Iterator[tuple[str, Element]]:
    name = element.attributes.get("name", "").strip()
    if not name:
        raise element.wrong(f'a {what} without a name; write <{what} name="...">')
    for each in element.children:
        key = pool_key(name, each.tag).replace("pool", what, 1)
        yield (key if each.tag in known else ""), each
