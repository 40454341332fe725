"""A misspelt name on the command line or in a file: which one was meant is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run

ROOT = Path(__file__).resolve().parents[2]
TICKETS = str(ROOT / "models" / "ticket_service.rebeca")


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["explore", TICKETS, "--ignore", "office.lefft"], "did you mean office.left?"),
        (["explore", TICKETS, "--ignore", "ofice.left"], "did you mean office.left?"),
        (["explore", TICKETS, "--invariant", "ofice.left > 0"], "did you mean `office`?"),
        (["explore", TICKETS, "--terminal", "office.lfet > 0"], "did you mean `left`?"),
        (["compare", "for_edff", "--out", "never"], "did you mean for_edf?"),
        (["generate", "for_edff", "--out", "never"], "did you mean for_edf?"),
        (["simulat", TICKETS], "Did you mean 'simulate', 'estimate'?"),
        (["validat", TICKETS], "Did you mean 'validate'?"),
    ],
)
def test_the_name_that_was_meant_is_said(run: Run, arguments: list[str], meant: str) -> None:
    code, _, complaint = run(*arguments)
    assert code == 2
    assert meant in complaint


def test_the_message_of_a_breakpoint_that_was_meant_is_said(run: Run) -> None:
    code, _, shown = run("step", TICKETS, typed="break bye\nbreak ofice.buy\nbreak 1\n")
    assert code == 2
    assert "there is no message 'bye'; did you mean buy?" in shown
    assert "there is no message 'ofice.buy'; did you mean office.buy?" in shown
    assert "there is no message '1'; there are office.buy, office.refill, ann.think" in shown
