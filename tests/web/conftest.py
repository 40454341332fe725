"""A server's application for the tests of its pages."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rebecsim.web import Admission, Inquiry, Library, ListedModel, make_app
from rebecsim.web.studies import study_process


@pytest.fixture
def no_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no process search for a verdict."""

    def nothing(self: Any, listed: ListedModel, never: str = "", **asked: bool) -> Inquiry:
        return Inquiry(never, state="done", verdict="not asked")

    monkeypatch.setattr("rebecsim.web.verdicts.Verdicts.ask", nothing)


@pytest.fixture
def app(tmp_path: Path, no_searches: None) -> Callable[..., Any]:
    """Give an application over the models of a directory, which is the test's own."""
    return lambda given=tmp_path, token=None: make_app(Library(given), Admission(8765, token))


@pytest.fixture
def no_processes(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would be started."""
    commands: list[list[str]] = []

    class Process:
        def __init__(self, command: list[str], **given: Any) -> None:
            assert given["start_new_session"]  # it outlives the server, and hears no Ctrl-C of its
            commands.append(command)

        def poll(self) -> None:
            return None

    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr(study_process, "_ours", {})
    return commands
