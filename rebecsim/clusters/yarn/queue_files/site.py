"""What yarn-site.xml says that schedulers need; their own files may say it, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebecsim.clusters.kit.hadoop import HadoopProperties
from rebecsim.clusters.yarn.queue_files.resources import Resources
from rebecsim.workloads.safe_xml import XmlError

_MINIMUM = "yarn.scheduler.minimum-allocation"
_MAXIMUM = "yarn.scheduler.maximum-allocation"


@dataclass(frozen=True, slots=True)
class Site:
    """The properties of several files; what the first says counts.

    Attributes:
        files: the scheduler's own first.
        has_site: whether one of them is a yarn-site.xml.
    """

    files: Sequence[HadoopProperties]
    has_site: bool = False

    def of(self, *names: str) -> tuple[HadoopProperties, str]:
        """Give the first file that has one of these properties, and its name there."""
        for name in names:
            for file in self.files:
                if name in file.by_name:
                    return file, name
        return self.files[0], names[0]

    def whole(self, name: str, default: int, least: int | None = None) -> int:
        """Give a whole number. Raises XmlError."""
        file, name = self.of(name)
        return file.whole(name, default, least)

    def number(
        self, name: str, default: float, least: float | None = None, most: float | None = None
    ) -> float:
        """Give a number. Raises XmlError."""
        file, name = self.of(name)
        return file.number(name, default, least, most)

    def switch(self, name: str, default: bool) -> bool:
        """Give true or false. Raises XmlError."""
        file, name = self.of(name)
        return file.switch(name, default)

    def text(self, name: str) -> str | None:
        """Give a text, None if there is none. Raises XmlError."""
        file, name = self.of(name)
        return file.text(name)

    def wrong(self, name: str, problem: str) -> XmlError:
        """Make the error that says what is wrong with a property."""
        file, name = self.of(name)
        return file.wrong(name, problem)


def minimum_allocation(site: Site, *, least: int) -> Resources:
    """Give the least that a container has. Raises XmlError for less than allowed."""
    return Resources(
        site.whole(f"{_MINIMUM}-mb", 1024, least), site.whole(f"{_MINIMUM}-vcores", 1, least)
    )


def maximum_allocation(site: Site, minimum: Resources) -> Resources | None:
    """Return the largest container; None if it is not given and there is no yarn-site.xml.

    Raises XmlError if that is less than the least.
    """
    names = f"{_MAXIMUM}-mb", f"{_MAXIMUM}-vcores"
    said = any(name in file.by_name for name in names for file in site.files)
    if not said and not site.has_site:
        for name in names:
            site.text(name)
        return None
    found = Resources(site.whole(names[0], 8192), site.whole(names[1], 4))
    for name, least, most in zip(names, minimum, found, strict=True):
        if most < least:
            raise site.wrong(name, f"{most} is less than the minimum of {least}")
    return found
