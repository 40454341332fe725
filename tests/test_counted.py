"""Numbers with their nouns."""

from __future__ import annotations

from rebecsim.wording import counted


def test_one_is_not_many() -> None:
    assert [counted(number, "state") for number in (0, 1, 2000)] == [
        "0 states",
        "1 state",
        "2,000 states",
    ]
    assert counted(2, "class", "classes") == "2 classes"
