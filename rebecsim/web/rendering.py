"""Fill in templates; nothing here needs a server, so a page without one can have the same parts."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from rebecsim.errors import UserError
from rebecsim.web.limits import visitor
from rebecsim.wording import clipped

_CODE = re.compile(r"`([^`]+)`")

_LONGEST_ERROR = 2000


class UnknownPlaceError(UserError):
    """An address names a model, run or page that does not exist or is hidden from the visitor."""


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("rebecsim.web"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["in_code"] = in_code
    environment.globals["visitor"] = visitor.get
    environment.globals["is_figure"] = _is_figure
    return environment


def _is_figure(text: str) -> bool:
    from rebecsim.report.page import is_figure  # with all that reports need

    return is_figure(text)


def in_code(text: str) -> Markup:
    """Give a text as HTML, with what stands between backticks as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


def shown_error(error: object) -> str:
    """Give the text of an error at a length that can be shown."""
    return clipped(str(error), _LONGEST_ERROR)


def rendered(template: str, **values: Any) -> str:
    """Fill in a template."""
    return _environment().get_template(template).render(**values)
