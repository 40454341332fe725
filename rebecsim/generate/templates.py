"""Set up Jinja2 for templates of models, and write models to begin with.

Every run of a model takes its step as text, which `module` and `step` write without Jinja2: it
takes longer to import than small models take to explore.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined
from jinja2.exceptions import TemplateNotFound
from jinja2.sandbox import ImmutableSandboxedEnvironment

from rebecsim.errors import UserError
from rebecsim.files import write_text


class _GivenTemplates(BaseLoader):
    """Templates that were given as texts. Their file name in a traceback is their own name."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        text = self.texts.get(template)
        if text is None:
            raise TemplateNotFound(template)
        return text, template, lambda: self.texts.get(template) is text


_given = _GivenTemplates()


@cache
def template_environment() -> ImmutableSandboxedEnvironment:
    """Give the environment over the templates of the package `rebecsim.templates` and added ones.

    Undefined names are errors. Nothing is escaped, for what is generated is code: only checked
    identifiers, numbers and trees may be passed to a template, never text of a user. The sandbox
    keeps templates from reaching into the objects they are given.
    """
    return ImmutableSandboxedEnvironment(
        loader=ChoiceLoader([PackageLoader("rebecsim.templates", ""), _given]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def has_template(name: str) -> bool:
    """Whether there is a template of this name."""
    environment = template_environment()
    assert environment.loader is not None
    try:
        environment.loader.get_source(environment, name)
    except TemplateNotFound:
        return False
    return True


def add_templates(texts: Mapping[str, str]) -> None:
    """Add templates, by name. Raises ValueError, and adds none, when a name is taken."""
    for name in texts:
        if has_template(name):
            raise ValueError(f"there is already a template named {name}")
    _given.texts.update(texts)


def remove_templates(texts: Mapping[str, str]) -> None:
    """Take out templates that were added."""
    for name in texts:
        del _given.texts[name]


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
