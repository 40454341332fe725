"""What every request has to pass: where it comes from, who sends it, how large it is.

A page of another site can have a browser send requests here, also under a name of its own that
leads to this machine. So the host that is asked for must be this server's, what changes or computes
something must come from its own pages, and a server that others can reach asks for a token.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_BODY = 512 * 1024
LONGEST_ADDRESS = 16 * 1024
_ONCE = ("host", "origin", "sec-fetch-site", "content-length", "content-digest")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})

_HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        b"img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        b"frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


@dataclass(frozen=True)
class Admission:
    """Who may ask: browsers of this machine; with a `token`, whoever has it, under any name."""

    port: int
    token: str | None = None

    @property
    def cookie(self) -> str:
        """The name of the cookie with the token: cookies are not told apart by ports."""
        return f"rebecsim-{self.port}"


class _RefusedError(Exception):
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Guard:
    """Lets through what may pass, and adds headers that tell browsers what pages may do."""

    def __init__(self, application: Application, admission: Admission) -> None:
        self._application = application
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have the application do so."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":  # no WebSockets here
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message.get("headers", ())
                own = {name.lower() for name, _ in given}  # of a page that may do less
                message["headers"] = [*given, *(each for each in _HEADERS if each[0] not in own)]
            await send(message)

        try:
            entered = self._check(scope)
            if entered is not None:
                await _answer(guarded, 303, "", [(b"location", entered[0]), entered[1]])
                return
            body = await _body(receive, _single(scope["headers"]))
        except _RefusedError as refused:
            await _answer(guarded, refused.status, f"{refused}\n")
            return
        if body is None:  # whoever sent it is gone
            return

        sent = False

        async def again() -> Message:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._application(scope, again, guarded)

    def _check(self, scope: Scope) -> tuple[bytes, tuple[bytes, bytes]] | None:
        """Refuse what must not pass. For a token in the address: where to go, and a cookie."""
        if scope["method"] not in ("GET", "HEAD", "POST"):
            raise _RefusedError(405, "Only GET, HEAD and POST are answered.")
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_ADDRESS:
            raise _RefusedError(414, "The address is too long.")
        headers = _single(scope["headers"])
        host = headers.get("host", "").lower()
        own = self._admission
        if own.token is None and _without_port(host) not in LOOPBACK:
            raise _RefusedError(400, "This server answers to localhost only.")
        entered = None if own.token is None else self._enter(scope, headers, own.token)
        _check_origin(scope["method"], headers, host)
        return entered

    def _enter(
        self, scope: Scope, headers: dict[str, str], token: str
    ) -> tuple[bytes, tuple[bytes, bytes]] | None:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._admission.cookie)
        except CookieError:
            cookie = None
        if cookie is not None and hmac.compare_digest(cookie.value.encode(), token.encode()):
            return None
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in asked if name == "token"]
        if scope["method"] != "GET" or len(given) != 1:
            raise _RefusedError(403, "Open the address with the token that the program printed.")
        if not hmac.compare_digest(given[0].encode("utf-8", "replace"), token.encode()):
            raise _RefusedError(403, "This is not the token that the program printed.")
        rest = urlencode([(name, value) for name, value in asked if name != "token"])
        # One slash at the beginning: two of them would lead to another server.
        path = "/" + scope["path"].encode("utf-8").decode("latin-1").lstrip("/\\")
        place = urlsplit(path).path.encode("ascii", "ignore") + (
            b"?" + rest.encode() if rest else b""
        )
        kept = f"{self._admission.cookie}={token}; Path=/; HttpOnly; SameSite=Strict"
        return place, (b"set-cookie", kept.encode())


def _single(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Give the headers by name; those that decide something must be there once at most."""
    found: dict[str, str] = {}
    for name, value in headers:
        key = name.decode("latin-1").lower()
        if key in found and key in _ONCE:
            raise _RefusedError(400, f"There are two headers {key}.")
        found[key] = value.decode("latin-1")
    return found


def _without_port(host: str) -> str:
    """Give the name in a host; any port, since a tunnel may lead here from another one."""
    name, colon, port = host.rpartition(":")
    if not colon or port.endswith("]"):  # an address of IPv6 has colons itself
        return host
    return name if port.isdecimal() else ""


def _check_origin(method: str, headers: dict[str, str], host: str) -> None:
    site = headers.get("sec-fetch-site")
    if method != "POST":
        # Another site may lead here, but not have a page of its own load what is here.
        navigates = headers.get("sec-fetch-mode", "navigate") == "navigate"
        framed = headers.get("sec-fetch-dest", "document") != "document"
        if site in ("cross-site", "same-site") and (not navigates or framed):
            raise _RefusedError(403, "Pages of other sites may not load this.")
        return
    if site is not None and site != "same-origin":
        raise _RefusedError(403, "Only pages of this server may do this.")
    origin = headers.get("origin")
    if origin is None and site is None:
        raise _RefusedError(403, "It is not said which page sends this.")
    if origin is not None and origin.lower() != f"http://{host}":
        raise _RefusedError(403, "Only pages of this server may do this.")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise _RefusedError(415, "Forms are read, and nothing else.")


async def _body(receive: Receive, headers: dict[str, str]) -> bytes | None:
    """Read a body; None if it was cut off. Raises _RefusedError unless it is what was announced."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            raise _RefusedError(413, "That is too long.")
        if not message.get("more_body"):
            _check_whole(bytes(body), headers)
            return bytes(body)


def _check_whole(body: bytes, headers: dict[str, str]) -> None:
    """Compare a body with the length and the SHA-256 that its headers give (RFC 9530)."""
    length = headers.get("content-length", "")
    if length and length != str(len(body)):
        raise _RefusedError(400, "The request was cut off on the way. Send it again.")
    digest = hashlib.sha256(body).digest()
    for name, _, given in (
        each.strip().partition("=") for each in headers.get("content-digest", "").split(",")
    ):
        if name == "sha-256" and given != f":{base64.b64encode(digest).decode()}:":
            raise _RefusedError(400, "The request was changed on the way. Send it again.")


async def _answer(
    send: Send, status: int, text: str, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    body = text.encode()
    kind = (b"content-type", b"text/plain; charset=utf-8")
    size = (b"content-length", str(len(body)).encode())
    await send(
        {"type": "http.response.start", "status": status, "headers": [kind, size, *(headers or ())]}
    )
    await send({"type": "http.response.body", "body": body})
