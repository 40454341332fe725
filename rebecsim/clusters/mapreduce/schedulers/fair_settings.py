"""Settings of the Fair Scheduler, in the allocations file and `mapred-site.xml`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rebecsim.actors import Constant
from rebecsim.clusters.kit.hadoop import number_of
from rebecsim.errors import UserError
from rebecsim.wording import suggestion
from rebecsim.workloads.safe_xml import Element, XmlError, read_xml

PREFIX = "mapred.fairscheduler."
UNLIMITED = 2**31 - 1
MODES = ("fair", "fifo")


class FairSettingsError(UserError):
    """Invalid settings; `key` is the element or property to correct."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem


def _named(name: str, default: Any) -> Any:
    """Make a field with another name in the file."""
    return field(default=default, metadata={"name": name})


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings(Constant):
    """The settings of a pool.

    Attributes:
        min_maps: slots for maps that the pool is sure of while it wants them.
        min_reduces: the same for reduces.
        max_maps: slots for maps that it never exceeds.
        max_reduces: the same for reduces.
        max_running_jobs: jobs that get slots at a time; others wait.
        weight: of the pool, where slots beyond the minimum shares are shared.
        scheduling_mode: how its jobs share: fair or fifo; None: as the default says.
        min_share_preemption_timeout: how long the pool is below its minimum share before tasks of
            others are killed (seconds); None: as the default says.
    """

    min_maps: int = _named("minMaps", 0)
    min_reduces: int = _named("minReduces", 0)
    max_maps: int = _named("maxMaps", UNLIMITED)
    max_reduces: int = _named("maxReduces", UNLIMITED)
    max_running_jobs: int | None = _named("maxRunningJobs", None)
    weight: float = _named("weight", 1.0)
    scheduling_mode: str | None = _named("schedulingMode", None)
    min_share_preemption_timeout: float | None = _named("minSharePreemptionTimeout", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class FairSettings(Constant):
    """The settings of the scheduler. Raises FairSettingsError for invalid values.

    Attributes:
        pools: by name; others that jobs name have the defaults.
        max_jobs_of: jobs of a user that get slots at a time, by user.
        pool_max_jobs_default: of pools that do not say it.
        user_max_jobs_default: of users who are not named.
        default_pool_scheduling_mode: of pools that do not say it.
        default_min_share_preemption_timeout: of pools that do not say it (seconds).
        fair_share_preemption_timeout: how long a pool has less than half its fair share before
            tasks of others are killed (seconds).
        preemption: whether tasks are killed.
        preemption_interval: from one look for what to kill to the next (milliseconds).
        update_interval: from one look at who is starved to the next (milliseconds).
        size_based_weight: whether jobs that want more slots weigh more.
        assign_multiple: whether a heartbeat gives more than one task.
        assign_multiple_maps: maps that a heartbeat gives; -1: any number.
        assign_multiple_reduces: the same for reduces.
        locality_delay_node: how long a job waits for the nodes of its splits (milliseconds); by
            default a heartbeat and a half of 300 milliseconds.
        locality_delay_rack: how long it then waits for the racks of its splits.
        load_max_diff: how much fuller than the cluster a node may be (part of its slots).
        allow_undeclared_pools: whether jobs may name pools that the file does not.
    """

    pools: Mapping[str, PoolSettings] = field(default_factory=lambda: MappingProxyType({}))
    max_jobs_of: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    pool_max_jobs_default: int = _named("poolMaxJobsDefault", UNLIMITED)
    user_max_jobs_default: int = _named("userMaxJobsDefault", UNLIMITED)
    default_pool_scheduling_mode: str = _named("defaultPoolSchedulingMode", "fair")
    default_min_share_preemption_timeout: float = _named(
        "defaultMinSharePreemptionTimeout", math.inf
    )
    fair_share_preemption_timeout: float = _named("fairSharePreemptionTimeout", math.inf)
    preemption: bool = _named(f"{PREFIX}preemption", False)
    preemption_interval: int = _named(f"{PREFIX}preemption.interval", 15_000)
    update_interval: int = _named(f"{PREFIX}update.interval", 2500)
    size_based_weight: bool = _named(f"{PREFIX}sizebasedweight", False)
    assign_multiple: bool = _named(f"{PREFIX}assignmultiple", True)
    assign_multiple_maps: int = _named(f"{PREFIX}assignmultiple.maps", -1)
    assign_multiple_reduces: int = _named(f"{PREFIX}assignmultiple.reduces", -1)
    locality_delay_node: int = _named(f"{PREFIX}locality.delay.node", 450)
    locality_delay_rack: int = _named(f"{PREFIX}locality.delay.rack", 450)
    load_max_diff: float = _named(f"{PREFIX}load.max.diff", 0.0)
    allow_undeclared_pools: bool = _named(f"{PREFIX}allow.undeclared.pools", True)

    def __hash__(self) -> int:
        return hash(tuple(self.pools))

    def __post_init__(self) -> None:
        for pool, settings in self.pools.items():
            _check_pool(pool, settings)
        for each in fields(self):
            if each.name in ("pools", "max_jobs_of"):
                continue
            least = {"update_interval": 1, "preemption_interval": 1}.get(each.name, 0)
            if each.name in ("assign_multiple_maps", "assign_multiple_reduces"):
                least = -1
            value = getattr(self, each.name)
            if not isinstance(value, str) and value < least:
                raise FairSettingsError(
                    each.metadata["name"], f"should be at least {least}, not {value:g}"
                )

    def pool(self, name: str) -> PoolSettings:
        """Return the settings of a pool, with defaults for missing ones."""
        stated = self.pools.get(name, PoolSettings())
        jobs, mode = stated.max_running_jobs, stated.scheduling_mode
        timeout = stated.min_share_preemption_timeout
        default = self.default_min_share_preemption_timeout
        return replace(
            stated,
            max_running_jobs=self.pool_max_jobs_default if jobs is None else jobs,
            scheduling_mode=mode or self.default_pool_scheduling_mode,
            min_share_preemption_timeout=default if timeout is None else timeout,
        )


def _check_pool(pool: str, settings: PoolSettings) -> None:
    def wrong(name: str, problem: str) -> FairSettingsError:
        return FairSettingsError(pool_key(pool, name), problem)

    for each in fields(settings):
        value = getattr(settings, each.name)
        if not isinstance(value, str | None) and value < 0:
            raise wrong(each.metadata["name"], f"should be at least 0, not {value:g}")
    if not settings.weight:
        raise wrong("weight", "should be above 0; a pool without weight would get nothing")
    for kind in ("Maps", "Reduces"):
        least = getattr(settings, f"min_{kind.lower()}")
        most = getattr(settings, f"max_{kind.lower()}")
        if least > most:
            raise wrong(f"min{kind}", f"{least} is more than max{kind}, {most}")
        if not most:
            raise wrong(f"max{kind}", "is 0: no job of the pool could ever run")
    if settings.max_running_jobs == 0:
        raise wrong("maxRunningJobs", "is 0: no job of the pool could ever run")


def pool_key(pool: str, name: str) -> str:
    """Return the name of a pool's setting in errors and changes."""
    return f"pool.{pool}.{name}"


_OF_POOL = {each.metadata["name"]: each for each in fields(PoolSettings)}
_OF_SCHEDULER = {
    each.metadata["name"]: each for each in fields(FairSettings) if "name" in each.metadata
}
POOL_SETTINGS = tuple(_OF_POOL)
SCHEDULER_SETTINGS = tuple(name for name in _OF_SCHEDULER if not name.startswith(PREFIX))


def changed(settings: FairSettings, values: Mapping[str, object]) -> FairSettings:
    """Give settings with some changed, by their names in the files.

    A setting of a pool is called `pool.NAME.minMaps`, the jobs of a user
    `user.NAME.maxRunningJobs`; `mapred.fairscheduler.` may be left out. Raises FairSettingsError.
    """
    pools, users = dict(settings.pools), dict(settings.max_jobs_of)
    of_scheduler: dict[str, Any] = {}
    for key, value in values.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        start, _, rest = key.partition(".")
        name, _, parameter = rest.rpartition(".")
        if start == "pool" and name and parameter in _OF_POOL:
            of = _OF_POOL[parameter]
            before = pools.get(name, PoolSettings())
            pools[name] = replace(before, **{of.name: _value(of, key, text)})
        elif start == "user" and name and parameter == "maxRunningJobs":
            users[name] = _value(_OF_POOL[parameter], key, text)
        else:
            of = _scheduler_field(key)
            of_scheduler[of.name] = _value(of, key, text)
    return replace(settings, pools=pools, max_jobs_of=users, **of_scheduler)


def _scheduler_field(key: str) -> Field[Any]:
    for name in (key, PREFIX + key):
        if name in _OF_SCHEDULER:
            return _OF_SCHEDULER[name]
    known = [name.removeprefix(PREFIX) for name in _OF_SCHEDULER]
    hint = suggestion(key.removeprefix(PREFIX), known)
    raise FairSettingsError(key, f"is no setting of this scheduler; {hint}")


def _value(of: Field[Any], key: str, text: str) -> Any:
    """Parse the value of a setting. Raises FairSettingsError."""
    text = text.strip()
    kinds = str(of.type).split(" | ")
    if "bool" in kinds:
        if text.lower() not in ("true", "false"):
            raise FairSettingsError(key, f"should be true or false, not {text!r:.40}")
        return text.lower() == "true"
    if "str" in kinds:
        if text.lower() not in MODES:
            raise FairSettingsError(key, f"should be {' or '.join(MODES)}, not {text!r:.40}")
        return text.lower()
    number = number_of(text)
    if number is None:
        raise FairSettingsError(key, f"should be a number, not {text!r:.40}")
    if "float" in kinds:
        return number
    if number != int(number):
        raise FairSettingsError(key, f"should be a whole number, not {text!r:.40}")
    return int(number)


Lines = dict[str, int]


def read_fair_settings(path: Path, name: str = "") -> tuple[FairSettings, tuple[str, ...]]:
    """Read the settings; also return those without effect, as texts with lines.

    `name` is the file's name in messages. Raises XmlError, with file, line and element, and
    OSError.
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
            raise element.wrong(f"{key} is given twice, first on line {lines[key]}")
        else:
            values[key], lines[key] = element.text, element.line
    try:
        return changed(FairSettings(), values), tuple(idle)
    except FairSettingsError as error:
        line = lines.get(error.key, root.line)
        raise XmlError.at(root.file, line, str(error)) from error


def _settings(root: Element) -> Iterator[tuple[str, Element]]:
    """Yield each setting with its element; an unknown one has an empty name."""
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
