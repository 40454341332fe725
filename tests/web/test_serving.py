"""The commands that start a server, without one that runs."""

from __future__ import annotations

import re
import shlex
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from rebecsim.web import Server, machine_addresses, qr_lines
from tests.conftest import Run
from tests.docs.markdown import ROOT, read_document
from tests.on_asgi import ask

LATE = """\
reactiveclass R(2) { R() { self.m() after(1); } msgsrv m() { self.n() after(5) deadline(2); }
    msgsrv n() { } }
main { R r():(); }
"""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Server, bool]]:
    """The servers that commands would run, and whether a browser is opened."""
    found: list[tuple[Server, bool]] = []

    def run(self: Server, *, browser: bool) -> None:
        found.append((self, browser))
        self.socket.close()
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "run", run)
    return found


def test_the_address_is_printed_and_ctrl_c_ends_it(
    run: Run, started: list[tuple[Server, bool]], tmp_path: Path
) -> None:
    done = run("web", tmp_path, "--no-browser", "--port", 0)
    ((server, browser),) = started
    assert (done.returncode, browser) == (130, False)
    assert done.stdout == f"{server.address}\n"
    assert urlsplit(server.address).hostname == "127.0.0.1"
    assert not urlsplit(server.address).query


def test_another_address_needs_a_token_that_is_drawn(
    run: Run, started: list[tuple[Server, bool]], tmp_path: Path
) -> None:
    for _ in range(2):
        run("web", tmp_path, "--no-browser", "--port", 0, "--host", "0.0.0.0")
    tokens = {urlsplit(server.address).query.removeprefix("token=") for server, _ in started}
    assert len(tokens) == 2
    assert all(len(token) >= 32 for token in tokens)
    application = started[0][0].program.config.app
    assert ask(application, "/").status == 403
    assert ask(application, f"/?{urlsplit(started[0][0].address).query}").status == 303


@pytest.mark.parametrize("host", ["0.0.0.0", "0", "::"])
@pytest.mark.parametrize("in_class", [(), ("--class",)])
@pytest.mark.parametrize("found", [("192.168.1.20", "10.0.0.7"), ("127.0.1.1",), ()])
def test_no_address_is_one_that_stands_for_all(
    run: Run,
    started: list[tuple[Server, bool]],
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    in_class: tuple[str, ...],
    found: tuple[str, ...],
) -> None:
    if host == "::" and not socket.has_ipv6:
        pytest.skip("a machine without IPv6")
    monkeypatch.setattr("rebecsim.web.visitors._found_addresses", lambda: iter(found))
    done = run("web", "--no-browser", "--port", 0, "--host", host, *in_class)
    ((server, _),) = started
    names = [urlsplit(each).hostname for each in re.findall(r"http://\S+", done.stdout)]
    others = [each for each in found if not each.startswith("127.")]
    assert names == (others or ([] if in_class else ["127.0.0.1"]))
    assert not re.search(r"//(0\.0\.0\.0|\[::\])", done.stdout + done.stderr)
    assert urlsplit(server.address).hostname == "127.0.0.1"
    assert ("in no network" in done.stderr) is bool(in_class and not others)


def test_the_addresses_of_this_machine_are_its_own() -> None:
    for each in machine_addresses("0.0.0.0"):
        with socket.socket() as bound:
            bound.bind((each, 0))
        assert not each.startswith("127.")
    assert machine_addresses("192.168.1.20") == ("192.168.1.20",)


def test_a_class_is_shown_its_addresses_and_a_code(
    run: Run, started: list[tuple[Server, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    two = ("192.168.1.20", "10.0.0.7")
    monkeypatch.setattr("rebecsim.web.visitors._found_addresses", lambda: iter(two))
    tokens = set()
    for _ in range(2):
        done = run("web", "--class", "--no-browser", "--port", 0, "--host", "0.0.0.0")
        server, _ = started[-1]
        first, blank, *lines = done.stdout.splitlines()
        assert (first, blank) == ("Pupils open one of these:", "")
        assert [lines[0], lines[2]] == [f"    {each}" for each in server.addresses]
        assert lines[4:-1] == qr_lines(server.addresses[0])
        assert max(map(len, lines)) < 80
        assert len(done.stdout.splitlines()) <= 40
        (token,) = {urlsplit(each).query.removeprefix("token=") for each in server.addresses}
        assert re.fullmatch("[b-z]{8}", token)
        tokens.add(token)
        assert server.address in done.stderr  # the teacher's, apart from what may be shown
        assert server.address not in done.stdout
    assert len(tokens) == 2
    application = server.program.config.app
    assert ask(application, "/").status == 403
    assert ask(application, f"/?token={token}").status == 303
    assert ask(application, f"/lessons/teacher?{urlsplit(server.address).query}").status == 303


def test_the_first_screen_of_the_guide_for_teachers(
    run: Run, started: list[tuple[Server, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "rebecsim.web.visitors._found_addresses", lambda: iter(("192.168.1.20", "10.0.0.7"))
    )
    guide = read_document(ROOT / "docs/guides/teach.md")
    (command,) = guide.blocks[0].text.splitlines()
    done = run(*shlex.split(command)[1:], "--no-browser", columns=80)
    screen = done.stdout + done.stderr
    code = "\n".join(qr_lines(started[0][0].addresses[0]))
    assert code in screen
    screen = re.sub(r"token=[\w-]+", "token=TOKEN", screen.replace(code, "    [QR CODE]"))
    lines = re.sub(r":\d+/", ":8765/", screen).splitlines()
    assert lines == (ROOT / "tests/data/teacher_screen.txt").read_text("utf-8").splitlines()
    assert len((done.stdout + done.stderr).splitlines()) <= 40
    assert max(map(len, lines)) <= 80


def test_a_class_on_one_machine_is_told_how_others_come_in(
    run: Run, started: list[tuple[Server, bool]]
) -> None:
    done = run("web", "--class", "--no-browser", "--port", 0)
    ((server, _),) = started
    assert done.stdout == f"On this machine only: {server.addresses[0]}\n"
    assert "add --host 0.0.0.0" in done.stderr


def test_a_counterexample_opens_where_it_ends(
    run: Run, started: list[tuple[Server, bool]], tmp_path: Path
) -> None:
    (tmp_path / "late.rebeca").write_text(LATE)
    done = run("explore", tmp_path / "late.rebeca", "--web")
    ((server, browser),) = started
    assert (done.returncode, browser) == (1, True)  # as without a browser
    assert server.address in done.stderr
    page = ask(server.program.config.app, urlsplit(server.address).path)
    assert "✗ deadline missed" in page.text


def test_without_a_counterexample_there_is_nothing_to_open(
    run: Run, started: list[tuple[Server, bool]], tmp_path: Path
) -> None:
    right = LATE.replace("deadline(2)", "deadline(9)")
    (tmp_path / "right.rebeca").write_text(right)
    done = run("explore", tmp_path / "right.rebeca", "--no-deadlock", "--web")
    assert (done.returncode, started) == (0, [])
    assert "there is no counterexample" in done.stderr


@pytest.mark.parametrize(
    "option",
    [("--tts",), ("--core",), ("--ignore", "r.x"), ("--no-deadlines",), ("--no-overflow",)],
)
def test_runs_that_the_browser_does_not_know_are_refused(
    run: Run, started: list[tuple[Server, bool]], tmp_path: Path, option: tuple[str, ...]
) -> None:
    (tmp_path / "late.rebeca").write_text(LATE)
    done = run("explore", tmp_path / "late.rebeca", "--web", *option)
    assert (done.returncode, started) == (2, [])


def test_a_port_that_is_taken_is_said(run: Run, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("web", tmp_path, "--no-browser", "--port", port)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"port {port} of 127.0.0.1" in done.stderr


@pytest.mark.parametrize("name", ["nothing", "nothing.rebeca", "text.txt"])
def test_what_is_no_model_is_refused(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "text.txt").write_text("")
    done = run("web", tmp_path / name, "--no-browser")
    assert (done.returncode, done.stdout) == (2, "")
    assert name in done.stderr


def test_without_the_packages_it_is_said_what_to_install(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "rebecsim.web.serving")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = run("web")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'rebecsim[web]'" in done.stderr
