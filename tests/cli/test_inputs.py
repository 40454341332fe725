"""No command may write over a file that it reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rebecsim.cli.app import _imported, all_commands
from tests.clusters.batch.scenarios import LOG
from tests.conftest import Run

READ_OPTIONS = {
    *("--accounts", "--conf", "--gres", "--qos", "--reservations", "--shares"),
    "--like",
    "--plugin",
    "--property",
    "--queues",
    "--replay",
    "--topology",
    "--yarn-site",
}


def paths_of(name: str, command: Any) -> list[tuple[str, Any, Any]]:
    """Commands with each of their options that names a file."""
    own = [(name, command, each) for each in command.params if each.type.name == "path"]
    below = getattr(command, "commands", {}).items()
    return own + [found for word, each in below for found in paths_of(f"{name} {word}", each)]


ALL = [found for name in all_commands() for found in paths_of(name, _imported(name))]
WRITTEN = [
    (name, each.opts[0])
    for name, command, each in ALL
    if each.param_type_name == "option"
    and each.opts[0] not in READ_OPTIONS
    and any(
        other.param_type_name == "argument"
        for _, other_command, other in ALL
        if other_command is command
    )
]


@pytest.mark.parametrize(("name", "option"), WRITTEN)
def test_every_option_that_names_a_new_file_refuses_an_input(
    run: Run, tmp_path: Path, name: str, option: str
) -> None:
    """Whatever the file is: the check comes before anything is read."""
    file = tmp_path / "input"
    file.write_text("something")
    rest = [*["1", "1", "1", "1", "1", "1"], "REGULAR"] if name == "dss" else []
    if name == "slurm":
        rest = ["--conf", file]
    if name == "exact":
        rest = ["--until", "1", "--reward", "a.b"]
    arguments = [file] * (2 if name in ("dss", "diff", "replay") else 1)
    ended = run(*name.split(), *arguments, *rest, option, file)
    assert ended.returncode == 2
    assert f"{option} {file}: the command reads this file" in ended.stderr
    assert file.read_text() == "something"


def test_a_log_is_not_replaced_by_its_schedule(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "my.swf"
    log.write_text(LOG)
    (tmp_path / "link.swf").symlink_to("my.swf")
    for out in ("my.swf", "./my.swf", "link.swf", log):
        ended = run("batch", "my.swf", "--out", out, cwd=tmp_path)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert "give another name" in ended.stderr
        assert log.read_text() == LOG
    assert run("batch", "my.swf", "--out", "new.swf", cwd=tmp_path).returncode == 0
    assert run("batch", "my.swf", "--out", "new.swf", cwd=tmp_path).returncode == 0  # not an input
    ended = run("workload", "generate", "--like", "my.swf", "--out", "my.swf", cwd=tmp_path)
    assert ended.returncode == 2
    assert log.read_text() == LOG
