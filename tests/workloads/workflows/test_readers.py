"""Workflows of other tools: what is read, and what is refused with which words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rebecsim.errors import UserError
from rebecsim.workloads.workflows import WorkflowTask, read_dax, read_wfcommons

DAX = """<?xml version="1.0"?>
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1">
  <job id="ID00" name="split" runtime="1.5"/>
  <job id="ID01" name="map" runtime="20"/>
  <job id="ID02" name="merge" runtime="3"/>
  <child ref="ID01"><parent ref="ID00"/></child>
  <child ref="ID02">
    <parent ref="ID01"/>
    <parent ref="ID00"/>
  </child>
</adag>
"""

INSTANCE: dict[str, Any] = {
    "workflow": {
        "specification": {
            "tasks": [
                {"name": "split", "id": "a", "parents": []},
                {"name": "map", "id": "b", "parents": ["a"]},
                {"name": "merge", "id": "c", "parents": ["b", "a"]},
            ]
        },
        "execution": {
            "tasks": [
                {"id": "c", "runtimeInSeconds": 3},
                {"id": "a", "runtimeInSeconds": 1.5},
                {"id": "b", "runtimeInSeconds": 20},
            ]
        },
    }
}


def dax(folder: Path, text: str = DAX) -> tuple[WorkflowTask, ...]:
    path = folder / "flow.xml"
    path.write_text(text, "utf-8")
    return read_dax(path)


def instance(folder: Path, text: str) -> tuple[WorkflowTask, ...]:
    path = folder / "flow.json"
    path.write_text(text, "utf-8")
    return read_wfcommons(path)


def test_both_forms_say_the_same(tmp_path: Path) -> None:
    found = dax(tmp_path)
    assert found == (
        WorkflowTask("ID00", "split", 1.5, ()),
        WorkflowTask("ID01", "map", 20, (0,)),
        WorkflowTask("ID02", "merge", 3, (0, 1)),
    )
    other = instance(tmp_path, json.dumps(INSTANCE))
    assert [(each.name, each.seconds, each.parents) for each in other] == [
        (each.name, each.seconds, each.parents) for each in found
    ]


def test_older_instances_name_parents_by_their_names(tmp_path: Path) -> None:
    tasks = [
        {"name": "split", "runtime": 1.5, "parents": []},
        {"name": "map", "id": "7", "runtime": 20, "parents": ["split"]},
        {"name": "merge", "runtimeInSeconds": 3, "parents": ["map"]},
    ]
    found = instance(tmp_path, json.dumps({"workflow": {"tasks": tasks}}))
    assert [(each.seconds, each.parents) for each in found] == [(1.5, ()), (20, (0,)), (3, (1,))]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('runtime="20"', 'runtime="-20"', r"flow.xml:4: task ID01 runs for -20 s; give 0 or more"),
        (
            'runtime="20"',
            'runtime="1e308"',
            r"runs for 1e\+308 s; give 0 or more, at most 1,000,000",
        ),
        (
            'runtime="20"',
            'runtime="long"',
            r"flow.xml:4: <job> ID01: runtime='long' is not a number",
        ),
        ('runtime="20"', 'runtime="nan"', r"flow.xml:4: task ID01 runs for nan s"),
        (' runtime="20"', "", r"flow.xml:4: <job>: runtime is missing"),
        ('id="ID01"', 'id="ID00"', r"flow.xml:6: <child>: there is no job ID01"),
        ('id="ID02"', 'id="ID01"', r"flow.xml:7: <child>: there is no job ID02"),
        ('<parent ref="ID01"/>', '<parent ref="ID9"/>', r"xml:8: task ID02 waits for ID9, which"),
        (
            '<parent ref="ID00"/></child>',
            '<parent ref="ID02"/></child>',
            r"xml:4: tasks wait for each other: ID01, which waits for ID02, which waits for ID01",
        ),
        ('<child ref="ID02">', "<child>", r"flow.xml:7: <child>: ref is missing"),
        ("adag", "dag", r"flow.xml:2: <dag>: a DAX begins with <adag>"),
        ("</adag>", "", r"flow.xml:\d+: this is not XML"),
        (
            '<?xml version="1.0"?>',
            '<?xml version="1.0"?><!DOCTYPE adag [<!ENTITY a "b">]>',
            r"flow.xml:1: the entity a is declared; entities are refused",
        ),
    ],
)
def test_what_is_wrong_with_a_dax_is_said(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in DAX
    with pytest.raises(UserError, match=message):
        dax(tmp_path, DAX.replace(old, new))


def test_two_jobs_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = DAX.replace("  <child", '  <job id="ID00" runtime="1"/>\n  <child', 1)
    with pytest.raises(UserError, match=r"flow.xml:6: another task is called ID00"):
        dax(tmp_path, twice)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"parents": ["a"]', '"parents": ["z"]', r"tasks\[1\].parents\[0\]: task b waits for z"),
        ('"parents": ["a"]', '"parents": ["c"]', r"tasks\[1\]: tasks wait for each other: b, wh"),
        ('"parents": ["a"]', '"parents": "a"', r"tasks\[1\].parents: should be a list"),
        ('"runtimeInSeconds": 20', '"runtimeInSeconds": -2', r"tasks\[1\]: task b runs for -2 s"),
        ('"runtimeInSeconds": 20', '"runtimeInSeconds": 1e308', r"b runs for 1e\+308 s; give 0 or"),
        (
            '"runtimeInSeconds": 20',
            f'"runtimeInSeconds": 2{"0" * 400}',
            r"\[1\]: task b runs for inf",
        ),
        (
            '"runtimeInSeconds": 20',
            f'"runtimeInSeconds": 2{"0" * 5000}',
            "number of too many digits",
        ),
        ('"runtimeInSeconds": 20', '"runtimeInSeconds": true', r"\[1\].runtimeInSeconds: should"),
        ('{"id": "c", "run', '{"id": "x", "run', r"tasks\[2\]: .* does not say how long c ran"),
        (
            '"id": "b", "par',
            '"id": "a", "par',
            r"specification.tasks\[1\]: another task is",
        ),
        ('"specification"', '"spec"', r"flow.json: workflow.jobs: should be a list"),
        ('"workflow"', '"flow"', r"flow.json: workflow: should be an object"),
        ("{", "", r"flow.json:1: this is not JSON"),
    ],
)
def test_what_is_wrong_with_an_instance_is_said(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    text = json.dumps(INSTANCE)
    assert old in text
    with pytest.raises(UserError, match=message):
        instance(tmp_path, text.replace(old, new, 1))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "tasks", "seconds"),
    [("CyberShake_30", 30, 760.5), ("Inspiral_50", 50, 11_774), ("Epigenomics_24", 24, 17_721)],
)
def test_published_workflows_are_read(
    shared_data: Path, name: str, tasks: int, seconds: float
) -> None:
    found = read_dax(shared_data / f"dax/{name}.xml")
    assert len(found) == tasks
    assert sum(each.seconds for each in found) == pytest.approx(seconds, rel=0.01)


@pytest.mark.shared
def test_real_instances_are_read(shared_data: Path) -> None:
    for path in sorted((shared_data / "wfcommons").glob("*.json")):
        found = read_wfcommons(path)
        assert any(each.parents for each in found)
        assert all(each.seconds >= 0 for each in found)
