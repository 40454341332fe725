"""The page about what is run as code: every row of it has a test."""

from __future__ import annotations

import re

import pytest

from tests.docs.markdown import ROOT

PAGE = ROOT / "docs/reference/running-code.md"
TRUST = "tests/endtoend/test_trust.py"
TESTS = {
    "A model in Python (`.py`)": f"{TRUST}::test_a_model_that_the_user_names_is_run",
    "A model in Python that a scenario or a suite names": f"{TRUST}::test_the_user_is_asked",
    "A plug-in": (
        "tests/clusters/plugins/test_parts.py::test_loading_the_same_file_again_changes_nothing"
    ),
    "Plug-ins of installed packages": (
        "tests/clusters/plugins/test_kinds_and_commands.py::test_installed_plugins_are_found_once"
    ),
    "Compiled code, models and tables in the cache": (
        "tests/test_kept_files.py::test_a_directory_that_others_may_write_to_is_not_used"
    ),
    "Tasks of worker processes": (
        "tests/studies/running/test_dask_protocol.py::test_another_process_cannot_have_code_run"
    ),
    "Tasks and results of a Dask cluster at an address": (
        "tests/studies/running/test_dask_executor.py::test_what_a_task_raises_is_raised"
    ),
    "Models in Rebeca, properties and conditions": (
        f"{TRUST}::test_nothing_of_a_model_in_rebeca_becomes_python_but_names_and_numbers"
    ),
    "Run directories": f"{TRUST}::test_reading_runs_runs_no_model",
    "Saved runs and counterexamples": f"{TRUST}::test_what_a_saved_run_says_is_data_in_its_test",
    "SQL": "tests/studies/storage/test_query.py::test_files_are_out_of_reach",
    "XML": "tests/clusters/test_hadoop_xml.py::test_",
    "What is typed in the browser, and files below its directory": (
        f"{TRUST}::test_a_scenario_in_the_browser_may_not_name_a_program"
    ),
    "Python files in the working directory": (
        "tests/studies/running/test_foreign_modules.py::test_a_comparison_does_not_import_them"
    ),
}


def rows() -> list[str]:
    """The first cells of the tables, without their headings."""
    lines = re.findall(r"^\| (.*?) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    return [line for line in lines if line not in ("Code", "Data", "---")]


def test_every_row_has_a_test() -> None:
    assert rows() == list(TESTS)


@pytest.mark.parametrize("row", TESTS)
def test_the_test_of_a_row_is_there(row: str) -> None:
    file, _, name = TESTS[row].partition("::")
    assert f"\ndef {name}" in (ROOT / file).read_text("utf-8")
