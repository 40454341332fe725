"""Files of Hadoop's schedulers: which one it is of, and what it says."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from rebecsim.clusters.kit.hadoop import properties_of, read_properties
from rebecsim.clusters.yarn.queue_files.capacity_reading import read_capacity_settings
from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacitySettings
from rebecsim.clusters.yarn.queue_files.fair_reading import read_fair_settings
from rebecsim.clusters.yarn.queue_files.fair_settings import FairSettings
from rebecsim.processes import carried, version_of
from rebecsim.workloads.files import read_xml

QueueSettings = CapacitySettings | FairSettings

_HADOOP_1 = "mapred.capacity-scheduler."


def read_queues(path: Path, yarn_site: Path | None = None) -> QueueSettings:
    """Read a capacity-scheduler.xml or a fair-scheduler.xml, which its outermost element says.

    Raises XmlError for whatever Hadoop would not start with, OSError if a file cannot be read.
    """
    found = carried(path)
    site = None if yarn_site is None else carried(yarn_site)
    versions = version_of(found), None if site is None else version_of(site)
    return _read(found, str(path), site, str(yarn_site), versions)


@lru_cache(maxsize=32)
def _read(
    path: Path, name: str, site: Path | None, site_name: str, _versions: object
) -> QueueSettings:
    root = read_xml(path, name)
    of_site = None if site is None else read_properties(site, site_name)
    if root.tag == "allocations":
        return read_fair_settings(root, of_site)
    if root.tag != "configuration":
        raise root.wrong(
            "neither a capacity-scheduler.xml, which is a <configuration>, nor a "
            f"fair-scheduler.xml, which has <allocations>, but <{root.tag}>"
        )
    own = properties_of(root)
    of_hadoop_1 = next((each for each in own.unused() if each.name.startswith(_HADOOP_1)), None)
    if of_hadoop_1 is not None:
        raise own.wrong(
            of_hadoop_1.name,
            "this is a key of Hadoop 1, whose clusters have slots and no containers; run the file "
            f"with: rebecsim mapreduce --scheduler CAPACITY={name}",
        )
    return read_capacity_settings(own, of_site)
