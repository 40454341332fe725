"""Make answers of errors and files, and read forms."""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi.responses import HTMLResponse, PlainTextResponse, Response

from rebecsim.errors import UserError
from rebecsim.web.rendering import rendered, shown_error


def problem(text: str, status: int) -> HTMLResponse:
    """Give a page that says what is wrong."""
    page = rendered("problem.html.j2", text=shown_error(text), status=status)
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
