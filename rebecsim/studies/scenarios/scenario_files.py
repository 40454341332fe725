"""Find and parse scenario files; their values are validated elsewhere."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from rebecsim.close_names import closest_name
from rebecsim.limits import NESTING, SOURCE, read_file
from rebecsim.studies.scenarios.scenario_errors import ScenarioError, ScenarioProblem
from rebecsim.studies.scenarios.toml_lines import FieldPath, key_lines, most_parts


@dataclass(frozen=True)
class ScenarioText:
    """What a scenario file says, not validated.

    Attributes:
        origin: how messages call it.
        values: its keys.
        lines: on which line each of them stands.
        folder: what paths in it start from.
    """

    origin: str
    values: Mapping[str, object]
    lines: Mapping[FieldPath, int]
    folder: Path

    def with_sweep(self, more: Mapping[str, Any]) -> ScenarioText:
        """Give the scenario with further keys swept, or with other values of them."""
        if not more:
            return self
        from rebecsim.studies.scenarios.sweeps import with_sweep

        return replace(self, values=with_sweep(self.values, more))


def builtin_scenarios() -> tuple[str, ...]:
    """Return the names of the scenarios that come with the package, in alphabetical order."""
    return tuple(_builtin_names())


def read_scenario_text(source: str | Path) -> ScenarioText:
    """Read a scenario: a built-in one by its name, or a TOML file by its path.

    Raises ScenarioError for a missing file, or one that is not TOML.
    """
    origin = str(source)
    folder = Path(source).parent
    if isinstance(source, str) and source in _builtin_names():
        origin = f"{source}.toml"
        content = (_builtin_folder() / origin).read_bytes()
        folder = Path(str(_builtin_folder()))
    else:
        content = _read_file(Path(source))
    return scenario_text(origin, _decoded(origin, content), folder)


def scenario_text(origin: str, text: str, folder: Path) -> ScenarioText:
    """Read a scenario from a text, not validated.

    Raises ScenarioError for text that is not TOML, LimitError for keys of too many parts.
    """
    NESTING.require(most_parts(text), origin)
    return ScenarioText(origin, _parsed(origin, text), key_lines(text), folder)


def _builtin_names() -> list[str]:
    names = (entry.name for entry in _builtin_folder().iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def _builtin_folder() -> Traversable:
    return resources.files("rebecsim.models") / "scenarios"


def _read_file(path: Path) -> bytes:
    origin = str(path)
    if path.is_dir():
        raise ScenarioError(origin, [ScenarioProblem("is a directory; name a scenario file in it")])
    if not path.exists():
        raise ScenarioError(origin, [ScenarioProblem(_no_such_scenario(origin))])
    if not path.is_file():
        raise ScenarioError(origin, [ScenarioProblem("is not a regular file; name a TOML file")])
    try:
        return read_file(path, SOURCE)
    except OSError as error:
        raise ScenarioError(
            origin, [ScenarioProblem(f"cannot be read: {error.strerror}")]
        ) from error


def _no_such_scenario(origin: str) -> str:
    known = _builtin_names()
    close = closest_name(origin, known)
    hint = f"did you mean {close}? " if close else ""
    return (
        f"no such file, and no built-in scenario of that name; {hint}"
        f"built-in scenarios are {', '.join(known)}"
    )


def _decoded(origin: str, content: bytes) -> str:
    """Return the text with the line ends of TOML, which knows LF and CR LF."""
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        message = "is not UTF-8 text; save the file as UTF-8"
        raise ScenarioError(origin, [ScenarioProblem(message, line=line)]) from error


def _parsed(origin: str, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, and ValueError for a number of absurd length
        message = str(error)
        place = re.search(r" \(at line (\d+), column (\d+)\)$", message)
        problem = ScenarioProblem(f"not valid TOML: {message}")
        if place:
            message = f"not valid TOML: {message[: place.start()]}"
            problem = ScenarioProblem(message, line=int(place[1]), column=int(place[2]))
        raise ScenarioError(origin, [problem]) from error
    except RecursionError as error:
        message = "not a scenario: lists or tables are nested too deeply"
        raise ScenarioError(origin, [ScenarioProblem(message)]) from error
