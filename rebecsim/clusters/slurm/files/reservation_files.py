"""Read advance reservations as `scontrol show res -o` writes them: one a line."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from rebecsim.clusters.slurm.configuration import Reservation
from rebecsim.clusters.slurm.files.hostlists import HostListError, expand
from rebecsim.clusters.slurm.files.lines import SlurmFileError, read_text
from rebecsim.workloads.sacct import NOT_SET, moment

_PAIR = re.compile(r"(\w+)=(.*?)(?=\s+\w+=|\s*$)")
_NONE = "no reservations in the system"


def read_reservations(path: Path) -> tuple[Reservation, ...]:
    """Read reservations; times are seconds by the clock on the wall. Raises SlurmFileError."""
    made = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip() and line.strip().lower() != _NONE:
            try:
                made.append(_reservation(line))
            except ValueError as error:
                raise SlurmFileError.at(str(path), number, str(error)) from None
    return tuple(made)


def _reservation(line: str) -> Reservation:
    """Read a line; words such as NodeName and CoreIDs may stand in it several times."""
    values: dict[str, str] = {}
    cores: defaultdict[str, int] = defaultdict(int)
    node = ""
    for key, value in _PAIR.findall(line):
        if key == "NodeName":
            node = value
        elif key == "CoreIDs":
            for each in expand(node):
                cores[each] += len(expand(f"[{value}]"))
        else:
            values.setdefault(key, value)
    if "ReservationName" not in values:
        raise ValueError("ReservationName=... is expected; write the file by scontrol show res -o")
    times = {key: _moment(key, values.get(key, "")) for key in ("StartTime", "EndTime")}
    flags = frozenset(each.upper() for each in _words(values.get("Flags", "")))
    try:
        nodes = expand("" if values.get("Nodes", "").lower() in NOT_SET else values["Nodes"])
    except HostListError as error:
        raise ValueError(f"Nodes: {error}") from None
    partial = flags.isdisjoint({"SPEC_NODES", "ALL_NODES", "PART_NODES", "MAINT"}) or bool(cores)
    return Reservation(
        name=values["ReservationName"],
        start=times["StartTime"],
        end=times["EndTime"],
        nodes=nodes,
        cores=dict(cores) if partial else {},
        partition=" ".join(_words(values.get("PartitionName", ""))),
        users=_words(values.get("Users", "")),
        accounts=_words(values.get("Accounts", "")),
        flags=flags,
        licenses=_licenses(_words(values.get("Licenses", ""))),
    )


def _moment(key: str, text: str) -> int:
    try:
        found = moment(text)
    except ValueError:
        found = None
    if found is None:
        raise ValueError(f"{key}={text}: a time as 2026-01-31T08:00:00 is expected")
    return found


def _words(text: str) -> tuple[str, ...]:
    if text.strip().lower() in NOT_SET:
        return ()
    return tuple(filter(None, (each.strip() for each in text.split(","))))


def _licenses(words: tuple[str, ...]) -> dict[str, int]:
    found = {}
    for word in words:
        name, _, count = word.replace("=", ":").partition(":")
        if count and not count.isdecimal():
            raise ValueError(f"Licenses={word}: a count is expected after the colon")
        found[name] = int(count or 1)
    return found
