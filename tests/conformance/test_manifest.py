"""The manifest of the suite keeps to what its README says."""

import pytest

from tests.exploration.conformance import SUITE, entries

MODES = {"timed": {"FTTS", "TTS"}, "core": {"core"}}


def test_entries_are_in_the_order_of_their_files():
    files = [entry["file"] for entry in entries()]
    assert files == sorted(set(files))
    assert files == sorted(path.name for path in SUITE.glob("*.rebeca"))


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["file"])
def test_an_entry_says_what_it_asks_and_who_counted(entry):
    assert entry["teaches"]
    assert ("own" in entry) != ("rmc_version" in entry)
    if "own" in entry:
        assert entry["own"] is True
        assert entry["checked"]
        assert not any({"ideal", "limit_s"} & set(result) for result in entry["results"])
    assert {result["mode"] for result in entry["results"]} <= MODES[entry["language"]]
