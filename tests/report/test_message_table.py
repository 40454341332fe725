"""The table of messages loses no text, however little room there is."""

from __future__ import annotations

import io
from collections import Counter

from hypothesis import given, strategies as st
from rich.console import Console
from rich.text import Text

from rebecsim.report.models.message_table import MessageTable

SENDER = "manager"


def printed(message: str, changes: str, width: int) -> str:
    table = MessageTable(["Step", "Time"], [message])
    table.add_row(*map(Text, ("1", "0", SENDER, message, "", "3", changes)))
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def in_words(text: str) -> Counter[str]:
    return Counter("".join(text.split()))


@given(
    message=st.lists(st.sampled_from(["node0:", "launch(job=0,", "container=1)"]), max_size=9),
    changes=st.lists(st.sampled_from(["given", "=", "[1,", "-1],", "used", "free"]), max_size=20),
    width=st.integers(76, 200),
)
def test_every_character_is_printed(message: list[str], changes: list[str], width: int) -> None:
    texts = " ".join(message), " ".join(changes)
    shown = printed(*texts, width)
    assert max(map(len, shown.splitlines())) <= width
    headings = "Step Time From To: message Deadline Choices Changed"
    assert in_words(shown) == in_words(f"{headings} 1 0 {SENDER} 3 {' '.join(texts)}")


def test_changes_are_broken_before_messages_are() -> None:
    message, changes = "manager: node_heartbeat(node=0)", "given = [1, -1], used = [1, 0], free = 3"
    assert message in printed(message, changes, 90)
    assert changes not in printed(message, changes, 90)
    assert changes in printed(message, changes, 120)
