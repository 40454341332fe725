"""Sweeps: keys of a scenario that take several values in turn.

The table `[sweep]` of a scenario names keys of the same file, as in `workload.rate` or
`arrivals[0].count`, with lists or ranges of values. Each combination of values is a setting: the
scenario with these values in place of its own.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from rebecsim.errors import UserError
from rebecsim.studies.cells import Value
from rebecsim.studies.scenario_files import RANGE, FieldPath, flat_keys
from rebecsim.wording import closest_name, suggestion

MAX_COMBINATIONS = 10_000
"""Most combinations of one scenario: each is checked, run and kept."""

_STEP = re.compile(r"(?:^|\.)([^.\[\]]+)|\[(\d+)\]")
_MOST_KNOWN = 12


class Sweep(dict[str, tuple[Any, ...]]):
    """Keys with the values that they take, in the order of the file; nothing changes it."""

    def __hash__(self) -> int:  # type: ignore[override]
        """Give the hash that scenarios need, which are kept by what they hold."""
        return hash(repr(tuple(self.items())))

    def __reduce__(self) -> tuple[type[Sweep], tuple[dict[str, tuple[Any, ...]]]]:
        """Pickle as what it holds."""
        return Sweep, (dict(self),)


class SweepError(UserError):
    """A key that cannot be swept, or a value that it cannot have.

    Attributes:
        key: as the sweep has it; empty where it is the sweep as a whole.
        reason: what is wrong.
    """

    def __init__(self, key: str, reason: str) -> None:
        self.key, self.reason = key, reason
        super().__init__(f"sweep.{key}: {reason}" if key else f"sweep: {reason}")


# --- lists and ranges ----------------------------------------------------------------------------


def _listed(given: Any) -> Any:
    """Give every key its list of values; tables in the table are parts of keys."""
    if not isinstance(given, Mapping):
        return given
    return {name: _values(name, value) for name, value in flat_keys(given)}


def _values(name: str, given: Any) -> tuple[Any, ...]:
    if isinstance(given, Mapping):
        given = list(_range(name, given))
    if not isinstance(given, list | tuple) or not given:
        raise _bad(name, "must be a list of values, or { from = 1, to = 5, step = 1 }")
    for place, value in enumerate(given):
        if isinstance(value, float) and not math.isfinite(value):
            raise _bad(name, f"must hold finite numbers, found {value!r}")
        if any(value == other and type(value) is type(other) for other in given[:place]):
            raise _bad(name, f"{value!r} is listed twice; remove one")
    return tuple(given)


def _range(name: str, given: Mapping[str, Any]) -> Iterator[int | float]:
    """Count from the first value to the last one, which is the last if the steps meet it."""
    for key in given:
        if key not in RANGE:
            raise _bad(name, f"a range has from, to and step, not {key}")
    missing = [key for key in ("from", "to") if key not in given]
    if missing:
        raise _bad(name, f"the range has no {missing[0]}; add it")
    first, last, step = given["from"], given["to"], given.get("step", 1)
    numbers = (first, last, step)
    if any(isinstance(each, bool) or not isinstance(each, int | float) for each in numbers):
        raise _bad(name, "from, to and step must be numbers")
    if not all(map(math.isfinite, numbers)) or step <= 0 or last < first:
        raise _bad(name, "a range needs `from` up to `to`, and a step above 0")
    count = math.floor((last - first) / step * (1 + 1e-12)) + 1
    if count > MAX_COMBINATIONS:
        raise _bad(
            name, f"the range has {count:,} values, at most {MAX_COMBINATIONS:,} are allowed"
        )
    return (first + place * step for place in range(count))


def _bad(name: str, text: str) -> Exception:
    return PydanticCustomError("sweep", "{text}", {"text": text, "entry": name})


def _few(sweep: dict[str, tuple[Any, ...]]) -> Sweep:
    count = math.prod(map(len, sweep.values()))
    if count > MAX_COMBINATIONS:
        raise ValueError(
            f"the sweep has {count:,} combinations, at most {MAX_COMBINATIONS:,} are allowed; "
            "shorten a list"
        )
    return Sweep(sweep)


SweepField = Annotated[
    dict[str, Annotated[tuple[Any, ...], Field(strict=False)]],
    BeforeValidator(_listed),
    AfterValidator(_few),
]
"""The field of a scenario that holds a `Sweep`."""


def read_sweep(
    given: Sequence[str], option: str = "--sweep", numbers_only: bool = False
) -> dict[str, list[Any]]:
    """Read keys with their values, as in `workload.rate=0.01,0.02`.

    What is no list of TOML without its brackets is words. `1..8` counts up, `0..1..0.25` by steps.
    Raises UserError, which names the option.
    """
    found: dict[str, list[Any]] = {}
    for text in given:
        name, equals, values = text.partition("=")
        if not equals or not name.strip() or not values.strip():
            raise UserError(f"{option} {text}: write it as NAME=VALUE, or NAME=VALUE,VALUE,...")
        if name.strip() in found:
            raise UserError(
                f"{option} {text}: {name.strip()} was given before; list all its values"
            )
        try:
            found[name.strip()] = _read_values(values)
        except PydanticCustomError as error:
            raise UserError(f"{option} {text}: {error.message()}") from error
        for value in found[name.strip()] if numbers_only else ():
            if not isinstance(value, int | float):
                raise UserError(f"{option} {text}: {value!r} is not a number, true or false")
    return found


def _read_values(text: str) -> list[Any]:
    try:
        found: list[Any] = tomllib.loads(f"values = [{text}]")["values"]
    except ValueError:
        return [value for each in text.split(",") for value in _counted(each.strip())]
    return found


_COUNTED = re.compile(r"(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)(?:\.\.(\d+(?:\.\d+)?))?")


def _counted(text: str) -> list[Any]:
    found = _COUNTED.fullmatch(text)
    if found is None:
        return [_word(text)]
    ends = [_word(each) for each in found.groups("1")]
    return list(_range(text, dict(zip(("from", "to", "step"), ends, strict=True))))


def _word(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text == "true" if text in ("true", "false") else text


# --- combinations --------------------------------------------------------------------------------

Changes = tuple[tuple[str, Any], ...]
"""What is swept, and its value in one combination."""


def combinations(sweep: Mapping[str, tuple[Any, ...]]) -> Iterator[Changes]:
    """Give every combination of the values, the last name changing fastest."""
    for values in itertools.product(*sweep.values()):
        yield tuple(zip(sweep, values, strict=True))


def label_of(changes: Changes) -> str:
    """Name a combination, for people."""
    return ", ".join(f"{name}={shown_value(value)}" for name, value in changes)


def shown_value(value: Any) -> str:
    """Write a value, for people."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, int | float) else json.dumps(value)


def coordinate(value: Any) -> Value:
    """Give a value as one of a coordinate: a number, or a text."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else shown_value(value)


def file_names(found: Sequence[Changes], longest: int, otherwise: str) -> list[str]:
    """Name the files of combinations; by numbers where values are alike or long."""
    names = [re.sub(r"[^a-z0-9.-]+", "_", label_of(each).lower()) for each in found]
    if len(set(names)) == len(names) and max(map(len, names)) <= longest:
        return names
    return [f"{otherwise}_{number}" for number in range(1, len(found) + 1)]


def column_names(keys: Iterator[str] | Sequence[str], taken: set[str]) -> dict[str, str]:
    """Name a column for each key, with `_` for what names cannot have, and none of those taken."""
    taken = {name.casefold() for name in taken}
    found = {}
    for key in keys:
        name = re.sub(r"\W+", "_", key).strip("_")
        while name.casefold() in taken:
            name += "_"
        taken.add(name.casefold())
        found[key] = name
    return found


# --- keys of a scenario --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a scenario that is swept.

    Attributes:
        path: where it stands.
        schema: what its field says of its values, the unit among it; None where there is no field.
    """

    path: FieldPath
    schema: Any


def find_key(
    scenario: BaseModel, key: str, fixed: frozenset[str], other: Sequence[str] = ()
) -> Key:
    """Find a key that can be swept; those that `fixed` names cannot, nor what they list.

    Raises SweepError, which names keys that may have been meant, or `other` names.
    """
    steps = _steps(key)
    if not steps:
        raise SweepError(key, "is not a key; write it as in workload.rate or arrivals[0].count")
    at: Any = scenario
    field: FieldInfo | None = None
    for place, step in enumerate(steps):
        if isinstance(at, BaseModel):
            if not isinstance(step, str) or step not in type(at).model_fields:
                raise SweepError(key, _unknown(scenario, key, steps[:place], at, fixed, other))
            field = type(at).model_fields[step]
            at = getattr(at, step)
        elif isinstance(at, Mapping):
            path = (*steps[:place], ".".join(map(str, steps[place:])))
            return Key(path, None)
        elif isinstance(at, tuple) and isinstance(step, int):
            if step >= len(at):
                raise SweepError(
                    key, f"{_written(steps[:place])} has {len(at)} entries, counted from 0"
                )
            at = at[step]
        else:
            raise SweepError(key, _no_table(steps[:place], at))
    if steps[0] in fixed and not _is_in_table(steps):
        raise SweepError(key, _fixed(key, getattr(scenario, str(steps[0]))))
    return Key(steps, field and field.json_schema_extra)


def _steps(key: str) -> FieldPath:
    """Read a key: names with dots between them, entries of lists in brackets."""
    found: list[str | int] = []
    end = 0
    for match in _STEP.finditer(key):
        if match.start() != end:
            return ()
        found.append(match[1] if match[1] is not None else int(match[2]))
        end = match.end()
    return tuple(found) if end == len(key) else ()


def _written(path: FieldPath) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def _is_in_table(path: FieldPath) -> bool:
    """Whether it is a key of a table of a list, as in `variants[0].scheduler`."""
    return len(path) > 2 and isinstance(path[1], int)


def _fixed(key: str, value: object) -> str:
    if isinstance(value, tuple) and value:
        return f"is compared value by value already; list its values in {key.partition('[')[0]}"
    return "holds for the whole comparison and cannot be swept"


def _no_table(path: FieldPath, value: object) -> str:
    name = _written(path)
    if value is None:
        return f"there is no [{name}] in this scenario; add it"
    if isinstance(value, tuple):
        return f"{name} is a list; name one of its entries, as in {name}[0]"
    return f"{name} is not a table, so it has no keys"


def _unknown(
    scenario: BaseModel,
    key: str,
    before: FieldPath,
    table: BaseModel,
    fixed: frozenset[str],
    other: Sequence[str],
) -> str:
    """Say which key may have been meant: of the same name elsewhere, or of a like name."""
    known = [*other, *(name for name in known_keys(scenario) if name not in fixed)]
    last = key.rpartition(".")[2]
    same = [name for name in known if name.rpartition(".")[2] == last]
    close = same[0] if len(same) == 1 else closest_name(key, known)
    if close is not None:
        return f"there is no such key in this scenario; did you mean {close}?"
    beside = [_written((*before, name)) for name in type(table).model_fields]
    beside = [*(other if not before else ()), *(name for name in beside if name not in fixed)]
    otherwise = f"known are {', '.join(beside[:_MOST_KNOWN])}" + (
        ", ..." if len(beside) > _MOST_KNOWN else ""
    )
    return f"there is no such key in this scenario; {suggestion(key, beside, otherwise)}"


def known_keys(table: BaseModel, before: FieldPath = ()) -> Iterator[str]:
    """Give the keys of a scenario that are not tables, as a sweep names them."""
    for name in type(table).model_fields:
        value = getattr(table, name)
        path = (*before, name)
        if isinstance(value, BaseModel):
            yield from known_keys(value, path)
        elif isinstance(value, tuple) and any(isinstance(each, BaseModel) for each in value):
            for place, each in enumerate(value):
                yield from known_keys(each, (*path, place))
        else:
            yield _written(path)


def set_value(values: dict[str, Any], path: FieldPath, value: Any) -> None:
    """Put a value into what a scenario holds, as `model_dump` gives it."""
    at: Any = values
    for place, step in enumerate(path[:-1]):
        if isinstance(at[step], tuple):
            at[step] = list(at[step])
        at = at[step]
        assert at is not None, path[: place + 1]
    at[path[-1]] = value
