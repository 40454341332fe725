"""Local Dask clusters: nobody but the program that starts one can have it do anything."""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import psutil
import pytest
from distributed.comm.core import connect, listen

from rebecsim.studies.dask_executor import LOCAL, DaskExecutor, TaskInputs, dask_executor
from rebecsim.studies.dask_protocol import PROTOCOL
from tests.waiting import PATIENCE

SOON = 60.0
"""Seconds in which somebody is refused who is not known."""

INTRUDER = """
import sys
from distributed import Client
import rebecsim.studies.dask_protocol

def take_part():
    open(sys.argv[2], "w").close()

Client(sys.argv[1], timeout=3).run_on_scheduler(take_part)
"""


@pytest.fixture(scope="module")
def executor() -> Iterator[DaskExecutor]:
    with dask_executor(LOCAL, 2, TaskInputs(), lambda told: None) as executor:
        yield executor


def ports() -> list[tuple[str, int]]:
    """Where this process and those that it has started listen."""
    here = psutil.Process()
    return [
        (connection.laddr.ip, connection.laddr.port)
        for process in (here, *here.children(recursive=True))
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]


@pytest.mark.parametrize("protocol", ["tcp", PROTOCOL])
def test_another_process_cannot_have_code_run(
    executor: DaskExecutor, tmp_path: Path, protocol: str
) -> None:
    address = executor._client.scheduler.address.replace(PROTOCOL, protocol)
    trace = tmp_path / "trace"
    done = subprocess.run(
        [sys.executable, "-c", INTRUDER, address, str(trace)],
        capture_output=True,
        text=True,
        timeout=SOON,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert not trace.exists()
    assert executor.submit(abs, -1).result(PATIENCE) == 1


def test_every_port_is_on_loopback_and_reads_nothing_from_others(executor: DaskExecutor) -> None:
    """Nor is there a dashboard: where HTTP is answered, there is no page."""
    found = ports()
    assert len(found) >= 8  # of the scheduler and two workers, for Dask and HTTP; of two nannies
    assert {ip for ip, _ in found} == {"127.0.0.1"}
    for port in (port for _, port in found):
        if answer := pages(port):
            assert set(answer) == {404}
        else:
            assert answer_to(port, b"\0" * 64 + PICKLE) == b""
    assert executor.submit(os.getppid).result(PATIENCE) == os.getpid()


def pages(port: int) -> list[int]:
    """The statuses of what would be pages of Dask; none where no HTTP is spoken."""
    found = []
    for page in ("", "status", "info/main/workers.html", "json/counts.json", "metrics", "health"):
        try:
            found.append(urlopen(f"http://127.0.0.1:{port}/{page}", timeout=SOON).status)
        except HTTPError as error:
            found.append(error.code)
        except Exception:  # whatever Python says of bytes that are no HTTP
            return []
    return found


class Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (9,)


PICKLE = pickle.dumps(Bomb())


def answer_to(port: int, told: bytes) -> bytes:
    """What is answered, but for the nonce and the proof, to somebody who says this."""
    found = b""
    with socket.create_connection(("127.0.0.1", port), SOON) as stream:
        stream.sendall(told)
        with suppress(ConnectionError):
            while more := stream.recv(4096):
                found += more
    return found[64:]


def test_nothing_is_told_to_a_program_that_has_taken_a_port() -> None:
    told: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as taken:

        def answer() -> None:
            stream, _ = taken.accept()
            with stream, suppress(ConnectionError):
                stream.sendall(b"x" * 64)
                while more := stream.recv(4096):
                    told.append(more)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        address = f"{PROTOCOL}://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(OSError, match="another program answers there"):
            asyncio.run(connect(address, timeout=SOON))
        thread.join(SOON)
    assert len(b"".join(told)) == 64  # the nonce and the proof


@pytest.mark.parametrize("through", [False, True], ids=["directly", "through another program"])
def test_a_proof_that_is_passed_on_is_not_accepted(through: bool) -> None:
    """Those that know the secret understand each other, but not through a port of somebody else."""

    async def meet(taken: socket.socket) -> bool:
        async def greet(comm: Any) -> None:
            await comm.write("hello")
            await comm.close()

        async with listen(f"{PROTOCOL}://127.0.0.1", greet) as listener:
            port: int = listener.get_host_port()[1]
            threading.Thread(target=pass_on, args=(taken, port), daemon=True).start()
            between = taken.getsockname()[1] if through else port
            try:
                comm = await connect(f"{PROTOCOL}://127.0.0.1:{between}", timeout=SOON)
            except OSError:
                return False
            try:
                return bool(await comm.read() == "hello")
            finally:
                comm.abort()

    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert asyncio.run(meet(taken)) != through


def pass_on(taken: socket.socket, port: int) -> None:
    """Pass on everything that is said to one port to another one, in both directions."""
    with suppress(OSError):
        one, _ = taken.accept()
        with one, socket.create_connection(("127.0.0.1", port)) as other:
            back = threading.Thread(target=copy, args=(other, one), daemon=True)
            back.start()
            copy(one, other)
            back.join(SOON)


def copy(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while more := source.recv(4096):
            sink.sendall(more)
        sink.shutdown(socket.SHUT_WR)
