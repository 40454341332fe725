"""The Jinja2 environment in which all code is generated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined
from jinja2.exceptions import TemplateNotFound
from jinja2.sandbox import ImmutableSandboxedEnvironment


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
