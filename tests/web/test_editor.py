"""The editor's pages: problems, layout, what is explored, and what may be written where."""

from __future__ import annotations

import json
import os
import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from rebecsim.web import LARGEST_TEXT
from tests.on_asgi import Answered, ask, send_form

ROOT = Path(__file__).resolve().parents[2]
TICKETS = (ROOT / "models/ticket_service.rebeca").read_text("utf-8")
WRONG = "reactiveclass R(2) {\n    R() { self.mm(); }\n    msgsrv m() { }\n}\nmain { R r():(); }\n"


def saved(application: Any, name: str, text: str, version: str = "") -> Answered:
    return send_form(application, "/edit/save", name=name, text=text, version=version)


def version_of(application: Any, name: str) -> str:
    page = ask(application, f"/edit?file={quote(name)}").text
    found = re.search(r'name="version" value="(\w*)"', page)
    assert found is not None
    return found[1]


# --- what is wrong, and layout -------------------------------------------------------------------


def test_problems_are_those_of_the_command(app: Any, tmp_path: Path, run: Any) -> None:
    (tmp_path / "a.rebeca").write_text(WRONG)
    said = json.loads(run("check", "--json", tmp_path / "a.rebeca").stdout)
    shown = json.loads(send_form(app(), "/edit/check", text=WRONG).text)["problems"]
    assert shown == [{key: each[key] for key in each if key != "file"} for each in said]
    assert (shown[0]["line"], shown[0]["hint"]) == (2, "did you mean `m`?")
    assert json.loads(send_form(app(), "/edit/check", text=TICKETS).text) == {"problems": []}


def test_problems_of_imported_files_name_their_place(app: Any) -> None:
    text = '// rebeca: core\nimport "lib/clock.rebeca";\nreactiveclass A(2) { }\nmain { A a():(); }'
    shown = json.loads(send_form(app(), "/edit/check", text=text).text)["problems"]
    assert (shown[0]["line"], shown[0]["code"]) == (1, "core-time")
    assert shown[0]["message"].startswith("lib/clock.rebeca:13:27: Core Rebeca has no time")
    assert shown[0]["hint"]


def test_layout_is_given_for_what_can_be_read(app: Any) -> None:
    laid_out = json.loads(send_form(app(), "/edit/format", text=WRONG).text)["text"]
    assert laid_out.startswith("reactiveclass R(2) {\n    R() {\n        self.mm();\n    }\n")
    refused = send_form(app(), "/edit/format", text="reactiveclass")
    assert refused.status == 400
    assert "expected" in json.loads(refused.text)["error"]


def test_a_text_that_is_too_long_is_refused(app: Any) -> None:
    long = "/" * (LARGEST_TEXT + 1)
    (only,) = json.loads(send_form(app(), "/edit/check", text=long).text)["problems"]
    assert only["message"] == "A text may have at most 131,072 bytes."
    for path in ("format", "explore", "save", "download"):
        answered = send_form(app(), f"/edit/{path}", text=long, name="a.rebeca")
        assert answered.status == 400
        assert "131,072" in answered.text


# --- what is opened ------------------------------------------------------------------------------


def test_one_begins_with_a_small_model_or_a_copy(app: Any) -> None:
    application = app()
    small = ask(application, "/edit?new=office")
    assert small.status == 200
    assert "// office: two clients" in small.text
    copy = unescape(ask(application, "/edit?new=office&start=ticket_service.rebeca").text)
    assert TICKETS in copy
    for wrong in ("new=..", "new=a/b", "new=a b", "new=a&start=nothing.rebeca"):
        assert ask(application, f"/edit?{quote(wrong, safe='=&')}").status in (400, 404)


def test_a_text_is_explored_and_leads_back(app: Any) -> None:
    application = app()
    address = "/edit?new=office"
    sent = send_form(
        application, "/edit/explore", text=TICKETS, name="office.rebeca", editor=address
    )
    assert sent.status == 303
    page = ask(application, sent.headers["location"])
    assert "office.rebeca" in page.text
    assert f'href="{address}"' in page.text


def test_a_text_with_errors_is_shown_again_as_it_was_typed(app: Any) -> None:
    answered = send_form(app(), "/edit/explore", text=WRONG, name="a.rebeca")
    assert answered.status == 400
    assert WRONG in unescape(answered.text)
    assert "did you mean" in unescape(answered.text)


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example", "javascript:x"])
def test_a_text_leads_back_to_the_editor_only(app: Any, address: str) -> None:
    application = app()
    sent = send_form(application, "/edit/explore", text=TICKETS, name="a", editor=address)
    assert address not in ask(application, sent.headers["location"]).text


def test_what_is_typed_is_no_python(app: Any, tmp_path: Path) -> None:
    application, made = app(), tmp_path / "made"
    program = f"open({str(made)!r}, 'w')\n"
    for path in ("check", "format", "explore"):
        send_form(application, f"/edit/{path}", text=program, name="a.py", editor="/edit?new=a")
    sent = send_form(application, "/edit/explore", text=TICKETS, name="a.py")
    assert ask(application, sent.headers["location"]).status == 200  # read as Rebeca
    assert saved(application, "a.py", program).status == 400
    assert list(tmp_path.iterdir()) == []


# --- files ---------------------------------------------------------------------------------------


def test_a_file_is_read_and_written(app: Any, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    application = app()
    new = json.loads(saved(application, "sub/a.rebeca", "one\r\ntwo\r\n").text)
    assert (tmp_path / "sub/a.rebeca").read_bytes() == b"one\ntwo\n"
    assert new["address"] == "/edit?file=sub%2Fa.rebeca"
    assert new["version"] == version_of(application, "sub/a.rebeca")
    again = json.loads(saved(application, "sub/a.rebeca", "three\n", new["version"]).text)
    assert again["version"] == version_of(application, "sub/a.rebeca") != new["version"]
    assert (tmp_path / "sub/a.rebeca").read_text() == "three\n"
    assert sorted(each.name for each in (tmp_path / "sub").iterdir()) == ["a.rebeca", "a.rebeca~"]
    assert (tmp_path / "sub/a.rebeca~").read_text() == "one\ntwo\n"


def test_the_version_before_is_kept_and_written_nowhere_else(app: Any, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.rebeca").write_text("one")
    (tmp_path / "else").write_text("of somebody else")
    (root / "a.rebeca~").symlink_to(tmp_path / "else")
    application = app(root)
    version = version_of(application, "a.rebeca")
    assert saved(application, "a.rebeca", "two", version).status == 200
    assert (root / "a.rebeca~").read_text() == "one"
    assert not (root / "a.rebeca~").is_symlink()
    assert (tmp_path / "else").read_text() == "of somebody else"


def test_what_was_written_meanwhile_stays(app: Any, tmp_path: Path) -> None:
    application, file = app(), tmp_path / "a.rebeca"
    file.write_text("of somebody else")
    refused = saved(application, "a.rebeca", "mine")
    assert (refused.status, json.loads(refused.text)["changed"]) == (409, True)
    version = version_of(application, "a.rebeca")
    file.write_text("of somebody else, newer")
    assert saved(application, "a.rebeca", "mine", version).status == 409
    assert file.read_text() == "of somebody else, newer"
    file.unlink()
    assert saved(application, "a.rebeca", "mine", version).status == 409
    assert not file.exists()


NAMES = [
    *("../a.rebeca", "sub/../../a.rebeca", "/tmp/a.rebeca", "./a.rebeca", "sub//a.rebeca"),
    *("..\\a.rebeca", "C:a.rebeca", "a.rebeca\0", "a\n.rebeca", ".a.rebeca", ".sub/a.rebeca", ""),
    *("a", "a.py", "a.rebeca/", "a.rebeca/..", "nothing/a.rebeca", "~/a.rebeca", "a" * 300),
    *("link.rebeca", "out/a.rebeca", "dangling.rebeca", "pipe.rebeca", "folder.rebeca"),
    *("%2e%2e/a.rebeca", "sub/link/a.rebeca"),
]


@pytest.mark.parametrize("version", ["", "0" * 32])
def test_nothing_is_written_or_read_elsewhere(app: Any, tmp_path: Path, version: str) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for place in (outside, inside, inside / "sub", inside / "folder.rebeca"):
        place.mkdir()
    (outside / "secret.rebeca").write_text("secret")
    (inside / "link.rebeca").symlink_to(outside / "secret.rebeca")
    (inside / "dangling.rebeca").symlink_to(outside / "new.rebeca")
    (inside / "out").symlink_to(outside)
    (inside / "sub" / "link").symlink_to(outside)
    os.mkfifo(inside / "pipe.rebeca")
    before = sorted(tmp_path.rglob("*"))
    application = app(inside)
    for name in NAMES:
        answered = saved(application, name, "mine", version)
        assert answered.status in (400, 409), name
        assert ask(application, f"/edit?file={quote(name)}").status in (200, 400, 404)
        assert "secret" not in ask(application, f"/edit?file={quote(name)}").text
    assert sorted(tmp_path.rglob("*")) == before
    assert (outside / "secret.rebeca").read_text() == "secret"


def test_only_the_model_that_was_named_is_written(app: Any, tmp_path: Path) -> None:
    (tmp_path / "a.rebeca").write_text(TICKETS)
    application = app(tmp_path / "a.rebeca")
    assert saved(application, "b.rebeca", "mine").status == 400
    assert saved(application, "a.rebeca", "mine", version_of(application, "a.rebeca")).status == 200
    (tmp_path / "p.py").write_text("")
    assert saved(app(tmp_path / "p.py"), "p.py", "mine").status == 400
    assert saved(app(None), "a.rebeca", "mine").status == 400
    assert (tmp_path / "p.py").read_text() == ""


def test_a_file_in_another_encoding_is_not_damaged(app: Any, tmp_path: Path) -> None:
    (tmp_path / "a.rebeca").write_bytes(b"// caf\xe9\n")
    answered = ask(app(), "/edit?file=a.rebeca")
    assert (answered.status, "UTF-8" in answered.text) == (400, True)


def test_words_of_the_text_have_no_effect(app: Any) -> None:
    text = "</textarea><script>alert(1)</script>"
    answered = send_form(app(), "/edit/explore", text=text, name="<b>.rebeca", editor="/edit?a=<b>")
    assert "<script>alert" not in answered.text
    assert "<b>" not in answered.text


# --- the script ----------------------------------------------------------------------------------


def test_licences_are_of_the_versions_that_are_built() -> None:
    built = json.loads((ROOT / "editors/codemirror/package.json").read_text())["dependencies"]
    said = (ROOT / "rebecsim/web/static/codemirror-LICENSE.txt").read_text("utf-8")
    del built["esbuild"]
    for name, version in built.items():
        assert f"{name} {version}: Copyright" in said
    assert "Permission is hereby granted" in said
