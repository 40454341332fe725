"""The rules of time that engines share: an error in one shows beside the independent explorer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rebecsim.exploration.states import rebec_states, transitions
from tests.independent.drawing import draw
from tests.independent.test_explorer import compare

pytestmark = pytest.mark.large

MOST = 200
"""Random models, of which one has to show an error."""


def clock_does_not_count(clock: int, messages: Any) -> int:
    return messages[0][0]


def one_message_only(messages: Any, core: bool) -> int:
    return 1


def all_messages(messages: Any, core: bool) -> int:
    return len(messages)


def all_are_urgent(due: list[Any], urgencies: list[int]) -> list[Any]:
    return due


def compare_many() -> None:
    for seed in range(MOST):
        compare(draw(seed), engines=("python",))


@pytest.mark.parametrize(
    ("module", "name", "wrong"),
    [
        (rebec_states, "due_at", clock_does_not_count),
        (rebec_states, "count_alternatives", one_message_only),
        (rebec_states, "count_alternatives", all_messages),
        (transitions, "most_urgent", all_are_urgent),
    ],
)
def test_an_error_shows(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, wrong: Callable[..., Any]
) -> None:
    monkeypatch.setattr(module, name, wrong)
    with pytest.raises(AssertionError, match="python"):
        compare_many()
