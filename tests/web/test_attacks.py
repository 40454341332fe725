"""What others may try, by a page of another site, by an address, or by the text of a model."""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from rebecsim.web import LARGEST_MODEL, Library
from tests.on_asgi import OWN, SENDING, ask, send_form

TICKETS = (Path(__file__).resolve().parents[2] / "models/ticket_service.rebeca").read_text("utf-8")
TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture
def start(app: Any, tmp_path: Path) -> tuple[Any, str]:
    """An application, and the address of the beginning of a model."""
    (tmp_path / "tickets.rebeca").write_text(TICKETS)
    model = Library(tmp_path).models()[0]
    return app(), f"/x/{model.id}/-"


# --- who asks ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8765", "127.0.0.1.evil.example:8765", "localhost.evil:80"),
        *("127.0.0.1.nip.io:8765", "", "127.0.0.1@evil.example", "localhost:8765@evil.example"),
        *("0.0.0.0:8765", "localhost:", "[::1]evil:8765", "localhost:80:80", "127.0.0.2"),
    ],
)
def test_another_host_name_is_refused(start: tuple[Any, str], host: str) -> None:
    """A name of somebody else's may lead to this machine: the browser then asks for that name."""
    application, address = start
    answered = ask(application, address, headers=[("host", host)])
    assert (answered.status, "office" in answered.text) == (400, False)


@pytest.mark.parametrize("host", ["localhost:8765", "127.0.0.1:8765", "[::1]:8765", "LOCALHOST"])
def test_this_machine_is_answered(start: tuple[Any, str], host: str) -> None:
    application, address = start
    assert ask(application, address, headers=[("host", host)]).status == 200


def test_no_host_or_two_are_refused(start: tuple[Any, str]) -> None:
    application, address = start
    assert ask(application, address, headers=[]).status == 400
    twice = [*OWN, ("host", "evil.example")]
    assert ask(application, address, headers=twice).status == 400


FORGED = {
    "no origin": [OWN[0], SENDING[3]],
    "another origin": [OWN[0], ("origin", "http://evil.example"), SENDING[3]],
    "another port": [OWN[0], ("origin", "http://localhost:9999"), SENDING[3]],
    "another scheme": [OWN[0], ("origin", "https://localhost:8765"), SENDING[3]],
    "null": [OWN[0], ("origin", "null"), SENDING[3]],
    "another site": [*SENDING[:2], ("sec-fetch-site", "cross-site"), SENDING[3]],
    "a neighbour": [*SENDING[:2], ("sec-fetch-site", "same-site"), SENDING[3]],
    "typed": [OWN[0], ("sec-fetch-site", "none"), SENDING[3]],
    "another kind": [*SENDING[:3], ("content-type", "text/plain")],
    "json": [*SENDING[:3], ("content-type", "application/json")],
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=list(FORGED))
def test_a_form_of_another_page_is_refused(start: tuple[Any, str], forged: Any) -> None:
    application, address = start
    sent = {"method": "POST", "body": b"steps=3"}
    assert ask(application, f"{address}/on", headers=SENDING, **sent).status == 303
    refused = ask(application, f"{address}/on", headers=forged, **sent)
    assert refused.status in (400, 403, 415)
    assert "location" not in refused.headers


@pytest.mark.parametrize(
    ("mode", "destination", "status"),
    [
        ("navigate", "document", 200),  # a link, as in a mail
        ("navigate", "iframe", 403),
        ("no-cors", "image", 403),
        ("no-cors", "script", 403),
        ("cors", "empty", 403),
    ],
)
def test_other_sites_may_link_and_nothing_else(
    start: tuple[Any, str], mode: str, destination: str, status: int
) -> None:
    application, address = start
    said = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", mode)]
    headers = [*OWN, *said, ("sec-fetch-dest", destination)]
    assert ask(application, address, headers=headers).status == status


def test_answers_tell_browsers_to_keep_others_out(start: tuple[Any, str]) -> None:
    application, address = start
    for answered in (
        ask(application, address),
        ask(application, "/nothing"),
        ask(application, address, headers=[("host", "evil.example")]),
    ):
        policy = answered.headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert answered.headers["x-content-type-options"] == "nosniff"
        assert not [name for name in answered.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"])
def test_other_methods_are_refused(start: tuple[Any, str], method: str) -> None:
    application, address = start
    assert ask(application, address, method=method).status == 405


# --- the token -----------------------------------------------------------------------------------


def test_whoever_has_no_token_gets_nothing(app: Any) -> None:
    application = app(token=TOKEN)
    for address in ("/", "/static/app.css", "/?token=", "/?token=wrong", f"/?token={TOKEN}x"):
        assert ask(application, address).status == 403
    assert ask(application, f"/?token={TOKEN}&token={TOKEN}").status == 403
    forged = [*OWN, ("cookie", f"rebecsim-8765={TOKEN[:-1]}; rebecsim-1={TOKEN}")]
    assert ask(application, "/", headers=forged).status == 403
    assert ask(application, "/", headers=[*OWN, ("cookie", 'a="\\;;=')]).status == 403


def test_a_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(app: Any) -> None:
    application = app(token=TOKEN)
    entered = ask(application, f"/x/abc?at=1&token={TOKEN}", headers=[("host", "10.0.0.5:8765")])
    assert (entered.status, entered.headers["location"]) == (303, "/x/abc?at=1")
    cookie = entered.headers["set-cookie"]
    assert cookie == f"rebecsim-8765={TOKEN}; Path=/; HttpOnly; SameSite=Strict"
    kept = [("host", "10.0.0.5:8765"), ("cookie", cookie.partition(";")[0])]
    assert ask(application, "/", headers=kept).status == 200


@pytest.mark.parametrize("path", ["//evil.example/", "///evil.example", "/\\evil.example"])
def test_a_token_leads_to_no_other_server(app: Any, path: str) -> None:
    entered = ask(app(token=TOKEN), f"{path}?token={TOKEN}")
    assert re.match(r"/[^/\\]", entered.headers["location"])


# --- bodies that are not whole -------------------------------------------------------------------


@pytest.mark.parametrize("kept", [0.5, 0.99, 1.0])
def test_what_was_cut_off_is_not_saved(app: Any, tmp_path: Path, kept: float) -> None:
    (tmp_path / "a.rebeca").write_text(TICKETS)
    version = hashlib.sha256(TICKETS.encode()).hexdigest()[:32]
    body = urlencode({"name": "a.rebeca", "version": version, "text": "x" + TICKETS}).encode()
    sent = {"method": "POST", "headers": SENDING, "body": body[: int(len(body) * kept)]}
    answered = ask(app(), "/edit/save", cut=True, **sent)
    assert answered is None  # nobody is there any more
    assert (tmp_path / "a.rebeca").read_text() == TICKETS


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("content-length", "9999"),
        ("content-digest", f"sha-256=:{base64.b64encode(bytes(32)).decode()}:"),
        ("content-digest", f"md5=:x:, sha-256=:{base64.b64encode(bytes(32)).decode()}:"),
    ],
)
def test_what_is_not_what_was_announced_is_not_saved(
    app: Any, tmp_path: Path, header: str, value: str
) -> None:
    body = urlencode({"name": "a.rebeca", "text": TICKETS}).encode()
    sent = {"method": "POST", "body": body}
    refused = ask(app(), "/edit/save", headers=[*SENDING, (header, value)], **sent)
    assert (refused.status, list(tmp_path.iterdir())) == (400, [])
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    right = [("content-length", str(len(body))), ("content-digest", f"sha-256=:{digest}:")]
    assert ask(app(), "/edit/save", headers=[*SENDING, *right], **sent).status == 200
    assert (tmp_path / "a.rebeca").read_text() == TICKETS


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        *("/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static//app.py"),
        *("/static/....//app.py", "/static/app.py", "/static/", "/x/../../etc/passwd"),
        *("/x/..%2f..%2fetc%2fpasswd/-", "/x/tickets.rebeca/-", "/etc/passwd", "/static/app.css\0"),
        "/static/..\\app.py",
    ],
)
def test_addresses_lead_to_no_files(start: tuple[Any, str], address: str) -> None:
    application, _ = start
    answered = ask(application, address)
    assert answered.status in (400, 404)
    assert "FastAPI" not in answered.text
    assert "root:" not in answered.text


def test_links_out_of_the_directory_are_not_followed(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for place in (outside, inside, inside / ".hidden"):
        place.mkdir()
    (outside / "secret.rebeca").write_text(TICKETS)
    (inside / ".hidden" / "a.rebeca").write_text(TICKETS)
    (inside / "link.rebeca").symlink_to(outside / "secret.rebeca")
    (inside / "folder").symlink_to(outside)
    (inside / "loop").symlink_to(inside)
    (inside / "dangling.rebeca").symlink_to(inside / "nothing")
    os.mkfifo(inside / "pipe.rebeca")
    (inside / "folder.rebeca").mkdir()
    (inside / "large.rebeca").write_text("/" * (LARGEST_MODEL + 1))
    (inside / "program.py").write_text("raise SystemExit('it was run')")
    (inside / "right.rebeca").write_text(TICKETS)
    yours = [each.name for each in Library(inside).models() if each.origin == "yours"]
    assert yours == ["right.rebeca"]


def test_a_link_beside_a_model_is_no_property_file(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").write_text("secret")
    (inside / "a.rebeca").write_text(TICKETS)
    (inside / "b.rebeca").write_text(TICKETS + "// b")
    (inside / "a.property").symlink_to(tmp_path / "secret")
    (inside / "b.property").write_text("property { }")
    found = {each.name: each.questions for each in Library(inside).models()}
    assert found["a.rebeca"] is None
    assert found["b.rebeca"] == inside / "b.property"


def test_a_packed_body_is_not_unpacked(start: tuple[Any, str]) -> None:
    """A small one could become a large one."""
    application, address = start
    packed = gzip.compress(b"steps=" + b"0" * 40_000_000 + b"1", 1)[:500_000]
    headers = [*SENDING, ("content-encoding", "gzip")]
    sent = {"method": "POST", "headers": headers, "body": packed}
    assert ask(application, f"{address}/on", **sent).status == 415


def test_a_program_is_opened_only_if_it_was_named(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("")
    assert next(each.is_python for each in Library(program).models())
    assert not any(each.is_python for each in Library(tmp_path).models())


# --- texts ---------------------------------------------------------------------------------------

WORDS = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


def test_texts_of_models_are_shown_and_have_no_effect(app: Any, tmp_path: Path) -> None:
    """An assertion's text stands in the breach, the offers and the picture."""
    text = WORDS.replace('"', '\\"')
    (tmp_path / "a.rebeca").write_text(
        "reactiveclass R(2) { R() { self.m(); }\n"
        f'msgsrv m() {{ assertion(false, "{text}"); }} }} main {{ R r():(); }}'
    )
    model = next(each for each in Library(tmp_path).models() if each.name == "a.rebeca")
    answered = ask(app(), f"/x/{model.id}/0")
    assert answered.status == 200
    assert "assertion failed" in answered.text
    assert_harmless(answered.text)
    drawn = ask(app(), f"/x/{model.id}/0/run.svg")
    assert_harmless(drawn.text)
    assert drawn.headers["content-disposition"].startswith("attachment")


def test_names_of_files_have_no_effect(app: Any, tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)>\"';\n.rebeca"
    (tmp_path / name).write_text(TICKETS)
    (tmp_path / ("wrong" + name)).write_text("reactiveclass <script>alert(1)</script>")
    application = app()
    assert_harmless(ask(application, "/").text)
    for each in Library(tmp_path).models()[:2]:
        opened = ask(application, f"/x/{each.id}/-")
        assert_harmless(opened.text)
        assert (opened.status == 200) is not each.name.startswith("wrong")
        if opened.status != 200:
            continue
        kept = ask(application, f"/x/{each.id}/-/model.rebeca").headers
        assert re.fullmatch(r'attachment; filename="[\w.-]+"', kept["content-disposition"])


@pytest.mark.parametrize("field", ["stop", "steps", "until"])
def test_what_was_typed_has_no_effect(start: tuple[Any, str], field: str) -> None:
    application, address = start
    answered = send_form(application, f"{address}/on", **{field: WORDS})
    assert answered.status == 400
    assert_harmless(answered.text)


def test_what_stands_in_the_address_has_no_effect(start: tuple[Any, str]) -> None:
    application, address = start
    for query in (f"never={WORDS}", f"why={WORDS}", f"at={WORDS}", f"x={WORDS}"):
        assert_harmless(ask(application, f"{address}?{query}").text)
        assert_harmless(ask(application, f"{address}/graph?{query}").text)
    assert_harmless(ask(application, f"{address}/graph?find={WORDS}").text)
    assert_harmless(ask(application, f"/x/{WORDS.replace('/', '')}/-").text)


class _Tags(HTMLParser):
    """What a page has as a browser reads it: no picture, no script but ours, nothing that acts."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert tag not in ("img", "iframe", "object", "embed", "base")
        assert tag != "script" or str(given["src"]).startswith("/static/")
        assert not [name for name in given if name.startswith("on")]
        assert not str(given.get("href", "")).lower().startswith(("javascript:", "data:", "//"))


def assert_harmless(page: str) -> None:
    _Tags().feed(page)


def test_a_condition_is_no_python(start: tuple[Any, str], tmp_path: Path) -> None:
    application, address = start
    made = tmp_path / "made"
    for text in (
        f"__import__('os').mkdir('{made}')",
        f"open('{made}', 'w')",
        "office.__class__",
        "office.left.__class__ == 0",
        "().__class__",
        "office.left = 5",
        "office.left; 1",
    ):
        assert send_form(application, f"{address}/on", stop=text).status == 400
        assert send_form(application, f"{address}/reach", condition=text).status == 400
        assert ask(application, f"{address}/graph?{urlencode({'find': text})}").status == 400
    assert not made.exists()


# --- limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "run",
    [
        *("x", "0.", ".0", "-1", "0..0", "0.-1", "1e3", "٣", "0" * 50, "9999999", "0,1", "0 1"),
        ".".join("0" * 1001),
    ],
)
def test_runs_that_are_none_are_refused(start: tuple[Any, str], run: str) -> None:
    application, address = start
    assert ask(application, address.replace("/-", f"/{run}")).status in (400, 404)


def test_a_step_that_there_is_not_is_said(start: tuple[Any, str]) -> None:
    application, address = start
    answered = ask(application, address.replace("/-", "/0.7"))
    assert answered.status == 400
    assert "there is no transition 7 after 1 steps" in answered.text


def test_what_is_too_long_is_refused(start: tuple[Any, str]) -> None:
    application, address = start
    assert ask(application, address + "?never=" + "a" * 20_000).status == 414
    assert send_form(application, f"{address}/on", stop="a" * 600_000).status == 413
    assert send_form(application, f"{address}/on", stop="left == 0 || " * 50).status == 400
    assert send_form(application, f"{address}/on", steps="9" * 30).status == 400
    many = {f"field{number}": "1" for number in range(50)}
    assert send_form(application, f"{address}/on", **many).status == 400


def test_a_run_goes_on_no_further_than_an_address_can_say(app: Any, tmp_path: Path) -> None:
    (tmp_path / "a.rebeca").write_text(
        "reactiveclass R(2) { R() { self.m(); } msgsrv m() { self.m() after(1); } }\n"
        "main { R r():(); }"
    )
    model = Library(tmp_path).models()[0]
    application = app()
    there = send_form(application, f"/x/{model.id}/-/on", steps="999999999").headers["location"]
    run = there.split("/")[3].partition("?")[0]
    assert run.count(".") + 1 == 1000
    page = ask(application, there)
    assert "A run in an address ends after 1,000 steps" in page.text
    assert send_form(application, f"{there.partition('?')[0]}/on", steps="1").status == 303
