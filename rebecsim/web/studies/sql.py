"""Answer questions in SQL, each in a separate process, a few at a time."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebecsim.errors import UserError
from rebecsim.processes import last_words, start_module
from rebecsim.web.limits import QUERIES_AT_ONCE
from rebecsim.wording import clipped

if TYPE_CHECKING:
    from rebecsim.studies.query import QueryAnswer

LONGEST_QUESTION = 5_000
_SECONDS = 30
_MEGABYTES = 1_000
_MOST_ROWS = 200
FILES = ("csv", "parquet")
"""How all rows of an answer can be had as a file."""


@dataclass(frozen=True)
class SqlAnswer:
    """The first rows that a question finds, as texts; `warnings` say what was left out."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: bool
    warnings: tuple[str, ...]


class Questions:
    """Answers questions over the runs below a directory."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._places = threading.BoundedSemaphore(QUERIES_AT_ONCE)

    def ask(self, sql: str, root: Path | None) -> SqlAnswer:
        """Answer a question. Raises UserError where that cannot be done."""
        said = self._said(sql, root, {"rows": _MOST_ROWS})
        rows = tuple(map(tuple, said["rows"]))
        return SqlAnswer(tuple(said["columns"]), rows, said["more"], tuple(said["warnings"]))

    def write(self, sql: str, root: Path | None, out: Path) -> None:
        """Write all rows of an answer to a file, .csv or .parquet. Raises UserError."""
        self._said(sql, root, {"rows": 0, "out": str(out)})

    def _said(self, sql: str, root: Path | None, wanted: dict[str, Any]) -> dict[str, Any]:
        if root is None:
            raise UserError(
                "This server has no directory with runs. Start `rebecsim web DIRECTORY`."
            )
        if len(sql) > LONGEST_QUESTION:
            raise UserError(f"A question may have at most {LONGEST_QUESTION:,} characters.")
        if not self._places.acquire(blocking=False):
            raise UserError("The server is answering other questions. Ask again in a few seconds.")
        try:
            said = self._answered({"sql": sql, "root": str(root), **wanted})
        finally:
            self._places.release()
        if "error" in said:
            raise UserError(said["error"])
        return said

    def _answered(self, question: dict[str, Any]) -> dict[str, Any]:
        asked = {**question, "megabytes": _MEGABYTES}
        with tempfile.TemporaryFile() as errors:
            process = start_module(
                "rebecsim.web.studies.sql",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
            )
            with process:
                try:
                    answer, _ = process.communicate(json.dumps(asked), timeout=self._seconds)
                except subprocess.TimeoutExpired as error:
                    process.kill()
                    raise UserError(
                        f"That takes longer than {self._seconds:g} seconds, and was stopped; "
                        "`rebecsim query` answers it in whatever time it takes."
                    ) from error
            if process.returncode:
                why = last_words(errors) or "it takes more memory than a question may have"
                raise UserError(f"The database could not answer: {why}.")
        said: dict[str, Any] = json.loads(answer)
        return said


LARGEST_ANSWER = 256
"""Megabytes of a file with all rows, where that can be limited."""
_LONGEST_VALUE = 300
_ROOM = 3
"""Bytes of this process for each that the database may have."""


def main() -> None:
    """Answer the question on standard input."""
    asked = json.loads(sys.stdin.read())
    _limit(asked["megabytes"] * _ROOM, LARGEST_ANSWER)
    print(json.dumps(answered(asked)))


def answered(asked: dict[str, Any]) -> dict[str, Any]:
    """Give columns and rows, or what is wrong; with a file named as `out`, write all rows there."""
    from rebecsim.extras import leave_pandas_alone
    from rebecsim.report.stored import shown_value
    from rebecsim.studies.query import query
    from rebecsim.web.studies.run_finder import RunFinder

    leave_pandas_alone()

    finder = RunFinder(Path(asked["root"]))
    warnings: list[str] = []
    try:
        found = finder.look()
        warnings += found.complaints
        runs = [each.stored for each in found.runs]
        answer = query(asked["sql"], runs, warnings.append, asked["megabytes"])
        if "out" in asked:
            _write(answer, Path(asked["out"]))
        rows = [
            [clipped(shown_value(value), _LONGEST_VALUE) for value in row]
            for row in islice(answer.rows, asked["rows"])
        ]
        more = next(answer.rows, None) is not None
    except OSError as error:
        if error.errno == errno.EFBIG:
            return {"error": f"The answer is larger than {LARGEST_ANSWER} MB. Ask for less."}
        return {"error": finder.without_root(str(error))}
    except UserError as error:
        return {"error": finder.without_root(str(error))}
    except MemoryError:
        return {"error": "The question needs more memory than it may have. Ask for fewer rows."}
    return {
        "columns": list(answer.columns),
        "rows": rows,
        "more": more,
        "warnings": [finder.without_root(each) for each in warnings],
    }


def _write(answer: QueryAnswer, out: Path) -> None:
    from rebecsim.report.stored import write_csv, write_parquet

    if out.suffix == ".csv":
        with out.open("w", encoding="utf-8", newline="") as file:
            write_csv(answer, file)
    else:
        write_parquet(answer, out)


def _limit(megabytes: int, written: int) -> None:
    if sys.platform == "linux":
        import resource

        for what, most in ((resource.RLIMIT_AS, megabytes), (resource.RLIMIT_FSIZE, written)):
            resource.setrlimit(what, (most * 1024 * 1024,) * 2)


if __name__ == "__main__":
    main()
