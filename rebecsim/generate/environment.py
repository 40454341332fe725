"""The Jinja2 environment in which all code is generated."""

from __future__ import annotations

from functools import cache

from jinja2 import PackageLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

__all__ = ["template_environment"]


@cache
def template_environment() -> ImmutableSandboxedEnvironment:
    """Give the environment over the templates of the package `rebecsim.templates`.

    Undefined names are errors. Nothing is escaped, for what is generated is code: only checked
    identifiers, numbers and trees may be passed to a template, never text of a user. The sandbox
    keeps templates from reaching into the objects they are given.
    """
    return ImmutableSandboxedEnvironment(
        loader=PackageLoader("rebecsim.templates", ""),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
