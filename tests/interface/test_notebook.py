"""The notebook of the documentation can be run, and shows what it says.

Packages for notebooks are imported by the process that runs one, not by all that collect tests.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_cell_of_a_notebook_can_be_run(path, tmp_path):
    from nbclient import NotebookClient
    from nbformat import read

    notebook = read(path, as_version=4)
    (tmp_path / "models").symlink_to(ROOT / "models")
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs for cell in cells)
    shown = [output.get("data", {}) for cell in cells for output in cell.outputs]
    assert sum("<svg" in data.get("text/html", "") for data in shown) == 2
    assert sum("image/svg+xml" in data for data in shown) == 1
    assert sum("image/png" in data for data in shown) == 2


def test_notebooks_are_kept_without_what_they_print():
    from nbformat import read

    assert NOTEBOOKS
    for path in NOTEBOOKS:
        cells = read(path, as_version=4).cells
        assert not any(cell.get("outputs") for cell in cells), path.name
