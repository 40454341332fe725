from __future__ import annotations

import hashlib

import pytest

from rebecsim.clusters import (
    DISPATCH_POLICIES,
    PluginError,
    load_installed_plugins,
    load_plugin,
    load_plugins,
    loaded_plugins,
    unload_plugin,
)
from rebecsim.clusters.kinds import commands
from tests.clusters.plugins.texts import POLICY


def test_installed_plugins_are_found_once(install_package):
    module = install_package(POLICY)
    (record,) = load_installed_plugins()
    assert record.name == "mine: lazy"
    assert record.sha256 == hashlib.sha256(module.read_bytes()).hexdigest()
    assert load_installed_plugins() == (record,)
    assert "LAZY" in DISPATCH_POLICIES


GREETING = """\
from rebecsim.clusters import Command, Plugin


def greet(to: str = "you") -> None:
    \'\'\'Greet somebody.\'\'\'
    print(f"Hello {to}")


plugin = Plugin(commands=(Command(name="greet", run=greet, example="greet --to Ann"),))
"""


def test_an_installed_plugin_brings_a_command(install_package, run):
    install_package(GREETING)
    done = run("greet", "--to", "Bob")
    assert (done.returncode, done.stdout) == (0, "Hello Bob\n")
    shown = run("greet", "--help").stdout
    assert "Example: rebecsim greet --to Ann" in shown
    assert "Greet somebody." in shown
    refused = run("gret")
    assert refused.returncode == 2
    assert "Did you mean 'greet'" in refused.stderr
    (record,) = load_installed_plugins()
    assert loaded_plugins() == ()  # no run depends on it
    unload_plugin(record)
    assert "greet" not in commands.entries


@pytest.mark.parametrize("given", [["--plugin", "FILE"], ["--plugin=FILE"]])
def test_a_plugin_in_a_file_brings_a_command(write, run, given):
    path = write(GREETING)
    words = [each.replace("FILE", str(path)) for each in given]
    done = run("greet", *words, "--to", "Bob")
    assert (done.returncode, done.stdout) == (0, "Hello Bob\n")
    assert "Did you mean 'greet'" in run("gret", *words).stderr
    unload_plugin(load_plugin(path))  # only commands: runs do not depend on it
    missing = run("greet", "--plugin", "none.py")
    assert missing.returncode == 2
    assert "none.py: cannot be read" in missing.stderr


@pytest.mark.parametrize(
    ("brought", "complaint"),
    [
        ("Command(name='Greet', run=print, example='')", "a command cannot be called 'Greet'"),
        ("Command(name='greet', run=1, example='')", "command greet: 1 is not a function"),
        ("print", "is not a Command"),
    ],
)
def test_a_command_that_cannot_be_used_is_refused(write, brought, complaint):
    text = (
        f"from rebecsim.clusters import Command, Plugin\nplugin = Plugin(commands=({brought},))\n"
    )
    with pytest.raises(PluginError, match=complaint):
        load_plugin(write(text))
    assert "greet" not in commands.entries


def test_plugins_of_files_come_after_installed_ones(install_package, write):
    install_package(POLICY)
    path = write(POLICY.replace("lazy.j2", "other.j2"))
    with pytest.raises(PluginError) as caught:
        load_plugins([path])
    assert str(caught.value) == (
        f"{path}: dispatch policy LAZY already exists, from plug-in lazy of package mine "
        "(mine_module:plugin); rename yours"
    )


@pytest.mark.parametrize(
    ("text", "value", "message"),
    [
        ("1 / 0\n", "mine_module:plugin", "ZeroDivisionError: division by zero"),
        ("plugin = 3\n", "mine_module:plugin", "is no rebecsim.clusters.Plugin"),
        (POLICY, "mine_module:nothing", "AttributeError"),
        (POLICY, "no_such_module:plugin", "ModuleNotFoundError"),
        (POLICY.replace("-1", "slot"), "mine_module:plugin", "does not check"),
    ],
)
def test_an_installed_plugin_that_cannot_be_used(install_package, text, value, message):
    install_package(text, value)
    with pytest.raises(PluginError, match=message) as caught:
        load_installed_plugins()
    assert str(caught.value).startswith("plug-in lazy of package mine")


KIND = """
from typing import ClassVar, Literal

from rebecsim.clusters import Plugin
from rebecsim.studies import Study, StudyScenario


class Shop(StudyScenario):
    kind: Literal["shop"] = "shop"


class Shops(Study):
    kind: ClassVar[str] = "shop"
    scenario: ClassVar[type[StudyScenario]] = Shop

    def cells(self, scenario, folder):
        return []

    def run(self, cell, replications):
        raise NotImplementedError

    def measures(self, scenario):
        return ()
"""


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("baseline", "Shops.baseline has no effect; see Study.comparison"),
        ("is_of", "Shops.is_of has no effect; see StudyScenario.completed and is_like"),
        ("modules", "Shops: modules and changes are tuples, not methods"),
    ],
)
def test_a_kind_with_a_method_of_an_earlier_version_is_refused(complaint, method, message):
    plugin = "\n\nplugin = Plugin(kinds=(Shops(),))\n"
    old = f"\n    def {method}(self, *of):\n        return ()\n"
    assert message in complaint(KIND + old + plugin)


def test_a_part_that_no_kind_takes_is_refused(complaint):
    said = complaint("from rebecsim.clusters import Plugin\nplugin = Plugin(engines=())\n")
    assert "a plug-in cannot bring engines; give it one of dispatch_policies" in said
