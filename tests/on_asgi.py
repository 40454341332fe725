"""Asking an application as a server would, without one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode


class Answered(NamedTuple):
    """An answer: its status, headers by name in small letters, and body, also as bytes."""

    status: int
    headers: dict[str, str]
    text: str
    content: bytes


OWN = (("host", "localhost:8765"),)
"""What a browser says that was led here by its user."""

SENDING = (
    *OWN,
    ("origin", "http://localhost:8765"),
    ("sec-fetch-site", "same-origin"),
    ("content-type", "application/x-www-form-urlencoded"),
)
"""What it says when a form of ours is sent."""


def ask(app: Any, address: str, **how: Any) -> Any:
    """Send a request and give the answer; `how` as for `asked`."""
    return asyncio.run(asked(app, address, **how))


async def asked(
    app: Any,
    address: str,
    *,
    method: str = "GET",
    headers: Sequence[tuple[str, str]] = OWN,
    body: bytes = b"",
    cut: bool = False,
    client: str = "127.0.0.1",
    gone: bool = False,
) -> Any:
    """Send a request and give the answer, an `Answered`.

    With `cut`, whoever asks is gone when all but the end of the body has been sent, and there may
    be no answer; with `gone`, right after all has been sent.
    """
    path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("latin-1", "replace"),
        "root_path": "",
        "query_string": query.encode("latin-1"),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers],
        "client": (client, 50000),
        "server": ("127.0.0.1", 8765),
    }
    sent: list[Any] = []
    parts = [body[start : start + 5000] for start in range(0, len(body), 5000)] or [b""]
    waiting = [
        {"type": "http.request", "body": part, "more_body": cut or place + 1 < len(parts)}
        for place, part in enumerate(parts)
    ]

    ended = asyncio.Event()  # who asks stays until the answer is whole

    async def receive() -> Any:
        if waiting:
            return waiting.pop(0)
        if cut:
            return {"type": "http.disconnect"}
        if not gone:
            await ended.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            ended.set()

    await app(scope, receive, send)
    if not sent:
        return None
    found = {name.decode(): value.decode("latin-1") for name, value in sent[0]["headers"]}
    content = b"".join(each.get("body", b"") for each in sent[1:])
    return Answered(sent[0]["status"], found, content.decode("utf-8", "replace"), content)


def send_form(app: Any, address: str, **fields: str) -> Answered:
    """Send a form as a page of ours does."""
    return ask(app, address, method="POST", headers=SENDING, body=urlencode(fields).encode("ascii"))
