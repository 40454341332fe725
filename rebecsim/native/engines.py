"""Which engine does the work."""

from __future__ import annotations

from typing import Literal, get_args

EngineUsed = Literal["python", "native"]

Engine = Literal["auto", "python", "native"]
"""`python` runs Rebec classes, `native` compiled code; both give the same results. `auto` begins in
Python, which needs no compiling, and goes over to compiled code where there is much to do."""

FINGERPRINT_BITS = 62
"""By how many bits hash compaction tells states apart."""

ENGINES: tuple[Engine, ...] = get_args(Engine)
