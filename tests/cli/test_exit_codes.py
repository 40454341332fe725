"""What the program says, and the code it ends with, when something goes wrong."""

import re
from pathlib import Path

from rebecsim.exit_codes import ExitCode

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/command-line.md"


def test_the_page_says_what_every_code_means():
    table = PAGE.read_text().partition("Results go to")[0]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.M)] == list(ExitCode)
