"""Export workloads as CSV or Parquet: a column per field, a row per job."""

from __future__ import annotations

from pathlib import Path

from rebecsim.extras import require
from rebecsim.workloads.errors import WorkloadError
from rebecsim.workloads.files import replacing
from rebecsim.workloads.job import COLUMNS, Workload
from rebecsim.workloads.swf import write_swf

FORMS = (".swf", ".swf.gz", ".csv", ".csv.gz", ".parquet")
"""How names of files may end."""


def require_form(path: Path) -> str:
    """Give how the name of a file ends. Raises WorkloadError if a workload cannot be such a file,
    or if there is no directory for it.
    """
    form = next((each for each in FORMS if path.name.endswith(each)), None)
    if form is None:
        raise WorkloadError(f"{path}: the name of a workload should end with one of {_listed()}")
    if not form.startswith(".swf"):
        require(f"{path}: the form {form}", "pyarrow")
    if not path.parent.is_dir():
        raise WorkloadError(f"{path}: there is no directory {path.parent}")
    return form


def write_workload(workload: Workload, path: Path) -> None:
    """Write a workload in the form that the name of the file asks for.

    CSV and Parquet have the columns of SWF and `processors`, unknown values as -1, and no header.
    The file is whole or not there. Raises WorkloadError for another name, OSError when the file
    cannot be written.
    """
    form = require_form(path)
    if form.startswith(".swf"):
        write_swf(workload, path)
        return
    import pyarrow
    from pyarrow import csv, parquet

    table = pyarrow.table({name: getattr(workload, name) for name in (*COLUMNS, "processors")})
    with replacing(path) as file:
        if form == ".parquet":
            parquet.write_table(table, file)
        else:
            csv.write_csv(table, file)


def _listed() -> str:
    return ", ".join(FORMS)
