"""All pages about studies, over the directory that the server was given."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import APIRouter

from rebecsim.web.studies.run_pages import run_pages

if TYPE_CHECKING:
    from rebecsim.web.studies.run_views import RunViews


def study_pages(root: Path | None) -> APIRouter:
    """Give the pages; without a directory they say so."""

    @cache
    def views() -> RunViews:
        # Imported here: whoever steps through a model should not wait for what reads results.
        from rebecsim.web.studies.run_views import RunViews

        return RunViews(root)

    return run_pages(views)
