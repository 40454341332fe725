"""Without Numba's compiler the native engines are plain Python, and right all the same.

`make test-plain` runs the tests that are marked `plain` a second time, without the compiler. They
go through many more models there than can be compiled in a test.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from models import ticket_service
from rebecsim.exploration import explore
from rebecsim.lang import check_file
from rebecsim.native import is_plain, native_model
from rebecsim.simulation import run_native

pytestmark = pytest.mark.plain

TICKETS = Path(ticket_service.__file__).with_suffix(".rebeca")


@pytest.mark.skipif(not is_plain(), reason="is about the engines without a compiler")
def test_nothing_is_compiled() -> None:
    from numba.core import event

    checked = check_file(TICKETS)
    with event.install_recorder("numba:compile") as compiling:
        found = explore(ticket_service.model, engine="native")
        runs = run_native(
            native_model(ticket_service.model, checked), key=(1, 2), replications=range(1), until=20
        )
    assert (found.engine, found.states) == ("native", 8028)
    assert len(runs.ends) == 1
    assert not compiling.buffer
