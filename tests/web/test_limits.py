"""Limits when many ask at once: studies, pages that watch them, models that others use."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from rebecsim.errors import UserError
from rebecsim.studies.executors import available_workers
from rebecsim.studies.run_directory import exclusive
from rebecsim.web import Library, Share, guard, steppers
from rebecsim.web.studies import pages, study_process
from rebecsim.web.studies.run_finder import id_of
from rebecsim.web.studies.study_process import (
    FOLDER,
    Request,
    StartedStudy,
    make_study,
    read_request,
    start_study,
    started_studies,
)
from tests.on_asgi import ask, asked, send_form
from tests.web.runs import SMALL, check

START = {"toml": SMALL, "workers": "1"}


def test_twelve_that_are_started_at_once_are_four(
    app: Any, tmp_path: Path, no_processes: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    application = app(tmp_path)

    def slowly(root: Path) -> list[StartedStudy]:
        found = list(started_studies(root))
        time.sleep(0.02)  # in which another one could be let in
        return found

    monkeypatch.setattr(study_process, "started_studies", slowly)

    def start(number: int) -> int:
        return int(
            send_form(application, "/studies/start", **{**START, "name": f"s{number}"}).status
        )

    with ThreadPoolExecutor(12) as people:
        said = sorted(people.map(start, range(12)))
    assert said == [303] * 4 + [400] * 8
    assert len(no_processes) == 4
    assert len(list(tmp_path.iterdir())) == 4  # and nothing half made


def test_studies_that_go_on_again_count(
    app: Any, tmp_path: Path, no_processes: list[list[str]]
) -> None:
    application = app(tmp_path)
    for number in range(6):
        start_study(tmp_path, Request(f"s{number}", SMALL, False, 1, False))
        with exclusive(tmp_path / f"s{number}" / FOLDER):
            pass  # and its process is gone

    def resume(number: int) -> int:
        return int(send_form(application, f"/studies/{id_of(f's{number}')}/resume").status)

    with ThreadPoolExecutor(6) as people:
        said = sorted(people.map(resume, range(6)))
    assert said == [303] * 4 + [400] * 2


@pytest.mark.parametrize("full_after", [0, 1, 2])  # the last one when it begins
def test_a_study_is_made_whole_or_not_at_all(
    app: Any,
    tmp_path: Path,
    no_processes: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    full_after: int,
) -> None:
    written = []

    def on_a_full_disk(path: Path, content: bytes) -> None:
        if len(written) == full_after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        written.append(path)

    monkeypatch.setattr(study_process, "write_atomically", on_a_full_disk)
    refused = send_form(app(tmp_path), "/studies/start", **{**START, "name": "one"})
    assert (refused.status, "No space left on device" in refused.text) == (400, True)
    assert str(tmp_path) not in refused.text
    assert (list(tmp_path.iterdir()), no_processes) == ([], [])


def test_a_study_that_cannot_go_on_says_which_file_is_in_the_way(
    app: Any, tmp_path: Path, no_processes: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = start_study(tmp_path, Request("one", SMALL, False, 1, False))
    with exclusive(tmp_path / "one" / FOLDER):
        pass  # by a process that is gone
    (tmp_path / "one" / FOLDER / "log.txt").unlink(missing_ok=True)
    monkeypatch.setattr(study_process, "_has_plain_files", lambda folder: True)
    (tmp_path / "one" / FOLDER / "log.txt").mkdir()
    assert study.state == "killed"
    refused = send_form(app(tmp_path), f"/studies/{id_of('one')}/resume")
    assert (refused.status, len(no_processes)) == (400, 1)
    assert f"Study one: one/{FOLDER}/log.txt: Is a directory" in refused.text


def test_a_study_that_begins_while_ended_ones_are_cleared_away_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Process:
        """The first one has ended; as that is seen, two other requests come between."""

        asked = 0

        def __init__(self, number: int) -> None:
            self.number = number

        def poll(self) -> int | None:
            if self.number > 1:
                return None
            Process.asked += 1
            if Process.asked == 1:
                list(started_studies(tmp_path))
                begin("two")
            return 0

    processes: list[Process] = []

    def start(*command: str, **given: Any) -> Process:
        processes.append(Process(len(processes) + 1))
        return processes[-1]

    def begin(name: str) -> StartedStudy:
        (tmp_path / name / FOLDER).mkdir(parents=True)
        found = StartedStudy(tmp_path / name)
        found.begin()
        return found

    monkeypatch.setattr(study_process, "_ours", type(study_process._ours)())
    monkeypatch.setattr(study_process, "start_module", start)
    monkeypatch.setattr(study_process, "_BEGINNING", 0.0)
    begin("one")
    list(started_studies(tmp_path))
    assert StartedStudy(tmp_path / "two").state == "starting"


def test_a_study_with_a_link_in_its_folder_is_none(app: Any, tmp_path: Path) -> None:
    """What it says would be written to where the link leads."""
    outside, root = tmp_path / "outside", tmp_path / "root"
    root.mkdir()
    outside.write_text("of somebody else")
    make_study(root / "one", Request("one", SMALL, False, 1, False))
    (root / "one" / FOLDER / "log.txt").symlink_to(outside)
    assert send_form(app(root), f"/studies/{id_of('one')}/resume").status == 404
    assert outside.read_text() == "of somebody else"


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "[]",
        "[" * 5_000,
        '{"name": 1}',
        '{"name": "one", "builtin": 1}',
        '{"more": true}',
        "NaN",
    ],
)
def test_a_study_of_somebody_else_that_is_damaged_is_said(
    app: Any, tmp_path: Path, wrong: str
) -> None:
    place = tmp_path / "one"
    make_study(place, Request("one", SMALL, False, 10**9, False))
    assert read_request(place).workers == available_workers()
    (place / FOLDER / "request.json").write_text(wrong)
    assert ask(app(tmp_path), "/studies").status == 200
    with pytest.raises(UserError, match="is damaged"):
        read_request(place)
    far = '{"done": 1e999, "total": "x", "counted": []}'
    for name, text in (("begun", '{"at": "x"}'), ("ended", wrong), ("progress", far)):
        (place / FOLDER / f"{name}.json").write_text(text)
    for address in ("/studies", f"/studies/{id_of('one')}", "/runs"):
        assert ask(app(tmp_path), address).status == 200
    os.mkfifo(place / FOLDER / ".lock")  # whoever reads it waits
    assert ask(app(tmp_path), f"/studies/{id_of('one')}").status == 404


def test_what_is_sent_and_taken_at_a_time_has_a_limit(
    app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "ANSWER_BYTES", Share(100_000, 100_000))
    monkeypatch.setattr(guard, "BODY_BYTES", Share(20_000, 20_000))
    application = app(None)
    for _ in range(3):  # what has been refused takes no place
        refused = ask(application, "/static/codemirror.min.js")
        assert (refused.status, refused.headers["retry-after"]) == (503, "5")
        assert "The server is sending too much" in refused.text
        assert ask(application, "/static/app.js").status == 200
        refused = send_form(application, "/edit/check", text="a" * 30_000)
        assert (refused.status, "The server is receiving too much" in refused.text) == (503, True)
        assert send_form(application, "/edit/check", text="a" * 10_000).status == 200


def test_keys_of_many_parts_are_refused_at_once(app: Any, tmp_path: Path) -> None:
    application = app(tmp_path)
    began = time.monotonic()
    for key in (".".join(["a"] * 19_000), ' . "a" . b' * 3_000, ".".join(["''"] * 10_000)):
        key = key.strip(" .")
        for text in (f'kind = "model"\n{key} = 1', f"[{key}]", f"x = {{{key} = 1}}"):
            for address, status in (("check", 200), ("start", 400), ("form", 200)):
                said = send_form(application, f"/studies/{address}", toml=text, workers="1")
                assert (said.status, "the limit is 200 for" in said.text) == (status, True)
        for field, said in (("sweep", "the limit is 200 for"), ("policies", "no dispatch policy")):
            found = check(application, SMALL, field=field, value=f"{{{key} = 1}}")
            assert said in found["problems"][field][0]
    assert time.monotonic() - began < 60
    hostile = ('\\"""x\n' * 6_000, '\\"' * 19_000, "'''x\n" * 7_000)  # strings without an end
    for text in hostile:
        assert check(application, text)["general"]
    fine = f'title = "{"a." * 100}" # {"b." * 100}\n{SMALL}'
    assert send_form(application, "/studies/check", toml=fine).status == 200


def test_pages_that_watch_have_places_and_give_them_back(
    app: Any, tmp_path: Path, no_processes: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that are left before they have begun."""
    monkeypatch.setattr(pages, "STREAMS", Share(2, 3))
    application = app(tmp_path)
    start_study(tmp_path, Request("one", SMALL, False, 1, False))
    address = f"/studies/{id_of('one')}/events"
    for _ in range(5):
        with suppress(OSError):
            ask(application, address, gone=True)

    async def watching() -> list[int]:
        said = [
            asyncio.create_task(asked(application, address, client=f"10.0.0.{number}"))
            for number in (1, 1, 1, 2, 3)
        ]
        await asyncio.sleep(1.5)
        statuses = [each.result().status if each.done() else 200 for each in said]
        for each in said:
            each.cancel()
        return statuses

    assert sorted(asyncio.run(watching())) == [200, 200, 200, 503, 503]


@pytest.mark.parametrize(
    ("variables", "locals_", "rebecs", "is_fine"),
    [
        ("int[50000] a; int[200][200] b;", "", 1, True),
        ("int[60000] a; int[200][200] b;", "int[1] c;", 1, False),
        ("int[30000] a;", "", 4, False),
    ],
)
def test_models_with_large_arrays_are_not_stepped_through(
    app: Any, tmp_path: Path, variables: str, locals_: str, rebecs: int, is_fine: bool
) -> None:
    main = "".join(f"R r{number}():();" for number in range(rebecs))
    text = (
        f"reactiveclass R(2) {{ statevars {{ {variables} }} R() {{ self.m(); }} "
        f"msgsrv m() {{ {locals_} }} }} main {{ {main} }}"
    )
    application = app(tmp_path)
    there = send_form(application, "/edit/explore", text=text).headers["location"]
    said = ask(application, there)
    assert (said.status, "rebecsim step" in said.text) == ((200, False) if is_fine else (400, True))


def test_whoever_waits_long_for_a_model_is_told_so(
    app: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And another model is opened while one is being loaded."""
    text = "reactiveclass R(2) { R() { self.m(); } msgsrv m() { } } main { R r():(); }"
    for name in ("slow", "other"):
        (tmp_path / f"{name}.rebeca").write_text(f"{text}// {name}")
    ids = {each.name: each.id for each in Library(tmp_path).models()}
    monkeypatch.setattr(steppers, "PATIENCE", 0.2)
    going_on = threading.Event()
    check = steppers.check_source

    def slowly(text: str, name: str) -> Any:
        if name == "slow.rebeca":
            going_on.wait(60)
        return check(text, name)

    monkeypatch.setattr(steppers, "check_source", slowly)
    application = app()
    with ThreadPoolExecutor(1) as people:
        first = people.submit(ask, application, f"/x/{ids['slow.rebeca']}/-")
        time.sleep(0.3)
        refused = ask(application, f"/x/{ids['slow.rebeca']}/-")
        assert (refused.status, "Others are using this model" in refused.text) == (503, True)
        assert ask(application, f"/x/{ids['other.rebeca']}/-").status == 200
        going_on.set()
        assert first.result().status == 200
