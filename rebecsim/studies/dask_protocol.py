"""The protocol of Dask clusters that this program starts: only its own processes can take part.

Dask executes what it is sent, and every user of a machine can connect to the ports of a cluster
there. So both ends of a connection first prove that they know a secret, the `authkey` that Python
gives to this process and to those that it starts. Nothing is read as a message of Dask before. A
proof is for one connection to one address and for one of its ends, so an overheard one is worth
nothing, and a proof that is passed on to another process is not accepted there.

Importing this module makes the protocol known to Dask. Workers import it when they start.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from multiprocessing import current_process
from typing import Any

from distributed.comm.core import CommClosedError, FatalCommClosedError
from distributed.comm.registry import backends
from distributed.comm.tcp import TCP, TCPBackend, TCPConnector, TCPListener

PROTOCOL = "rebecsim"
"""What the addresses of such clusters begin with."""

_PATIENCE = 10.0  # seconds for a proof
_NONCE = 32  # bytes
_DIGEST = "sha256"
_PROOF = 32  # bytes


class _Connector(TCPConnector):  # type: ignore[misc]  # Dask has no annotations
    prefix = f"{PROTOCOL}://"

    async def connect(self, address: str, deserialize: bool = True, **how: Any) -> TCP:
        """Connect to an address. Raises OSError if it is not of this cluster, or cannot be reached.

        Dask does not try again where a program answers that does not know the secret.
        """
        comm: TCP = await super().connect(address, deserialize, **how)
        if not await _is_known(comm, address, ours=b"connects", theirs=b"listens"):
            raise FatalCommClosedError(f"{address}: another program answers there")
        return comm


class _Listener(TCPListener):  # type: ignore[misc]  # Dask has no annotations
    prefix = f"{PROTOCOL}://"

    async def on_connection(self, comm: TCP, *how: Any, **more: Any) -> None:
        """Begin to talk. Raises CommClosedError with those who do not know the secret."""
        address = self.listen_address.removeprefix(self.prefix)
        if not await _is_known(comm, address, ours=b"listens", theirs=b"connects"):
            raise CommClosedError(f"{comm.peer_address} is another program")
        await super().on_connection(comm, *how, **more)


class _Backend(TCPBackend):  # type: ignore[misc]  # Dask has no annotations
    _connector_class = _Connector
    _listener_class = _Listener


backends[PROTOCOL] = _Backend()


async def _is_known(comm: TCP, address: str, *, ours: bytes, theirs: bytes) -> bool:
    """Prove that we know the secret, and tell whether the other end does; if not, close."""
    known = False
    try:
        known = await asyncio.wait_for(_proven(comm.stream, address, ours, theirs), _PATIENCE)
    except OSError:  # TimeoutError and what tornado raises among them
        pass
    finally:
        if not known:
            comm.abort()
    return known


async def _proven(stream: Any, address: str, ours: bytes, theirs: bytes) -> bool:
    """Exchange nonces, then proofs, and tell whether the one of the other end is right."""
    mine = secrets.token_bytes(_NONCE)
    await stream.write(mine)
    yours = await stream.read_bytes(_NONCE)
    await stream.write(_proof(ours, address, yours, mine))
    found = await stream.read_bytes(_PROOF)
    return hmac.compare_digest(found, _proof(theirs, address, mine, yours))


def _proof(end: bytes, address: str, asked: bytes, own: bytes) -> bytes:
    """Give what only those who know the secret can compute, for one end of one connection."""
    secret = bytes(current_process().authkey)
    return hmac.digest(secret, b" ".join((end, address.encode(), asked, own)), _DIGEST)
