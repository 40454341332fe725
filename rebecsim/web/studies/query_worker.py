"""Answer one SQL question over the runs below a directory, in a separate process.

It reads the question as JSON from standard input and prints the answer as JSON; all rows go into a
file if one is named. A process can be stopped, and its memory and files can be limited.
"""

from __future__ import annotations

import errno
import json
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebecsim.errors import UserError
from rebecsim.printable import clipped
from rebecsim.report.stored import shown_value
from rebecsim.studies.storage.arrow import leave_pandas_alone
from rebecsim.web.studies.found_runs import RunFinder

if TYPE_CHECKING:
    from rebecsim.studies.storage.query import QueryAnswer

LARGEST_ANSWER = 256
"""Megabytes of a file with all rows, where that can be limited."""
_LONGEST_VALUE = 300
_ROOM = 3
"""Bytes of this process for each that the database may have."""


def main() -> None:
    """Answer what standard input asks."""
    asked = json.loads(sys.stdin.read())
    _limit(asked["megabytes"] * _ROOM, LARGEST_ANSWER)
    print(json.dumps(answered(asked)))


def answered(asked: dict[str, Any]) -> dict[str, Any]:
    """Give columns and rows, or what is wrong; with a file named as `out`, write all rows there."""
    from rebecsim.studies.storage.query import query

    leave_pandas_alone()

    finder = RunFinder(Path(asked["root"]))
    warnings: list[str] = []
    try:
        shelved = finder.look()
        warnings += shelved.complaints
        runs = [each.stored for each in shelved.runs]
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
