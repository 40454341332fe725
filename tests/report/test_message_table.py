"""The table of messages loses no text, however little room there is."""

from __future__ import annotations

import io
from collections import Counter

from hypothesis import given, strategies as st
from rich.console import Console

from rebecsim.report import MessageRow, MessageTable

SENDER = "manager"


def printed(
    message: str, changes: list[str], width: int, choices: str = "3", ends_wrong: bool = False
) -> str:
    row = MessageRow(("1", "0"), SENDER, message, "", choices, tuple(changes))
    console = Console(file=io.StringIO(), width=width)
    console.print(MessageTable(["Step", "Time"], [row], ends_wrong=ends_wrong))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def in_words(text: str) -> Counter[str]:
    return Counter("".join(text.split()))


@given(
    message=st.lists(st.sampled_from(["node0:", "launch(job=0,", "container=1)"]), max_size=9),
    changes=st.lists(st.sampled_from(["given = [1, -1]", "used = 1", "f" * 90]), max_size=20),
    width=st.integers(60, 200),
)
def test_every_character_is_printed(message: list[str], changes: list[str], width: int) -> None:
    text = " ".join(message)
    shown = printed(text, changes, width)
    assert max(map(len, shown.splitlines())) <= width
    headings = "Step Time From To: message Choices"
    if changes and "Changed" in shown:
        headings += " Changed"
    assert in_words(shown) == in_words(f"{headings} 1 0 {SENDER} 3 {text} {', '.join(changes)}")


def test_changes_stand_below_their_message_where_there_is_no_room_beside_it() -> None:
    message, changes = (
        "manager: node_heartbeat(node=0)",
        ["given = [1, -1]", "used = 0", "free = 3"],
    )
    beside = printed(message, changes, 100).splitlines()
    assert [line.rstrip() for line in beside] == [
        "Step  Time  From     To: message                      Choices  Changed",
        f"   1     0  manager  {message}  3        given = [1, -1], used = 0, free = 3",
    ]
    below = printed(message, changes, 62).splitlines()
    assert [line.rstrip() for line in below] == [
        "Step  Time  From     To: message                       Choices",
        f"   1     0  manager  {message}   3",
        "                       given = [1, -1], used = 0,",
        "                       free = 3",
    ]


def test_a_column_without_texts_is_left_out() -> None:
    heading = printed("a: go()", [], 80, choices="").splitlines()[0]
    assert heading.split() == ["Step", "Time", "From", "To:", "message"]


def test_the_step_that_goes_wrong_is_marked() -> None:
    assert printed("a: go()", [], 80, ends_wrong=True).splitlines()[1].startswith(" > 1 ")
