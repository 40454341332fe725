"""Check every request: its host, its origin, its token and its size.

A page of another site can make a browser send requests here, also under a foreign name that
resolves to this machine. So the host must be this server's, forms must come from its own pages,
and a server that others can reach asks for a token.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import cookie_parser

from rebecsim.web.limits import (
    ANSWER_BYTES,
    BODY_BYTES,
    LARGEST_BODY,
    LONGEST_ADDRESS,
    PATIENCE,
    REQUESTS_EACH,
    BusyError,
    Quota,
    Visitor,
    visitor,
)
from rebecsim.web.visitors import Classroom, Visitors

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_PIECE = 64 * 1024
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
    """Which requests pass: those of this machine; with a `token`, all that carry it.

    Whoever has the token `teacher` is the teacher of a class.
    """

    port: int
    token: str | None = None
    teacher: str | None = None

    @property
    def cookie(self) -> str:
        """The name of the cookie with the token: cookies are not told apart by ports."""
        return f"rebecsim-{self.port}"

    def admits(self, given: str) -> bool:
        """Whether this is one of the tokens."""
        return _is_token(given, self.token) or self.is_teacher(given)

    def is_teacher(self, given: str) -> bool:
        """Whether this is the teacher's token."""
        return _is_token(given, self.teacher)


def _is_token(given: str, token: str | None) -> bool:
    """Compare tokens in constant time."""
    return token is not None and hmac.compare_digest(
        given.encode("utf-8", "replace"), token.encode()
    )


class _RefusedError(Exception):
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Guard:
    """Passes allowed requests to the application, a few of each client at a time.

    Adds headers that tell browsers what pages may do.
    """

    def __init__(
        self,
        application: Application,
        admission: Admission,
        classroom: Classroom | None = None,
    ) -> None:
        self._application = application
        self._admission = admission
        shared = classroom is not None or admission.token is not None
        self._visitors = Visitors(admission.port, tells_apart=shared, classroom=classroom)
        self._turns = Turns()
        self._bodies = Quota(BODY_BYTES)
        self._answers = Quota(ANSWER_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have the application do so."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":  # no WebSockets here
            return
        address = scope["client"][0] if scope.get("client") else ""
        answer = Reply(send, self._answers, address)
        try:
            headers = _single(scope["headers"])
            cookies = cookie_parser(headers.get("cookie", ""))
            is_teacher = self._admission.is_teacher(cookies.get(self._admission.cookie, ""))
            who = self._visitors.visitor(address, cookies, is_teacher=is_teacher)
            entered = self._check(scope, headers, cookies, who)
            if entered is not None:
                await answer_text(answer, 303, "", [(b"location", entered[0]), entered[1]])
                return
            visitor.set(who)
            answer.client = who.name
            if scope["method"] == "GET":
                answer.cookie = self._visitors.introduced(who)
            async with self._body(receive, headers, who.name) as body:
                if body is not None:  # else whoever sent it is gone
                    async with self._turns.turn(who.name) as answer.end_turn:
                        await self._application(scope, _received(receive, body), answer)
        except _RefusedError as refused:
            await answer_text(answer, refused.status, f"{refused}\n")
        except BusyError as busy:
            await answer_text(answer, 503, f"{busy}\n")

    @asynccontextmanager
    async def _body(
        self, receive: Receive, headers: dict[str, str], client: str
    ) -> AsyncIterator[bytes | None]:
        """Read a body; None if it was cut off.

        Raises _RefusedError for one that is too long or not what was announced, BusyError.
        """
        body = bytearray()
        counted = 0
        is_whole = False
        try:
            while not is_whole:
                message = await receive()
                if message["type"] == "http.disconnect":
                    break
                part = message.get("body", b"")
                if not self._bodies.take(client, len(part)):
                    raise BusyError("The server is receiving too much. Try again in a few seconds.")
                counted += len(part)
                body += part
                if len(body) > LARGEST_BODY:
                    raise _RefusedError(413, "That is too long.")
                is_whole = not message.get("more_body")
            if is_whole:
                _check_whole(bytes(body), headers)
            yield bytes(body) if is_whole else None
        finally:
            self._bodies.free(client, counted)

    def _check(
        self, scope: Scope, headers: dict[str, str], cookies: dict[str, str], who: Visitor
    ) -> tuple[bytes, tuple[bytes, bytes]] | None:
        """Raise _RefusedError, or give a redirect and a cookie for a token in the address."""
        if scope["method"] not in ("GET", "HEAD", "POST"):
            raise _RefusedError(405, "This server answers only GET, HEAD and POST.")
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_ADDRESS:
            raise _RefusedError(414, "The address is too long.")
        host = headers.get("host", "").lower()
        own = self._admission
        if own.token is None and _without_port(host) not in LOOPBACK:
            raise _RefusedError(
                400,
                "This server answers only at localhost. Start it with `--host` for others.",
            )
        has_tokens = own.token is not None or own.teacher is not None
        entered = self._enter(scope, cookies, who) if has_tokens else None
        _check_origin(scope["method"], headers, host)
        return entered

    def _enter(
        self, scope: Scope, cookies: dict[str, str], who: Visitor
    ) -> tuple[bytes, tuple[bytes, bytes]] | None:
        own, wrong = self._admission, self._visitors.wrong_tokens
        if not who.browser and wrong.is_full(who.address):
            raise _RefusedError(
                429, "Your address sent too many wrong tokens. Wait a minute, then try again."
            )
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in asked if name == "token"]
        enters = scope["method"] == "GET" and len(given) == 1 and own.admits(given[0])
        cookie = cookies.get(own.cookie, "")
        if not enters:
            if own.admits(cookie):
                return None
            for each in filter(None, (cookie, *(each for each in given if not own.admits(each)))):
                wrong.add(who.address, each)
            if own.token is None:  # a class on this machine: pupils need none
                return None
            if scope["method"] != "GET" or len(given) != 1:
                raise _RefusedError(
                    403, "Open the address with the token that the program printed."
                )
            raise _RefusedError(403, "This is not the token that the program printed.")
        rest = urlencode([(name, value) for name, value in asked if name != "token"])
        # One slash at the beginning: two of them would lead to another server.
        path = "/" + scope["path"].encode("utf-8").decode("latin-1").lstrip("/\\")
        place = urlsplit(path).path.encode("ascii", "ignore") + (
            b"?" + rest.encode() if rest else b""
        )
        kept = f"{own.cookie}={given[0]}; Path=/; HttpOnly; SameSite=Strict"
        return place, (b"set-cookie", kept.encode())


def _single(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Give the headers by name. Raises _RefusedError if one that is checked occurs twice."""
    found: dict[str, str] = {}
    for name, value in headers:
        key = name.decode("latin-1").lower()
        if key in found and key in _ONCE:
            raise _RefusedError(400, f"The request has two `{key}` headers. Send one.")
        found[key] = value.decode("latin-1")
    return found


def _without_port(host: str) -> str:
    """Give the host without its port, which may differ if a tunnel leads here."""
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
        raise _RefusedError(
            403,
            "rebecsim refused this request: it has no `Origin` header. Reload the page.",
        )
    if origin is not None and origin.lower() != f"http://{host}":
        raise _RefusedError(403, "Only pages of this server may do this.")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded" or "content-encoding" in headers:
        raise _RefusedError(
            415,
            "rebecsim reads only forms. Send `application/x-www-form-urlencoded`, not compressed.",
        )


def _received(receive: Receive, body: bytes) -> Receive:
    """Give a body that has been read, then whatever the client sends next."""
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _check_whole(body: bytes, headers: dict[str, str]) -> None:
    """Compare a body with the length and the SHA-256 that its headers give (RFC 9530)."""
    length = headers.get("content-length", "")
    if length and length != str(len(body)):
        raise _RefusedError(400, "Part of the request is missing. Send it again.")
    digest = hashlib.sha256(body).digest()
    for name, _, given in (
        each.strip().partition("=") for each in headers.get("content-digest", "").split(",")
    ):
        if name == "sha-256" and given != f":{base64.b64encode(digest).decode()}:":
            raise _RefusedError(400, "The request was changed on the way. Send it again.")


class Reply:
    """Sends an answer, with our headers, in pieces that a client has to take one after another.

    `end_turn` is called when the application has made the answer, and before it is taken.
    """

    def __init__(self, send: Send, bytes_held: Quota, client: str) -> None:
        self._send = send
        self._held = bytes_held
        self.client = client
        self.cookie: bytes | None = None
        self.end_turn: Callable[[], None] = lambda: None
        self._has_begun = self._is_refused = False
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        """Take a message of the application; where too much is being taken, answer so instead."""
        if self._is_refused:
            return
        if message["type"] == "http.response.start":
            self.end_turn()
            self._start = message
            return
        body: bytes = message.get("body", b"")
        large = len(body) if len(body) > _PIECE else 0
        if not self._held.take(self.client, large):
            if not self._has_begun:
                await answer_text(
                    self,
                    503,
                    "The server is sending too much. Try again in a few seconds.\n",
                )
            self._is_refused = True
            return
        try:
            await self._begin()
            for start in range(0, max(1, len(body)), _PIECE):
                is_last = start + _PIECE >= len(body)
                more = bool(message.get("more_body")) or not is_last
                piece = body[start : start + _PIECE]
                await self._send({"type": "http.response.body", "body": piece, "more_body": more})
        finally:
            self._held.free(self.client, large)

    async def _begin(self) -> None:
        message, self._start = self._start, None
        if message is None:
            return
        self._has_begun = True
        given = message.get("headers", ())
        own = {name.lower() for name, _ in given}  # of a page that may do less
        headers = [*given, *(each for each in _HEADERS if each[0] not in own)]
        if self.cookie is not None:
            headers.append((b"set-cookie", self.cookie))
        await self._send({**message, "headers": headers})


class Turns:
    """A few requests of each client are worked on at a time; the others wait, first come first."""

    def __init__(self) -> None:
        self._turns: dict[tuple[asyncio.AbstractEventLoop, str], tuple[asyncio.Semaphore, int]] = {}

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[Callable[[], None]]:
        """Wait for a turn, and give what ends it. Raises BusyError when it does not come."""
        key = asyncio.get_running_loop(), client
        semaphore, users = self._turns.get(key) or (asyncio.Semaphore(REQUESTS_EACH), 0)
        self._turns[key] = semaphore, users + 1
        has_turn = False

        def end() -> None:
            nonlocal has_turn
            if has_turn:
                semaphore.release()
            has_turn = False

        try:
            try:
                await asyncio.wait_for(semaphore.acquire(), PATIENCE)
            except TimeoutError:
                raise BusyError(
                    "You have too many requests open. Try again in a few seconds."
                ) from None
            has_turn = True
            yield end
        finally:
            end()
            _, users = self._turns[key]
            if users > 1:
                self._turns[key] = semaphore, users - 1
            else:
                del self._turns[key]


async def answer_text(
    send: Send, status: int, text: str, headers: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    """Answer with a line of text."""
    body = text.encode()
    own = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        *([(b"retry-after", b"5")] if status == 503 else []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": [*own, *headers]})
    await send({"type": "http.response.body", "body": body})
