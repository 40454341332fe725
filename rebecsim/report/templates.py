"""Templates of HTML pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template


def page_template(name: str) -> Template:
    """Load a template of this package; everything that it shows is escaped."""
    # Imported here: a report in the terminal does not need it.
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rebecsim.report", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
