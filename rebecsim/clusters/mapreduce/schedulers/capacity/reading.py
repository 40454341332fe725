"""Reads `capacity-scheduler.xml` of Hadoop 1 as it is."""

from __future__ import annotations

from pathlib import Path

from rebecsim.clusters.kit.hadoop import read_properties
from rebecsim.clusters.mapreduce.schedulers.capacity.parameters import (
    is_idle,
    is_known,
    settings_from,
)
from rebecsim.clusters.mapreduce.schedulers.capacity.settings import (
    CapacitySettings,
    CapacitySettingsError,
)


def read_capacity_settings(path: Path, name: str = "") -> tuple[CapacitySettings, tuple[str, ...]]:
    """Read the settings, and give what the file says that has no effect, as texts with lines.

    `name` is what messages call the file. Raises XmlError, with file, line and property, for what
    cannot be used; OSError when the file cannot be read.
    """
    properties = read_properties(path, name)
    known = filter(is_known, properties.by_name)
    texts = {key: text for key in known if (text := properties.text(key)) is not None}
    try:
        settings = settings_from(texts)
    except CapacitySettingsError as error:
        raise properties.wrong(error.key, error.problem) from error
    idle = tuple(
        f"{properties.file}:{each.line}: {each.name} has no effect"
        for each in properties.unused(filter(is_idle, properties.by_name))
    )
    return settings, idle
