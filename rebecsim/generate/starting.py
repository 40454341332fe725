"""Write a small model to begin with, its properties, and a test of both."""

from __future__ import annotations

import re
from pathlib import Path

from rebecsim.errors import UserError
from rebecsim.files import write_text
from rebecsim.generate.environment import template_environment


def write_starter(name: Path) -> tuple[Path, Path, Path]:
    """Write a model, a property file and a test in pytest, and give their paths in this order.

    `name` is that of the model, perhaps in a directory. Raises UserError for one that is no name,
    and if any of the files is there; nothing is written then.
    """
    _check_name(name.name)
    files = (
        name.with_name(f"{name.name}.rebeca"),
        name.with_name(f"{name.name}.property"),
        name.with_name(f"test_{name.name}.py"),
    )
    for file in files:
        if file.exists() or file.is_symlink():
            raise UserError(f"{file}: exists already; choose another name, or move the file")
    if not name.parent.is_dir():
        raise UserError(f"{name.parent}: is not a directory; create it first")
    for file, kind in zip(files, ("rebeca", "property", "py"), strict=True):
        write_text(file, _text(name.name, kind))
    return files


def starter_text(name: str) -> str:
    """Give the text of a small model to begin with. Raises UserError for what is no name."""
    _check_name(name)
    return _text(name, "rebeca")


def _check_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise UserError(
            f"{name!r} cannot be the name of a model: use letters, digits and _, and a letter first"
        )


def _text(name: str, kind: str) -> str:
    return template_environment().get_template(f"new/model.{kind}.j2").render(name=name)
