"""What kinds of clusters say of themselves in their folders, and the program asks without names."""

from __future__ import annotations

from rebecsim.clusters.kinds import compare_options, kind_names, starts_workers_early


def test_only_a_kind_that_says_so_starts_workers_early() -> None:
    assert [name for name in kind_names() if starts_workers_early(name)] == ["dispatch"]
    assert not starts_workers_early("unknown")
    assert not starts_workers_early(None)


def test_options_of_compare_make_a_scenario_or_none() -> None:
    groups = list(compare_options())
    assert groups
    assert [group().scenario("jobs.json") for group in groups] == [None] * len(groups)
