"""Maps show who is best where, and where that is not known."""

from __future__ import annotations

from pathlib import Path

import pytest

import rebecsim as rs
from rebecsim.report.figures import render_figure
from rebecsim.report.maps import map_figure
from tests.search.test_tuning import SMALL


@pytest.fixture(scope="module")
def swept() -> rs.Comparison:
    sweep = {"queue_size": [2, 4, 12], "epsilon": [1.0, 3.0]}
    return rs.compare({**SMALL, "sweep": sweep}, orders=False, progress=False)


def test_a_map_names_the_best_of_every_place(swept: rs.Comparison) -> None:
    (section,) = [each for each in swept.report.sections if each.name == "maps"]
    first = section.pictures[0].draw.args[0]  # type: ignore[attr-defined]
    assert (first.columns, first.rows) == ((2, 4, 12), (1.0, 3.0))
    answers = first.standings
    assert set(answers) == {(column, row) for column in (2, 4, 12) for row in (1.0, 3.0)}
    assert [each.name for each in section.pictures] == [
        "map_queue_size_epsilon",
        "map_queue_size_cluster_size",
        "map_epsilon_cluster_size",
    ]
    unsure = [each for each in answers.values() if not each.is_shown]
    texts = [text for _, row in section.tables[0].rows for text in row]
    assert sum(text.endswith("(?)") for text in texts) == len(unsure)
    drawn = render_figure(lambda: map_figure(first))[".svg"].decode()
    assert drawn.count('id="on-colour-cell-') == 6
    assert ("<pattern" in drawn) == bool(unsure)


def test_pages_have_maps_where_two_keys_are_swept(swept: rs.Comparison, tmp_path: Path) -> None:
    page = swept.write(tmp_path).read_text("utf-8")
    assert "Maps: who is best where" in page
    assert (tmp_path / "charts/map_queue_size_epsilon.svg").is_file()


def test_there_is_no_map_of_one_policy() -> None:
    sweep = {"queue_size": [2, 4], "epsilon": [1.0, 3.0]}
    one = {**SMALL, "policies": ["EDF"], "sweep": sweep}
    found = rs.compare(one, orders=False, progress=False)
    assert "maps" not in [each.name for each in found.report.sections]
