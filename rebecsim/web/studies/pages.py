"""Put together the routes of studies and runs below the server's directory."""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import APIRouter

from rebecsim.extras import REPORTS, require
from rebecsim.web.studies.run_pages import run_pages
from rebecsim.web.studies.study_pages import study_router

if TYPE_CHECKING:
    from rebecsim.web.studies.run_views import RunViews
    from rebecsim.web.studies.study_views import StudyViews


def study_pages(root: Path | None, closing: threading.Event) -> APIRouter:
    """Give the pages; without a directory they say so, and when the server is `closing` they end.

    What reads results is imported when it is asked for: whoever steps through a model should not
    wait for it.
    """

    @cache
    def runs() -> RunViews:
        require("a study in the browser", *REPORTS, "duckdb")
        from rebecsim.web.studies.run_views import RunViews

        return RunViews(root)

    @cache
    def studies() -> StudyViews:
        shown = runs()
        from rebecsim.web.studies.study_views import StudyViews

        return StudyViews(shown)

    router = run_pages(runs)
    router.include_router(study_router(studies, closing))
    return router
