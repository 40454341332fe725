"""A process of its own that answers SQL over the runs below a directory, and then ends.

What is asked comes in as JSON on standard input, what was found goes out as JSON. As a process it
can be stopped, and what it takes of memory is limited and given back.
"""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

from rebecsim.errors import UserError
from rebecsim.printable import clipped
from rebecsim.report.stored import shown_value
from rebecsim.studies.storage.arrow import leave_pandas_alone
from rebecsim.web.studies.shelf import Shelf

_LONGEST_VALUE = 300
_ROOM = 3
"""Bytes of this process for each that the database may have."""


def main() -> None:
    """Answer what standard input asks."""
    asked = json.loads(sys.stdin.read())
    _limit(asked["megabytes"] * _ROOM)
    print(json.dumps(answered(asked)))


def answered(asked: dict[str, Any]) -> dict[str, Any]:
    """Give columns and rows, or what is wrong."""
    from rebecsim.studies.storage.query import query

    leave_pandas_alone()

    shelf = Shelf(Path(asked["root"]))
    warnings: list[str] = []
    try:
        shelved = shelf.look()
        warnings += shelved.complaints
        runs = [each.stored for each in shelved.runs]
        answer = query(asked["sql"], runs, warnings.append, asked["megabytes"])
        rows = [
            [clipped(shown_value(value), _LONGEST_VALUE) for value in row]
            for row in islice(answer.rows, asked["rows"])
        ]
        more = next(answer.rows, None) is not None
    except (UserError, OSError) as error:
        return {"error": shelf.without_root(str(error))}
    except MemoryError:
        return {"error": "The memory for a question is used up."}
    return {
        "columns": list(answer.columns),
        "rows": rows,
        "more": more,
        "warnings": [shelf.without_root(each) for each in warnings],
    }


def _limit(megabytes: int) -> None:
    if sys.platform == "linux":
        import resource

        most = megabytes * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    main()
