from __future__ import annotations

import pytest

from rebecsim.report import duration_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (35, "35s"),
        (1.5, "1.5s"),
        (0.96, "1s"),
        (0.04, "0s"),
        (59.9, "1m 0s"),
        (848, "14m 8s"),
        (8879, "2h 27m"),
        (29_363_618, "339d 20h"),
    ],
)
def test_durations(seconds, text):
    assert duration_text(seconds) == text
