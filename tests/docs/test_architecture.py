"""The architecture page: the files that it names are there."""

import re

import pytest

from tests.docs.markdown import ROOT

PAGE = ROOT / "docs/contributing/architecture.md"
NAMED = sorted(
    set(
        re.findall(
            r"`((?:rebecsim|reproductions|templates|tests)/[\w/.]+)`", PAGE.read_text("utf-8")
        )
    )
)


def test_it_names_files() -> None:
    assert len(NAMED) > 20


@pytest.mark.parametrize("name", NAMED)
def test_every_file_is_there(name: str) -> None:
    assert (ROOT / name).is_file()
