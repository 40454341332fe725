"""Each pass over a model with an error planted in it: an independent check has to find it.

The check is a test that compares with brute force, with an explorer of its own or with the whole
state space. It runs on a copy of the package in which one piece of a pass reads otherwise.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = [pytest.mark.large, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[3]


class Planted(NamedTuple):
    """An error: in which file what reads how instead, and the tests that must not pass then."""

    file: str
    right: str
    wrong: str
    check: str


FOOTPRINTS = "exploration/analysis/footprints.py"
NAMES = "exploration/analysis/automorphisms.py"
DECIDING = "exploration/analysis/deciding_reads.py"
SYMMETRY = "exploration/symmetry.py"

WAITS = "tests/exploration/states/test_suspension.py"
POINTS = "tests/exploration/analysis/test_absolute_time.py"
FORMULAS = "tests/exploration/temporal/test_formulas_of_files.py"
MIRRORED = "tests/exploration/test_reflection.py"
ORDERED = "tests/exploration/compiled/test_partial_order.py"
IGNORED = "tests/exploration/analysis/test_ignoring.py"

ERRORS = {
    "writes are of no account for the order of statements": Planted(
        FOOTPRINTS,
        "if one.writes & (other.reads | other.writes) or other.writes & one.reads:",
        "if one.writes & other.writes:",
        MIRRORED,
    ),
    "opaque statements are independent": Planted(
        FOOTPRINTS,
        "if one.is_opaque or other.is_opaque:",
        "if one.is_opaque and other.is_opaque:",
        MIRRORED,
    ),
    "nobody is sent anything": Planted(
        FOOTPRINTS, "targets[service] |= receivers", "targets[service] |= set()", ORDERED
    ),
    "every message takes time": Planted(
        FOOTPRINTS, "if not _takes_time(checked, send):", "if False:", ORDERED
    ),
    "methods send nothing": Planted(
        FOOTPRINTS,
        "for method in tree.methods:\n            yield from",
        "for method in ():\n            yield from",
        ORDERED,
    ),
    "a variable that is read may count": Planted(
        FOOTPRINTS,
        "if each.type == INT) - named",
        "if each.type == INT)",
        "tests/exploration/orders/test_exact_orders.py",
    ),
    "conditions with different constants may both be true": Planted(
        FOOTPRINTS,
        "return checked.constant_of(one) != checked.constant_of(other)",
        "return True",
        MIRRORED,
    ),
    "a time that is stored is no time": Planted(
        FOOTPRINTS, "if _reads_a_point(checked, body):", "if False:", POINTS
    ),
    "no server asks how long a message waited": Planted(
        FOOTPRINTS,
        "_WAITING in _builtins(checked, *bodies_of(checked, own)) for own",
        "False for own",
        WAITS,
    ),
    "no server waits": Planted(
        FOOTPRINTS,
        "return any(isinstance(node, syntax.Delay) for body in bodies for node in walk(body))",
        "return not list(bodies)",
        FORMULAS,
    ),
    "no server reads a time of its message": Planted(
        FOOTPRINTS,
        "if asked & _builtins(checked, server.tree, *methods_called(own, server.tree))",
        "if not server.name",
        WAITS,
    ),
    "functions of Python name no time": Planted(
        FOOTPRINTS,
        "found = {each: may_name(each, names, constructors) for each in classes}",
        "found = dict.fromkeys(classes)",
        POINTS,
    ),
    "what an ignored variable flows into is not followed": Planted(
        DECIDING,
        "                if matters:\n                    self._followed.add(name)\n"
        "            case Index(Name(name) as array)",
        "            case Index(Name(name) as array)",
        IGNORED,
    ),
    "a branch on an ignored variable decides nothing": Planted(
        DECIDING, "decides = conditional or self._reads(test)", "decides = conditional", IGNORED
    ),
    "locals have no values of ignored variables": Planted(
        DECIDING,
        "if conditional or (value is not None and self._reads(value)):",
        "if conditional:",
        IGNORED,
    ),
    "a state variable may become any other": Planted(
        NAMES,
        "return names.bound(Named(a.kind, body.own.name, a.name), b.name)\n        return names if",
        "return names\n        return names if",
        MIRRORED,
    ),
    "statements may come in any order": Planted(
        NAMES,
        "            footprint = self._footprint_of(statements[place])\n            return all(",
        "            footprint = self._footprint_of(statements[place])\n            return any(",
        MIRRORED,
    ),
    "a coin may be loaded": Planted(
        NAMES,
        "return shares[0] == shares[1] and 2 * len(shares[0]) == len(values)",
        "return True",
        MIRRORED,
    ),
    "arguments keep their places": Planted(
        SYMMETRY,
        "arguments = tuple([values[origin] for origin in labels.arguments[message.number]])",
        "arguments = values",
        MIRRORED,
    ),
    "references in variables keep their rebecs": Planted(
        SYMMETRY,
        "return self._references[self.images[value.index]]",
        "return value",
        "tests/exploration/test_reduction.py",
    ),
    "known rebecs are always different": Planted(
        SYMMETRY,
        "return all(each[one] != each[other] for each in bound)",
        "return True",
        MIRRORED,
    ),
    "what a waiting function reads later is dead": Planted(
        "steps/waiting.py",
        "live if all(map(_is_plain, nodes)) else None,",
        "_NONE if all(map(_is_plain, nodes)) else None,",
        WAITS,
    ),
    "how far a loop has come does not matter": Planted(
        "steps/waiting.py",
        "_NONE.union(*(each for each in counting if each is not None)),",
        "_NONE,",
        WAITS,
    ),
    "functions that a server calls name nothing": Planted(
        "steps/reached.py",
        "pending += _named_by(function, names_in(tree))",
        "pending += []",
        POINTS,
    ),
    "methods call no methods": Planted(
        FOOTPRINTS,
        "pending.append(found[node.method])",
        "pending.extend(())",
        WAITS,
    ),
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package beside the tests, to plant errors in."""
    here = tmp_path_factory.mktemp("planted")
    for each in ("tests", "models", "templates", "docs", "pyproject.toml", "setup.cfg"):
        (here / each).symlink_to(ROOT / each)
    shutil.copytree(ROOT / "rebecsim", here / "rebecsim", symlinks=True)
    return here


def _passes(checkout: Path, check: str) -> bool:
    command = ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", check)
    done = subprocess.run(
        [sys.executable, *command],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.returncode == 0


@pytest.mark.parametrize("name", ERRORS)
def test_a_planted_error_is_found(name: str, checkout: Path) -> None:
    error = ERRORS[name]
    path = checkout / "rebecsim" / error.file
    before = path.read_text()
    assert before.count(error.right) == 1
    path.write_text(before.replace(error.right, error.wrong))
    try:
        assert not _passes(checkout, error.check)
    finally:
        path.write_text(before)


@pytest.mark.parametrize("check", sorted({error.check for error in ERRORS.values()}))
def test_without_an_error_the_check_passes(check: str, checkout: Path) -> None:
    assert _passes(checkout, check)
