"""`format`: the layout of the printer, the author's comments, and nothing else."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

import rebecsim as rs
from rebecsim.errors import ExitCode
from rebecsim.lang import parse_model
from rebecsim.lang.printer import print_model
from rebecsim.lang.syntax import Model
from tests.conftest import Run
from tests.lang.strategies import models
from tests.lang.test_formatting import LAID_OUT, LAYOUT

MODELS = Path(__file__).resolve().parents[2] / "models"


def test_files_are_laid_out_in_place(run: Run, tmp_path: Path) -> None:
    file, other = tmp_path / "a.rebeca", tmp_path / "b.rebeca"
    file.write_text(LAYOUT)
    other.write_text(LAID_OUT)
    assert run("format", file, other) == (0, f"{file}: formatted\n", "")
    assert file.read_text() == other.read_text() == LAID_OUT
    assert run("format", file, other) == (0, "2 files, nothing to change\n", "")


def test_a_check_writes_nothing_and_says_so_by_its_exit_code(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.rebeca"
    file.write_text(LAYOUT)
    done = run("format", "--check", file)
    assert done == (ExitCode.VIOLATED, f"{file}: would be changed\n", "")
    assert file.read_text() == LAYOUT
    file.write_text(LAID_OUT)
    assert run("format", "--check", file) == (0, "1 file, nothing to change\n", "")


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_line_ends_and_byte_order_mark_stay(
    run: Run, tmp_path: Path, mark: bytes, end: bytes
) -> None:
    file = tmp_path / "a.rebeca"
    file.write_bytes(mark + LAYOUT.encode().replace(b"\n", end))
    assert run("format", file).returncode == 0
    assert file.read_bytes() == mark + LAID_OUT.encode().replace(b"\n", end)


def test_a_new_model_is_laid_out_already(run: Run, tmp_path: Path) -> None:
    assert run("new", "kiosk", cwd=tmp_path).returncode == 0
    assert run("format", "--check", "kiosk.rebeca", cwd=tmp_path).returncode == 0


def test_what_cannot_be_formatted_stays_and_the_others_are(run: Run, tmp_path: Path) -> None:
    wrong, python, good = (tmp_path / name for name in ("w.rebeca", "p.py", "g.rebeca"))
    wrong.write_text("reactiveclass {")
    python.write_text("1 / 0\n")
    good.write_text(LAYOUT)
    code, said, complaint = run("format", wrong, python, tmp_path / "none.rebeca", good)
    assert (code, said) == (ExitCode.BAD_INPUT, f"{good}: formatted\n")
    assert f"{wrong}:1:15: error" in complaint
    assert f"{python}: is Python; only models in Rebeca can be formatted\n" in complaint
    assert f"{tmp_path / 'none.rebeca'}: No such file or directory\n" in complaint
    assert wrong.read_text() == "reactiveclass {"


def test_a_link_stays_and_permissions_too(run: Run, tmp_path: Path) -> None:
    file, link = tmp_path / "a.rebeca", tmp_path / "link.rebeca"
    file.write_text(LAYOUT)
    file.chmod(0o640)
    link.symlink_to(file)
    assert run("format", link).returncode == 0
    assert link.is_symlink()
    assert (file.read_text(), file.stat().st_mode & 0o777) == (LAID_OUT, 0o640)


def test_models_that_come_along_mean_the_same_afterwards(run: Run, tmp_path: Path) -> None:
    files = [Path(shutil.copy(each, tmp_path)) for each in MODELS.glob("*.rebeca")]
    before = [parse_model(each.read_text()) for each in files]
    assert run("format", *files).returncode == 0
    assert [parse_model(each.read_text()) for each in files] == before
    assert run("format", "--check", *files).returncode == 0


@settings(max_examples=25, deadline=None)
@given(model=models, end=st.sampled_from(["\n", "\r\n"]))
def test_once_is_enough(tmp_path_factory: pytest.TempPathFactory, model: Model, end: str) -> None:
    file = tmp_path_factory.mktemp("any") / "a.rebeca"
    flush_left = re.sub("\n +", "\n", print_model(model))
    file.write_bytes(flush_left.replace("\n", end).encode())
    rs.format(file)
    assert not rs.format(file, check=True)
