"""The playground: its answers, and the page in a browser, where `make playground` has built it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import rebecsim as rs
from tests.installing.without_packages import without
from tests.web.chromium import assert_accessible, browsing, needs_chromium, open_folds

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "site" / "playground"
TICKETS = ROOT / "models" / "ticket_service.rebeca"

ABSENT = {"numpy", "numba", "fastapi", "starlette", "pydantic", "scipy", "pyarrow", "typer"}
"""What Python in a browser does not have here."""

ASKING = f"""
import json, sys
sys.path.insert(0, {str(ROOT / "docs" / "playground")!r})
from answers import answer, page
print(json.dumps([json.loads(answer(each)) for each in sys.argv[1:]]))
"""


def asked(name: str, text: str, *questions: dict[str, Any]) -> list[dict[str, Any]]:
    """Ask as the page does, where only those packages are that a browser has."""
    texts = [json.dumps({"name": name, "text": text, **each}) for each in questions]
    done = without(ABSENT, *texts, program=ASKING)
    assert (done.returncode, done.stderr) == (0, "")
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


RUN = {"do": "simulate", "seed": "3", "steps": "30"}


@pytest.mark.parametrize("ending", [".rebeca", ".py"])
def test_answers_are_those_of_the_program(ending: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    file = TICKETS.with_suffix(ending)
    checked, ran, explored, reached, stepped = asked(
        file.name,
        file.read_text("utf-8"),
        {"do": "check"},
        RUN,
        {"do": "explore", "never": ""},
        {"do": "explore", "never": "ann.tickets == 2"},
        {"do": "step", "address": "/x/model/0.1"},
    )
    assert checked["text"] == f"{file.name}: ok, 2 classes, 3 rebecs"
    assert checked["diagram"].count("<svg") == 1
    run = rs.simulate(file, seed=3, steps=30)
    assert ran["text"] == str(run)
    last = max(event.time for event in run.events)
    assert f">{last}</text>" in ran["diagram"]
    assert "from the start" not in ran["diagram"]  # but for the first, who sent it is known
    assert "No violation in any order (8,028 states)" in explored["verdict"]
    assert "20 states, the nearest first" in explored["graph"]
    assert "✓ Yes" in reached["verdict"]
    assert reached["diagram"].count('href="/x/model/') > 4
    assert "Step 2, time 1" in stepped["moves"]
    assert 'href="/x/model/0.1.0"' in stepped["offers"]


@pytest.mark.parametrize("name", ["docs/playground/one_queue.py", "models/queue.rebeca"])
def test_a_queue_of_ready_parts_runs_as_elsewhere(
    name: str, tmp_path: Path, monkeypatch: Any
) -> None:
    """Distributions, too, draw the same numbers."""
    monkeypatch.chdir(tmp_path)
    file = ROOT / name
    checked, ran = asked(file.name, file.read_text("utf-8"), {"do": "check"}, RUN)
    assert checked["text"].startswith(f"{file.name}: ok, ")
    assert ran["text"] == str(rs.simulate(file, seed=3, steps=30))
    assert ran["note"].startswith("The run drew from a distribution what no step can choose")
    assert not ran["diagram"]


def test_what_is_wrong_is_an_answer_with_its_place(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = "reactiveclass A(3) {\n    A() { x = 1; }\n}\nmain {\n    A a():();\n}\n"
    marked, checked, ran, explored = asked(
        "mine.rebeca",
        wrong,
        {"do": "problems"},
        {"do": "check"},
        RUN,
        {"do": "explore", "never": ""},
    )
    assert [(each["line"], each["column"]) for each in marked["problems"]] == [(2, 11)]
    assert checked["wrong"]
    assert checked["text"].startswith("mine.rebeca:2:11: error")
    assert "2:11: error" in ran["error"]
    assert explored == ran
    (refused,) = asked(TICKETS.name, TICKETS.read_text("utf-8"), RUN | {"seed": "x"})
    assert refused["error"] == "'x' is not a number. Write whole digits for the seed."
    (marked,) = asked("mine.py", "x = 1\ny = = 2\n", {"do": "problems"})
    assert [(each["line"], each["column"]) for each in marked["problems"]] == [(2, 5)]


def test_a_run_that_goes_wrong_is_drawn_to_its_end(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    late = TICKETS.read_text("utf-8").replace("deadline(12)", "deadline(2)")
    run = RUN | {"seed": "1", "steps": "60"}
    ran, explored = asked(TICKETS.name, late, run, {"do": "explore", "never": ""})
    assert ran["wrong"]
    assert "✗ deadline missed" in ran["diagram"]
    assert "✗ deadline missed" in explored["verdict"]


# --- in a browser ---------------------------------------------------------------------------------


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *told: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serve the files that were built."""
    if not (BUILT / "site.zip").is_file():
        pytest.skip("the playground is not built: make playground")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(BUILT)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def opened(address: str) -> Iterator[tuple[Any, list[str]]]:
    """The page, which takes a while to load, and the addresses that it has asked for."""
    requests: list[str] = []
    with browsing() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: requests.append(f"error: {error}"))
        page.goto(f"{address}/index.html")
        page.wait_for_selector(".cm-editor")
        yield page, requests


def press(page: Any, button: str) -> str:
    """Press a button and give what is answered."""
    page.click(f"#{button}")
    return answer(page)


def answer(page: Any) -> str:
    page.wait_for_selector("#answer[aria-busy=false]")
    said: str = page.inner_text("#shown")
    return said


def shows(page: Any, place: str, text: str) -> None:
    """Wait until a text is there."""
    page.locator(f"#{place}", has_text=text).wait_for()


def write(page: Any, text: str) -> None:
    """Put a text in the place of the model."""
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def choose(page: Any, name: str) -> None:
    found = json.loads((BUILT / "page.json").read_text("utf-8"))["models"]
    names = [each["name"] for each in found]
    page.select_option("#model", value=str(names.index("my_model.rebeca")))
    page.evaluate("localStorage.clear()")
    page.select_option("#model", value=str(names.index(name)))


ENDLESS = """
reactiveclass A(9) {
    statevars { int a; int b; }
    A() { self.m(); }
    msgsrv m() {
        a += ?(0, 1);
        b += ?(0, 1);
        self.m() after(1);
    }
}
main { A one():(); }
"""


@needs_chromium
def test_the_page_answers_without_a_server(opened: tuple[Any, list[str]], address: str) -> None:
    page, requests = opened
    assert "No violation in any order (8,028 states)" in press(page, "explore")
    assert press(page, "check").startswith("ticket_service.rebeca: ok, 2 classes, 3 rebecs")
    assert press(page, "simulate").startswith(
        str(rs.simulate(TICKETS, seed=0, steps=25)).splitlines()[0]
    )
    assert page.inner_text("#shown pre").rstrip() == str(rs.simulate(TICKETS, seed=0, steps=25))
    shows(page, "checked", "✓ None.")
    page.click(".cm-content")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#shown .verdict")
    assert {each for each in requests if not each.startswith(address)} == set()


@needs_chromium
def test_stepping_goes_on_and_back_by_mouse_and_keys(opened: tuple[Any, list[str]]) -> None:
    page, _ = opened
    assert "Step 0, time 0" in press(page, "step")
    page.keyboard.press("?")
    page.click("#keys button")
    page.click("#shown .way >> nth=0")
    assert "Step 1, time 1" in answer(page)
    page.keyboard.press("1")
    shows(page, "where", "Step 2")
    page.keyboard.press("k")
    shows(page, "where", "Step 1 of 2")
    page.keyboard.press("r")
    shows(page, "where", "Step 2")
    press(page, "explore")
    page.click("#shown .graph a >> nth=5")  # a state of the graph
    assert "What may happen next" in answer(page)


@needs_chromium
def test_a_mistake_in_a_text_of_ones_own_has_its_place(opened: tuple[Any, list[str]]) -> None:
    page, _ = opened
    choose(page, TICKETS.name)
    write(page, "reactiveclass A(3) {\n    A() { x = 1; }\n}\nmain {\n    A a():();\n}\n")
    shows(page, "checked", "1 error")
    assert "line 2" in page.inner_text("#problems")
    assert "ticket_service.rebeca:2:11: error" in press(page, "check")
    assert "2:11: error" in press(page, "explore")
    write(page, (ROOT / "models" / "queue.rebeca").read_text("utf-8"))  # imports packaged parts
    assert press(page, "check").startswith("ticket_service.rebeca: ok, 5 classes, 2 rebecs")


@needs_chromium
def test_models_in_python_run_and_endless_ones_are_stopped(opened: tuple[Any, list[str]]) -> None:
    page, _ = opened
    file = TICKETS.with_suffix(".py")
    choose(page, file.name)
    assert "No violation in any order (8,028 states)" in press(page, "explore")
    press(page, "simulate")
    assert page.inner_text("#shown pre").rstrip() == str(rs.simulate(file, seed=0, steps=25))
    write(page, "print('here')\nwhile True:\n    pass\n")
    page.click("#check")
    page.wait_for_timeout(300)
    page.click("#stop")
    assert "Stopped." in answer(page)
    choose(page, "teaching/ping_pong.rebeca")
    assert "ok, 1 class, 2 rebecs" in press(page, "check")


@needs_chromium
@pytest.mark.slow
def test_a_model_without_end_gives_the_limit(opened: tuple[Any, list[str]]) -> None:
    page, _ = opened
    choose(page, "teaching/token_ring.rebeca")
    write(page, ENDLESS)
    page.click("#explore")
    shows(page, "state", "states…")
    assert "limit" in answer(page)
    assert "undecided" in page.inner_text("#shown .verdict")


@needs_chromium
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_and_is_accessible(
    opened: tuple[Any, list[str]], width: int, colours: str
) -> None:
    page, _ = opened
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=colours)
    choose(page, TICKETS.name)
    for button in ("check", "simulate", "step", "explore"):
        press(page, button)
        open_folds(page)
        assert_accessible(page, width)
