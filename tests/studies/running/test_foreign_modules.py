"""Modules that lie in the working directory are nobody's but the user's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rebecsim
from tests.endtoend.test_cli import SCENARIO
from tests.program import without_progress

TRAP = "raise SystemExit('a module of the working directory was imported: ' + __file__)\n"
TRAPS = ("random.py", "statistics.py", "selectors.py", "pickle.py", "socket.py")
PACKAGES = ("rebecsim", "numpy")
PROGRAM = Path(sys.executable).with_name("rebecsim")

POOL = """
import multiprocessing, sys
from rebecsim.studies.executors import simulation_modules, start_server, executor_of

def origin(name):
    return sys.modules[name].__file__

if __name__ == "__main__":
    if sys.argv[1] == "spawn":
        multiprocessing.get_all_start_methods = lambda: ["spawn"]
    start_server(2, simulation_modules("python"))
    with executor_of(2, simulation_modules("python")) as pool:
        print(pool.submit(origin, "rebecsim").result())
"""


@pytest.fixture
def trapped(tmp_path):
    """A directory in which every module that is imported by mistake ends the program."""
    for name in TRAPS:
        (tmp_path / name).write_text(TRAP)
    for name in PACKAGES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(TRAP)
    return tmp_path


def run(*command, cwd):
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        list(map(str, command)), cwd=cwd, env=inherited, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("start_method", ["forkserver", "spawn"])
def test_workers_do_not_import_them(start_method, trapped, tmp_path_factory):
    script = tmp_path_factory.mktemp("elsewhere") / "pool.py"
    script.write_text(POOL)
    found = run(sys.executable, script, start_method, cwd=trapped)
    assert (found.stdout, found.stderr) == (f"{rebecsim.__file__}\n", "")


@pytest.mark.parametrize("command", [[PROGRAM], [sys.executable, "-m", "rebecsim"]], ids=len)
def test_a_comparison_does_not_import_them(command, trapped):
    if len(command) > 1:  # Python itself takes a package of that name, before anything of ours runs
        (trapped / "rebecsim" / "__init__.py").unlink()
    (trapped / "tiny.toml").write_text(SCENARIO)
    options = ("--replications", 2, "--workers", 2, "--engine", "python", "--out", "out")
    done = run(*command, "compare", "tiny.toml", *options, "--no-orders", cwd=trapped)
    assert done.returncode == 0, done.stderr
    assert without_progress(done.stderr) == []
    assert "EDF" in done.stdout
