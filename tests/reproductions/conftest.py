"""Made-up cells, as tests of reports have them."""

import pytest

from tests.report.conftest import MakeCell, build_cell


@pytest.fixture
def make_cell() -> MakeCell:
    return build_cell
