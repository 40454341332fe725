"""Studies in the browser: forms, the scenario as text, what is refused, processes and their end."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import threading
import tomllib
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from rebecsim.clusters.kinds import find_kind, kind_names
from rebecsim.clusters.scenarios import open_run
from rebecsim.errors import UserError
from rebecsim.studies.run_directory import exclusive, is_being_written
from rebecsim.studies.scenario_files import builtin_scenarios
from rebecsim.web import LARGEST_BODY
from rebecsim.web.studies import study_process
from rebecsim.web.studies.forms import GROUPS, every_field, fields_of, read, shown, value_at
from rebecsim.web.studies.pages import _followed
from rebecsim.web.studies.run_finder import id_of
from rebecsim.web.studies.run_views import RunViews
from rebecsim.web.studies.scenarios import text_of_builtin
from rebecsim.web.studies.study_process import (
    FOLDER,
    Request,
    StartedStudy,
    make_study,
    start_study,
)
from rebecsim.web.studies.study_views import StudyViews
from tests.on_asgi import OWN, ask, send_form
from tests.web.runs import SMALL, check
from tests.web.test_attacks import WORDS, assert_harmless

START = {"toml": SMALL, "name": "one", "workers": "1"}


# --- forms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", kind_names())
def test_each_kind_has_a_form_with_all_its_options(app: Any, tmp_path: Path, kind: str) -> None:
    page = unescape(ask(app(tmp_path), f"/studies/new?kind={kind}").text)
    said = re.sub("</?code>", "", page)
    fields = list(every_field(fields_of(find_kind(kind).scenario.model_json_schema(), {})))
    assert {each.path[0] for each in fields} == set(find_kind(kind).scenario.model_fields) - {
        "kind"
    }
    for each in fields:
        assert each.help
        assert each.help.replace("`", "") in said
        assert f'<span class="unit">[{each.unit}]</span>' in page or not each.unit
        assert (
            f'name="f:{each.name}"' in page
            or (each.shape == "table" and not each.optional)
            or (each.shape == "tables" and f'name="act" value="{each.name}"' in page)
        )
    assert "Fix the fields marked below" in page


@pytest.mark.parametrize("name", builtin_scenarios())
def test_fields_show_a_scenario_as_it_is(name: str) -> None:
    """What is shown, read again, is what the scenario has."""
    values = tomllib.loads(text_of_builtin(name) or "")
    schema = find_kind(values["kind"]).scenario.model_json_schema()
    fields = list(every_field(fields_of(schema, values)))
    assert len({each.name for each in fields}) == len(fields)
    seen = set()
    for each in fields:
        found = value_at(values, each.path)
        if each.shape not in GROUPS:
            assert read(each, shown(each, values)) == found
            seen |= {each.path[0]} if found is not None else set()
        else:
            assert bool(shown(each, values)) is (found is not None)
    tables = {each.path[0] for each in fields if each.shape in GROUPS}
    assert seen | tables | {"kind"} >= set(values)


@pytest.mark.parametrize("name", builtin_scenarios())
def test_built_in_scenarios_can_be_started_as_they_are(app: Any, tmp_path: Path, name: str) -> None:
    found = check(app(tmp_path), text_of_builtin(name) or "", builtin="yes")
    assert (found["general"], found["problems"]) == ([], {})
    assert found["said"]


def test_a_sweep_is_a_field_and_what_is_wrong_with_it_is_said_there(
    app: Any, tmp_path: Path
) -> None:
    swept = f"{SMALL}\n[sweep]\nqueue_size = [2, 4]\n"
    found = check(app(tmp_path), swept)
    assert (found["general"], found["problems"]) == ([], {})
    page = send_form(app(tmp_path), "/studies/form", toml=swept).text
    assert 'name="f:sweep"' in page
    assert "queue_size = [2, 4]" in unescape(page)
    wrong = check(app(tmp_path), swept.replace("[2, 4]", "[2, 0]"))
    assert "must be at least 1, found 0" in str(wrong["problems"]["sweep"])
    wrong = check(app(tmp_path), swept.replace("queue_size = [2", "queue_sise = [2"))
    assert "did you mean queue_size?" in str(wrong["problems"]["sweep"])


def test_files_of_swept_keys_are_those_below_the_directory(app: Any, tmp_path: Path) -> None:
    text = (
        'kind = "batch"\nname = "x"\npolicies = ["FCFS"]\nworkload = { log = "a.swf" }\n'
        'sweep = { "workload.log" = ["a.swf", "../b.swf"] }\n'
    )
    (tmp_path / "root").mkdir()
    for name in ("root/a.swf", "b.swf"):
        (tmp_path / name).write_text("1 0 0 5 1 -1 -1 1 9 -1 1 1 -1 -1 -1 -1 -1 -1\n")
    found = check(app(tmp_path / "root"), text)
    assert "must name a file below the directory of the server" in str(found)


def test_imported_files_are_those_below_the_directory(app: Any, tmp_path: Path) -> None:
    text = 'kind = "model"\nname = "x"\nmodel = "a.rebeca"\nuntil = 9\n'
    root = tmp_path / "root"
    root.mkdir()
    part = "reactiveclass P(1) { P() { self.go(); } msgsrv go() { } }"
    for folder in (root, tmp_path):
        (folder / "part.rebeca").write_text(part)
    (root / "far.rebeca").write_text('import "../part.rebeca";')
    for path, is_refused in (("part", False), ("../part", True), ("far", True)):
        (root / "a.rebeca").write_text(f'import "{path}.rebeca"; main {{ P p():(); }}')
        found = str(check(app(root), text))
        assert ("must name a file below the directory of the server" in found) == is_refused


def test_a_changed_field_changes_the_text_and_no_other_line(app: Any, tmp_path: Path) -> None:
    text = SMALL.replace("seed = 7", "# a remark\nseed = 7")
    found = check(app(tmp_path), text, field="ticks", value="20")
    assert found["text"] == text.replace("ticks = 12", "ticks = 20")
    assert (found["values"]["ticks"], found["problems"]) == ("20", {})
    assert found["said"] == "4 cells, 24 runs"
    gone = check(app(tmp_path), text, field="ticks", value="")
    assert gone["text"] == text.replace("ticks = 12\n", "")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("ticks", "0", "must be at least 1, found 0"),
        ("ticks", "many", "must be a whole number"),
        ("policies", "EDF, EDD", "did you mean EDF"),
        ("app_masters", "1, 0", "must be at least 1"),
        ("lengths[0].minimum", "", "is missing (smallest value)"),
        ("lengths[0].maximum", "-1", "must be at least 0"),
        ("power.idle", "[", "must be written as TOML"),
        ("high_priority.probability", "101", "at most 100"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(
    app: Any, tmp_path: Path, field: str, value: str, said: str
) -> None:
    found = check(app(tmp_path), SMALL, field=field, value=value)
    assert said in "\n".join(found["problems"][field])
    assert list(found["problems"]) == [field]
    assert found["said"] == ""
    page = send_form(
        app(tmp_path), "/studies/form", toml=SMALL, use="fields", **{f"f:{field}": value}
    )
    place = re.search(rf'id="p:{re.escape(field)}">(.*?)</p>', page.text, re.DOTALL)
    assert place is not None
    assert said in unescape(place[1])


def test_what_is_wrong_elsewhere_is_said_too(app: Any, tmp_path: Path) -> None:
    application = app(tmp_path)
    assert "line 3" in check(application, 'kind = "batch"\nname = "x"\nx = }')["general"][0]
    assert "unknown key" in check(application, f"tick = 3\n{SMALL}")["general"][0]
    assert "must be one of" in check(application, "kind = 3")["general"][0]
    assert check(application, SMALL.replace("dispatch", "batch"))["kind"] == "batch"
    nested = check(application, f"x = {'[' * 5000}")
    assert nested["general"]


def test_a_run_can_be_done_again_with_changes(
    app: Any, tmp_path: Path, no_processes: list[list[str]]
) -> None:
    from tests.web.runs import make_run

    make_run(tmp_path / "old", seed=11)
    page = unescape(ask(app(tmp_path), f"/studies/new?run={id_of('old')}").text)
    text = re.search(r'<textarea id="toml".*?>(.*?)</textarea>', page, re.DOTALL)
    assert text is not None
    values = tomllib.loads(text[1])
    assert (values["seed"], values["policies"]) == (11, ["EDF", "MDF"])
    assert "✓ 4 cells" in page
    assert ask(app(tmp_path), f"/studies/new?run={id_of('none')}").status == 404
    assert ask(app(tmp_path), "/studies/new?kind=none").status == 404


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "/etc",
        ".hidden",
        "-x",
        "A",
        "é",
        "a" * 61,
        "a\n",
        "there",
        "link",
    ],
)
def test_names_lead_nowhere_else(
    app: Any, tmp_path: Path, no_processes: list[list[str]], name: str
) -> None:
    root = tmp_path / "root"
    (root / "there").mkdir(parents=True)
    (root / "link").symlink_to(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    # A line end behind a name is not part of it.
    answer = send_form(app(root), "/studies/start", **{**START, "name": name})
    if name.strip() == "a":
        assert answer.status == 303
        return
    assert answer.status == 400
    assert (sorted(tmp_path.rglob("*")), no_processes) == (before, [])


@pytest.mark.parametrize(
    "file",
    [
        *("/etc/passwd", "../secret.rebeca", "link.rebeca", "folder/secret.rebeca", "own.py"),
        *("a/../../secret.rebeca", "loop.rebeca", "pipe.rebeca", "nothing.rebeca", "a\\u0000b"),
    ],
)
def test_a_scenario_names_no_files_from_elsewhere(app: Any, tmp_path: Path, file: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.rebeca").write_text("secret root:")
    (root / "own.py").write_text(f"open({str(tmp_path / 'made')!r}, 'w')")
    (root / "link.rebeca").symlink_to(tmp_path / "secret.rebeca")
    (root / "folder").symlink_to(tmp_path)
    (root / "loop.rebeca").symlink_to(root / "loop.rebeca")
    os.mkfifo(root / "pipe.rebeca")
    text = f'kind = "model"\nname = "m"\nmodel = "{file}"\nuntil = 5\n[[observe]]\nserved = "a.b"\n'
    for builtin in ("", "yes"):
        found = check(app(root), text, builtin=builtin)
        assert found["problems"]["model"]
        assert "root:" not in json.dumps(found)
        start = send_form(
            app(root), "/studies/start", **{**START, "toml": text, "builtin": builtin}
        )
        assert start.status == 400
        assert "root:" not in start.text
    assert not (tmp_path / "made").exists()
    assert not (root / "one").exists()


def test_files_below_the_directory_may_be_named(app: Any, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/m.rebeca").write_text(
        "reactiveclass R(2) { R() { self.m(); } msgsrv m() { self.m() after(1); } }"
        "main { R r():(); }"
    )
    text = (
        'kind = "model"\nname = "m"\nmodel = "deep/m.rebeca"\nuntil = 5\n'
        '[[observe]]\nserved = "r.m"\n'
    )
    found = check(app(tmp_path), text)
    assert (found["problems"], found["general"]) == ({}, [])
    gone = check(app(tmp_path), text.replace("reb", "ret"))["problems"]["model"][0]
    assert gone == "line 3: there is no file deep/m.reteca"


def test_studies_start_only_by_a_form_of_this_server(
    app: Any, tmp_path: Path, no_processes: list[list[str]]
) -> None:
    application = app(tmp_path)
    body = b"name=one&workers=1&toml=x"
    for address in ("/studies/start", "/studies/check", f"/studies/{id_of('one')}/cancel"):
        forged = [*OWN, ("origin", "http://evil.example"), ("sec-fetch-site", "cross-site")]
        for headers in (OWN, forged):
            answer = ask(application, address, method="POST", headers=headers, body=body)
            assert answer.status == 403
        assert ask(application, address).status in (404, 405)
    assert ask(app(tmp_path, "a-token"), "/studies").status == 403
    assert no_processes == []


def test_limits(app: Any, tmp_path: Path, no_processes: list[list[str]]) -> None:
    application = app(tmp_path)
    for workers in ("0", "1000", "x", "-1", "1e3", ""):
        answer = send_form(application, "/studies/start", **{**START, "workers": workers})
        assert answer.status == 400
    long = {**START, "toml": SMALL + "#" * 45_000}
    assert "may have" in unescape(send_form(application, "/studies/start", **long).text)
    assert send_form(application, "/studies/check", toml="#" * (LARGEST_BODY + 1)).status == 413
    fields = {f"f:{number}": "x" for number in range(500)}
    assert send_form(application, "/studies/form", toml=SMALL, **fields).status == 400
    for number in range(study_process.MOST_STUDIES):
        sent = {**START, "name": f"s{number}"}
        assert send_form(application, "/studies/start", **sent).status == 303
    answer = send_form(application, "/studies/start", **START)
    assert "4 studies are running (s0, s1, s2, s3)" in unescape(answer.text)
    assert len(no_processes) == 4


def test_without_a_directory_nothing_starts(app: Any) -> None:
    assert "Without one you can only look at forms" in ask(app(None), "/studies").text
    answer = send_form(app(None), "/studies/start", **START)
    assert (answer.status, "Studies need a directory" in answer.text) == (400, True)


def test_texts_of_studies_have_no_effect(
    app: Any, tmp_path: Path, no_processes: list[list[str]]
) -> None:
    application = app(tmp_path)
    assert_harmless(
        send_form(application, "/studies/form", toml=WORDS, name=WORDS, workers=WORDS).text
    )
    wrong = {"use": "fields", "f:title": WORDS, "f:ticks": WORDS, "f:policies": WORDS}
    page = send_form(application, "/studies/form", toml=SMALL, **wrong).text
    assert_harmless(page)
    assert WORDS in unescape(page)
    assert send_form(application, "/studies/start", **START).status == 303
    place = tmp_path / "one" / FOLDER
    (place / "log.txt").write_text(f"</pre>{WORDS}\x1b[31m\n")
    (place / "ended.json").write_text(json.dumps({"code": 2, "text": WORDS}))
    page = ask(application, f"/studies/{id_of('one')}").text
    assert_harmless(page)
    assert "\x1b" not in page
    events = followed(tmp_path)
    assert_harmless(events)
    assert "event: end\ndata: failed" in events


# --- processes -----------------------------------------------------------------------------------


def test_a_study_makes_the_run_that_compare_makes(tmp_path: Path) -> None:
    """And says how far it is, and what it has done."""
    place = tmp_path / "one"
    make_study(place, Request("one", SMALL, False, 1, True))
    assert study_process.main(tmp_path, "one") == 0
    study = StartedStudy(place)
    assert (study.state, study.why) == ("done", "done")
    assert study.progress is not None
    assert study.progress.done == study.progress.total == 4 * 6 * 4  # in four orders
    run = open_run(place)
    assert len(run.finished) == 4
    assert (place / "report.html").exists()
    assert (place / "orders/fifo/run.json").exists()


def test_a_large_study_says_so_as_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "one"
    make_study(place, Request("one", SMALL, False, 1, True))
    assert study_process.main(tmp_path, "one") == 0
    assert "estimated" not in capsys.readouterr().out
    monkeypatch.setattr("rebecsim.files.LARGE", 0.0)
    assert study_process.main(tmp_path, "one") == 0
    assert " 96 runs, each of up to 12 time units: estimated 1 second" in capsys.readouterr().out


def test_what_cannot_be_run_says_why(tmp_path: Path) -> None:
    place = tmp_path / "one"
    text = 'kind = "model"\nname = "x"\nmodel = "/etc/passwd"\nuntil = 3'
    make_study(place, Request("one", text, False, 1, False))
    assert study_process.main(tmp_path, "one") == 2
    assert StartedStudy(place).state == "failed"
    assert "must name a file below" in StartedStudy(place).why


def test_a_study_whose_process_is_gone_was_killed_and_can_go_on(
    app: Any, tmp_path: Path, no_processes: list[list[str]]
) -> None:
    study = start_study(tmp_path, Request("one", SMALL, False, 1, False))
    assert study.state == "starting"
    with exclusive(tmp_path / "one" / FOLDER):
        assert study.state == "running"
    assert study.state == "killed"
    page = ask(app(tmp_path), f"/studies/{id_of('one')}")
    assert "Killed: its process is gone" in page.text
    for what, status in (("pause", 400), ("cancel", 400), ("other", 404), ("resume", 303)):
        assert send_form(app(tmp_path), f"/studies/{id_of('one')}/{what}").status == status
    assert no_processes[0] == no_processes[1]
    assert no_processes[0][-2:] == [str(tmp_path), "one"]


def test_a_study_that_begins_while_it_is_asked_about_was_not_killed(
    tmp_path: Path, no_processes: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = start_study(tmp_path, Request("one", SMALL, False, 1, False))
    place = tmp_path / "one" / FOLDER

    def just_before(directory: Path) -> bool:
        running = is_being_written(directory)
        with exclusive(directory):  # it begins now
            pass
        return running

    (place / ".lock").touch()  # made by a process that waits for its turn
    assert study.state == "starting"
    monkeypatch.setattr(study_process, "is_being_written", just_before)
    assert study.state == "starting"


def test_no_process_but_that_of_the_study_is_sent_a_signal(
    tmp_path: Path, no_processes: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has written into the directory may have named another one."""
    sent: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda process, number: sent.append(number))
    study = start_study(tmp_path, Request("one", SMALL, False, 1, False))
    with exclusive(tmp_path / "one" / FOLDER):  # by this process, which is another one
        assert study.state == "running"
        study.cancel()
        assert study.state == "ending"
        monkeypatch.setattr(
            study_process, "_is_of", lambda process, directory: process == os.getpid()
        )
        study.cancel()
    assert sent == [signal.SIGKILL]
    (tmp_path / "one" / FOLDER / "begun.json").write_text('{"at": 5}')
    with pytest.raises(UserError, match="is killed"):
        study.pause()


def test_where_processes_cannot_be_stopped_the_page_says_so(
    app: Any, tmp_path: Path, no_processes: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = start_study(tmp_path, Request("one", SMALL, False, 1, False))
    address = f"/studies/{id_of('one')}"
    with exclusive(tmp_path / "one" / FOLDER):
        assert 'id="pause"' in ask(app(tmp_path), address).text
        monkeypatch.delattr(signal, "SIGSTOP")
        page = ask(app(tmp_path), address).text
        assert 'id="pause"' not in page
        assert "cannot be paused on this system" in page
        assert (
            "This system cannot pause processes"
            in send_form(app(tmp_path), f"{address}/pause").text
        )
        assert study.state == "running"
        study.cancel()
        assert study.state == "ending"


def test_folders_that_are_links_are_no_studies(app: Any, tmp_path: Path) -> None:
    (tmp_path / "outside/one" / FOLDER).mkdir(parents=True)
    (tmp_path / "outside/one" / FOLDER / "request.json").write_text("{}")
    root = tmp_path / "root"
    (root / "two").mkdir(parents=True)
    (root / "one").symlink_to(tmp_path / "outside/one")
    (root / "two" / FOLDER).symlink_to(tmp_path / "outside/one" / FOLDER)
    for name in ("one", "two"):
        assert ask(app(root), f"/studies/{id_of(name)}").status == 404


def followed(root: Path, closing: threading.Event | None = None) -> str:
    """Give what a stream says of the study `one`, until it ends."""
    views = StudyViews(RunViews(root))

    async def all_of_it() -> str:
        stream = _followed(views, id_of("one"), closing or threading.Event())
        return "".join([each async for each in stream])

    return asyncio.run(all_of_it())


def test_streams_end_with_the_server(tmp_path: Path, no_processes: list[list[str]]) -> None:
    closing = threading.Event()
    start_study(tmp_path, Request("one", SMALL, False, 1, False))
    threading.Timer(1.2, closing.set).start()
    events = followed(tmp_path, closing)
    assert "event: controls\ndata: <p" in events
    assert events.count("event: controls") == 1  # what does not change is said once
    assert "event: end" not in events


def test_a_page_that_shows_a_study_under_way_hears_of_its_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_processes: list[list[str]]
) -> None:
    """It may end while its page is being made, and would be shown as ending for ever."""
    start_study(tmp_path, Request("one", SMALL, False, 1, False))
    states = iter(["ending"])
    monkeypatch.setattr(StartedStudy, "state", property(lambda self: next(states, "cancelled")))
    page = StudyViews(RunViews(tmp_path)).page(id_of("one"))
    assert "Ending" in page
    assert f'data-events="/studies/{id_of("one")}/events"' in page
