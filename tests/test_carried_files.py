"""Files that were sent with a task stand in for those that it names."""

from pathlib import Path

import pytest

from rebecsim.processes import carried, carry, drop_carried


@pytest.fixture(autouse=True)
def nothing_left():
    yield
    drop_carried()


def test_a_file_is_where_its_name_says(tmp_path):
    assert carried(tmp_path / "log.swf") == tmp_path / "log.swf"


def test_a_file_that_was_sent_is_read_instead(tmp_path):
    carry({"logs/a.swf": b"sent"}, tmp_path)
    found = carried(Path("logs/a.swf"))
    assert (found.name, found.read_bytes()) == ("a.swf", b"sent")
    assert carried(Path("logs/b.swf")) == Path("logs/b.swf")


def test_files_of_one_name_do_not_meet(tmp_path):
    carry({"here/log.swf": b"one", "there/log.swf": b"two"}, tmp_path)
    read = [carried(Path(name, "log.swf")).read_bytes() for name in ("here", "there")]
    assert read == [b"one", b"two"]


def test_other_content_has_another_place_and_the_same_content_the_same(tmp_path):
    places = []
    for content in (b"one", b"two", b"one"):
        carry({"log.swf": content}, tmp_path)
        places.append(carried(Path("log.swf")))
    assert places[0] == places[2] != places[1]
    assert not places[1].exists()
    assert places[0].read_bytes() == b"one"
