from __future__ import annotations

import pytest

from rebecsim.cluster import DISPATCH_POLICIES
from rebecsim.errors import UserError
from rebecsim.experiments.published import (
    MEASURED_RUNS,
    PUBLISHED_RUNS,
    PUBLISHED_TABLES,
    tables_of,
)


def test_every_table_has_a_row_for_every_policy():
    for table in PUBLISHED_TABLES:
        assert [row.policy for row in table.rows] == list(DISPATCH_POLICIES)


@pytest.mark.parametrize("table", PUBLISHED_TABLES, ids=lambda table: table.number)
def test_pooled_figures_follow_from_the_means_by_cluster_size(table):
    for row in table.rows:
        if row.by_size is None:
            continue
        misses, completions = sum(row.by_size.misses), sum(row.by_size.completions)
        late = sum(row.by_size.app_master_misses)
        # Six means rounded to one decimal.
        assert misses / 6 == pytest.approx(row.measured.misses, abs=0.06)
        assert 100 * completions / (completions + misses) == pytest.approx(
            row.measured.request_success, abs=0.3
        )
        assert 100 * completions / (completions + late) == pytest.approx(
            row.measured.app_master_success, abs=0.3
        )


@pytest.mark.parametrize("table", PUBLISHED_TABLES, ids=lambda table: table.number)
def test_the_original_tools_meet_their_published_figures(table):
    for row in table.rows:
        error = (
            row.misses_error_of(PUBLISHED_RUNS) ** 2 + row.misses_error_of(MEASURED_RUNS) ** 2
        ) ** 0.5
        assert row.measured.misses == pytest.approx(row.published.misses, abs=2 * error + 0.01)


def test_tables_and_rows_are_found_by_name():
    (table,) = tables_of("for_priority")
    assert table.number == "4.11"
    assert table.row("PRIORITY").published.misses == 28.21
    assert tables_of() == PUBLISHED_TABLES
    with pytest.raises(UserError, match=r"mine: no published scenario.*for_edf, against_edf"):
        tables_of("mine")
    with pytest.raises(KeyError):
        table.row("LLF")
