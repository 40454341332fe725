"""Reads a `capacity-scheduler.xml` of Hadoop 1, and parameters by their names in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import Field, fields, replace
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

from rebecsim.clusters.kit.hadoop import number_of, read_properties
from rebecsim.clusters.mapreduce.schedulers.capacity_settings import (
    PREFIX,
    CapacityQueueSettings,
    CapacitySettings,
    CapacitySettingsError,
    CappedSlots,
    OffSwitchRule,
    QueueOrder,
    exact,
)
from rebecsim.wording import suggestion

_QUEUE = "queue."
_CHOICES: Mapping[str, type[Enum]] = {
    each.__name__: each for each in (OffSwitchRule, QueueOrder, CappedSlots)
}
_OF_QUEUE = {each.name.replace("_", "-"): each for each in fields(CapacityQueueSettings)}
_OF_SCHEDULER = {
    each.name.replace("_", "-"): each for each in fields(CapacitySettings) if each.name != "queues"
}
_DEFAULTS = {
    "default-minimum-user-limit-percent": "minimum-user-limit-percent",
    "default-user-limit-factor": "user-limit-factor",
    "default-supports-priority": "supports-priority",
    "default-maximum-active-tasks-per-queue": "maximum-initialized-active-tasks",
    "default-maximum-active-tasks-per-user": "maximum-initialized-active-tasks-per-user",
    "default-init-accept-jobs-factor": "init-accept-jobs-factor",
}
_IDLE = "init-worker-threads"  # read and checked, and without effect
_ALL = 100  # percent
_TASKS = "maximum-initialized-active-tasks"
_TASKS_OF_USER = "maximum-initialized-active-tasks-per-user"


def settings_from(values: Mapping[str, object]) -> CapacitySettings:
    """Make settings from parameters, by their names in the file, with or without the prefix.

    Queues keep the order of their first mention. Queues without a capacity share the rest. Raises
    CapacitySettingsError, also for unknown names.
    """
    texts = {key.removeprefix(PREFIX): _text(value) for key, value in values.items()}
    defaults = {
        parameter: _value(_OF_QUEUE[parameter], PREFIX + key, texts[key])
        for key, parameter in _DEFAULTS.items()
        if key in texts
    }
    of_queues: dict[str, dict[str, Any]] = {}
    of_scheduler: dict[str, Any] = {}
    for key, text in texts.items():
        queue, parameter = _split(key)
        if queue and parameter in _OF_QUEUE:
            of_queue = of_queues.setdefault(queue, {})
            of_queue[parameter] = _value(_OF_QUEUE[parameter], PREFIX + key, text)
        elif key in _OF_SCHEDULER:
            of_scheduler[_OF_SCHEDULER[key].name] = _value(_OF_SCHEDULER[key], PREFIX + key, text)
        elif key not in _DEFAULTS:
            raise _unknown(key, [queue])
    if of_queues:
        _share_rest(of_queues)
        of_scheduler["queues"] = {
            queue: _queue_settings({**defaults, **of_queue}, of_queue)
            for queue, of_queue in of_queues.items()
        }
    elif defaults:
        of_scheduler["queues"] = {"default": _queue_settings({**defaults, "capacity": _ALL}, {})}
    return CapacitySettings(**of_scheduler)


def changed(settings: CapacitySettings, values: Mapping[str, object]) -> CapacitySettings:
    """Return settings with some parameters changed. Raises CapacitySettingsError."""
    queues = dict(settings.queues)
    of_scheduler: dict[str, Any] = {}
    for name, value in values.items():
        key = name.removeprefix(PREFIX)
        queue, parameter = _split(key)
        text = _text(value)
        if key in _OF_SCHEDULER:
            of_scheduler[_OF_SCHEDULER[key].name] = _value(_OF_SCHEDULER[key], PREFIX + key, text)
        elif queue not in queues or parameter not in _OF_QUEUE:
            raise _unknown(key, queues)
        else:
            of = _OF_QUEUE[parameter]
            queues[queue] = replace(queues[queue], **{of.name: _value(of, PREFIX + key, text)})
    return replace(settings, queues=queues, **of_scheduler)


def is_idle(key: str) -> bool:
    """Whether a parameter has no effect here."""
    return key.removeprefix(PREFIX) == _IDLE


def is_known(key: str) -> bool:
    """Whether a property of the file is a parameter."""
    key = key.removeprefix(PREFIX)
    queue, parameter = _split(key)
    return key in _OF_SCHEDULER or key in _DEFAULTS or bool(queue and parameter in _OF_QUEUE)


def _unknown(key: str, queues: Collection[str]) -> CapacitySettingsError:
    queue, parameter = _split(key)
    if queue and queue not in queues:
        problem = f"there is no queue {queue!r}; {suggestion(queue, queues)}"
    elif queue:
        problem = f"queues have no such parameter; {suggestion(parameter, _OF_QUEUE)}"
    else:
        problem = f"is no parameter of this scheduler; {suggestion(key, _OF_SCHEDULER)}"
    return CapacitySettingsError(PREFIX + key, problem)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _split(key: str) -> tuple[str, str]:
    """Split `queue.long.capacity` into queue and parameter; two empty texts for other names."""
    if not key.startswith(_QUEUE):
        return "", ""
    queue, _, parameter = key.removeprefix(_QUEUE).rpartition(".")
    return queue, parameter


def _share_rest(of_queues: Mapping[str, dict[str, Any]]) -> None:
    """Divide the remaining capacity equally between queues without one."""
    without = [queue for queue, parameters in of_queues.items() if "capacity" not in parameters]
    used = sum(exact(each["capacity"]) for each in of_queues.values() if "capacity" in each)
    for queue in without:
        of_queues[queue]["capacity"] = float(Fraction(_ALL - used) / len(without))


def _queue_settings(
    parameters: Mapping[str, Any], stated: Mapping[str, Any]
) -> CapacityQueueSettings:
    """Make the settings of a queue; by default a user is limited to the queue's capacity."""
    named = {_OF_QUEUE[parameter].name: value for parameter, value in parameters.items()}
    if _TASKS in parameters and _TASKS_OF_USER not in stated:
        of_user = parameters.get(_TASKS_OF_USER, _OF_QUEUE[_TASKS_OF_USER].default)
        named[_OF_QUEUE[_TASKS_OF_USER].name] = min(of_user, parameters[_TASKS])
    return CapacityQueueSettings(**named)


def _value(of: Field[Any], key: str, text: str) -> Any:
    """Parse the value of a parameter. Raises CapacitySettingsError."""
    text = text.strip()
    if of.type == "bool":
        if text.lower() not in ("true", "false"):
            raise CapacitySettingsError(key, f"should be true or false, not {text!r:.40}")
        return text.lower() == "true"
    named = _CHOICES.get(str(of.type))
    if named is not None:
        choices = {each.value: each for each in named}
        if text not in choices:
            raise CapacitySettingsError(key, f"should be {' or '.join(choices)}, not {text!r:.40}")
        return choices[text]
    number = number_of(text)
    if number is None:
        raise CapacitySettingsError(key, f"should be a number, not {text!r:.40}")
    if of.type == "float":
        return number
    if number != int(number):
        raise CapacitySettingsError(key, f"should be a whole number, not {text!r:.40}")
    return int(number)


def read_capacity_settings(path: Path, name: str = "") -> tuple[CapacitySettings, tuple[str, ...]]:
    """Read the settings; also return those without effect, as texts with lines.

    `name` is the file's name in messages. Raises XmlError, with file, line and property, and
    OSError.
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
