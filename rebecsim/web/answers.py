"""Make answers from templates, errors and files, and read forms."""

from __future__ import annotations

import re
from functools import cache
from typing import Any
from urllib.parse import parse_qs

from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from rebecsim.errors import UserError
from rebecsim.report.page import is_figure
from rebecsim.web.limits import visitor
from rebecsim.wording import clipped

_CODE = re.compile(r"`([^`]+)`")

LONGEST_ERROR = 2000
"""Characters of an error that is shown."""


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
    environment.globals["is_figure"] = is_figure
    return environment


def in_code(text: str) -> Markup:
    """Give a text as HTML, with what stands between backticks as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


def rendered(template: str, **values: Any) -> str:
    """Fill in a template."""
    return _environment().get_template(template).render(**values)


def problem(text: str, status: int) -> HTMLResponse:
    """Give a page that says what is wrong."""
    page = rendered("problem.html.j2", text=clipped(text, LONGEST_ERROR), status=status)
    return HTMLResponse(page, status)


def read_form(body: bytes, most: int = 20) -> dict[str, str]:
    """Read the fields of a form; of several with one name, the last."""
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=most)
    except ValueError as error:
        raise UserError("rebecsim cannot read this form. Reload the page and try again.") from error
    return {name: values[-1] for name, values in fields.items()}


def safe_name(name: str) -> str:
    """Replace characters of a file name that have a meaning in headers or paths."""
    return "".join(
        each if each.isascii() and (each.isalnum() or each in "._-") else "_" for each in name
    )


def download(text: str, name: str, kind: str = "text/plain") -> Response:
    """Answer with a text that the browser saves as a file."""
    headers = {"content-disposition": f'attachment; filename="{safe_name(name)}"'}
    return PlainTextResponse(text, headers=headers, media_type=kind)
