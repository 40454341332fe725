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
