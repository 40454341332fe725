"""Files that the program writes are what it writes today."""

from __future__ import annotations

import pytest

from rebecsim.exploration import Limits, explore
from rebecsim.generate import build_model
from rebecsim.lang import Dialect, check_file, check_source, parse_model, print_model
from tests.models.lessons import MODELS
from tests.models.written import ROOT, written, yarn

BENCHMARKS: dict[str, Dialect] = {
    "philosophers6.rebeca": "core",
    "resource_manager_edf3.rebeca": "timed",
    "yarn_fifo4.rebeca": "timed",
}


@pytest.mark.parametrize("file", written())
def test_a_written_file_is_up_to_date(file: str) -> None:
    found, wanted = (ROOT / file).read_text("utf-8"), written()[file]()
    assert found == wanted, f"{file}: run `python -m tests.models.written`"


@pytest.mark.parametrize(
    ("app_masters", "floating", "timed"),
    [
        (1, (125, 148), (180, 203)),
        (2, (3897, 5684), (4852, 6639)),
        pytest.param(3, (134_838, 240_166), (152_097, 257_425), marks=pytest.mark.large),
    ],
)
def test_the_cluster_has_the_published_state_spaces(
    app_masters: int, floating: tuple[int, int], timed: tuple[int, int]
) -> None:
    model = build_model(check_source(yarn(app_masters), "yarn.rebeca"), "yarn.rebeca")
    for mode, counts in (("FTTS", floating), ("TTS", timed)):
        found = explore(model, mode="FTTS" if mode == "FTTS" else "TTS")
        assert found.verdict == "satisfied"
        assert (found.states, found.transitions) == counts


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_begins_as_it_should(name: str) -> None:
    file = MODELS / "benchmarks" / name
    tree = parse_model(file.read_text("utf-8"))
    assert parse_model(print_model(tree)) == tree
    model = build_model(check_file(file, BENCHMARKS[name]), name)
    found = explore(model, limits=Limits(states=3000), engine="python")
    assert found.verdict == "undecided"
    assert found.violations == ()


def test_all_benchmarks_are_tested() -> None:
    assert {file.name for file in MODELS.glob("benchmarks/*.rebeca")} == set(BENCHMARKS)
