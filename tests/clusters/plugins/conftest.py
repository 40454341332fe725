from __future__ import annotations

import sys
import textwrap
from importlib import metadata
from pathlib import Path

import pytest

from rebecsim.clusters import (
    ARRIVAL_PATTERNS,
    DISPATCH_POLICIES,
    EVICTION_POLICIES,
    LENGTH_PATTERNS,
    PluginError,
    load_plugin,
    loaded_plugins,
    unload_plugin,
)
from rebecsim.clusters.kinds import ENTRY_POINT_GROUP
from rebecsim.errors import UserError
from rebecsim.generate.templates import has_template


def everything():
    registries = (DISPATCH_POLICIES, EVICTION_POLICIES, ARRIVAL_PATTERNS, LENGTH_PATTERNS)
    return [dict(registry) for registry in registries], loaded_plugins()


@pytest.fixture(autouse=True)
def _everything_is_as_before():
    before = everything()
    yield
    for record in loaded_plugins():
        if record not in before[1]:
            unload_plugin(record)
    assert everything() == before


@pytest.fixture
def write(tmp_path):
    def write_file(text: str, name: str = "mine.py") -> Path:
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path

    return write_file


@pytest.fixture
def complaint(write):
    """The message about a plug-in of that text, without the folder; nothing is left behind."""

    def complaint_about(text: str) -> str:
        path, before = write(text), everything()
        with pytest.raises(PluginError) as caught:
            load_plugin(path)
        assert everything() == before
        assert not has_template("mine.j2")
        assert isinstance(caught.value, UserError)
        return str(caught.value).replace(str(path), "mine.py")

    return complaint_about


@pytest.fixture
def install_package(tmp_path, monkeypatch):
    """Put a package with a plug-in on the path, as an installer would."""

    def install(text: str, value: str = "mine_module:plugin") -> Path:
        module = tmp_path / "mine_module.py"
        module.write_text(text)
        info = tmp_path / "mine-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(
            textwrap.dedent(f"""\
                [{ENTRY_POINT_GROUP}]
                lazy = {value}
                """)
        )
        monkeypatch.syspath_prepend(tmp_path)
        look = metadata.entry_points.__wrapped__  # again, not what is remembered for all tests
        monkeypatch.setattr(metadata, "entry_points", look)
        monkeypatch.delitem(sys.modules, "mine_module", raising=False)
        assert metadata.version("mine") == "1.0"
        return module

    return install
