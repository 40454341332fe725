"""An installed rebecsim has all that a checkout has."""

from __future__ import annotations

import configparser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_every_package_is_installed() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    listed = {name for name in setup["options"]["packages"].split() if name.startswith("rebecsim")}
    places = [file.parent for file in (ROOT / "rebecsim").rglob("__init__.py")]
    there = {".".join(place.relative_to(ROOT).parts) for place in places}
    elsewhere = {"rebecsim.models", "rebecsim.templates"} | {
        name for name in listed if name.startswith("rebecsim.models.")
    }
    assert listed - elsewhere == there


def test_every_file_beside_the_modules_is_installed() -> None:
    """A kind whose `commands.toml` is left out has no command in an installation."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    patterns = setup["options.package_data"]
    everywhere = patterns["*"].split(", ")
    left_out = [
        file.relative_to(ROOT)
        for place in (ROOT / "rebecsim").rglob("__init__.py")
        for file in place.parent.rglob("*")
        if file.is_file() and file.suffix not in (".py", ".pyc")
        if _package(file) == ".".join(place.parent.relative_to(ROOT).parts)
        if not any(
            file.relative_to(place.parent).match(pattern)
            for pattern in (
                *everywhere,
                *patterns.get(_package(file), "").replace(",", " ").split(),
            )
        )
    ]
    assert left_out == []


def _package(file: Path) -> str:
    """The nearest package above a file."""
    place = file.parent
    while not (place / "__init__.py").exists():
        place = place.parent
    return ".".join(place.relative_to(ROOT).parts)
