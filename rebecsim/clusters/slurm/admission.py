"""Whether a partition takes a job, and whether one that it took may start there at all."""

from __future__ import annotations

from rebecsim.clusters.slurm.accounts import Accounts
from rebecsim.clusters.slurm.limits import denial
from rebecsim.clusters.slurm.machine import Machine, Place
from rebecsim.clusters.slurm.records import Entry, Record


def refusal(machine: Machine, accounts: Accounts, record: Record, place: Place) -> str:
    """Give why a partition does not take a job at all."""
    spec = place.spec
    if spec.state in ("DRAIN", "INACTIVE"):
        return "PartitionInactive"
    if spec.needs_reservation and not record.job.request.reservation:
        return "ReservationRequired"
    if machine.cluster.enforce_part_limits != "NO":
        need = machine.need(record.job.request, place)
        too_long = spec.time_limit is not None and (record.job.limit or 0) > spec.time_limit
        denied = denial(accounts, record, spec)
        return denied or need.problem or ("PartitionTimeLimit" if too_long else "")
    return ""


def partition_problem(accounts: Accounts, entry: Entry) -> str:
    """Give why a partition keeps a job waiting; empty: it does not."""
    spec, need = entry.place.spec, entry.need
    if spec.state in ("DOWN", "INACTIVE"):  # a drained one only takes no new jobs
        return "PartitionDown" if spec.state == "DOWN" else "PartitionInactive"
    denied = denial(accounts, entry.record, spec)
    if denied:
        return denied
    flags = entry.record.qos.flags if entry.record.qos else frozenset[str]()
    if need.problem == "PartitionNodeLimit":
        if not flags & {"PartitionMaxNodes", "PartitionMinNodes"}:
            return need.problem
    elif need.problem:
        return need.problem
    asked, most = entry.record.job.limit, spec.time_limit
    too_long = asked is not None and most is not None and asked > most
    if too_long and "PartitionTimeLimit" not in flags:
        return "PartitionTimeLimit"
    return ""
