"""All files of a site together: the cluster, its jobs, and what each setting does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from rebecsim.clusters.slurm.configuration import Cluster
from rebecsim.clusters.slurm.files.account_files import read_accounting
from rebecsim.clusters.slurm.files.cluster_files import read_cluster
from rebecsim.clusters.slurm.files.lines import SlurmFileError
from rebecsim.clusters.slurm.files.reservation_files import read_reservations
from rebecsim.clusters.slurm.files.settings import Setting
from rebecsim.wording import suggestion


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFiles:
    """Where the files of a site are.

    Attributes:
        conf: slurm.conf; gres.conf and topology.conf stand beside it, unless they are named.
        accounts: what `sacctmgr dump CLUSTER file=FILE` wrote.
        qos: what `sacctmgr -P show qos` printed.
        shares: what `sshare -al -P` printed when the log begins.
        reservations: what `scontrol show res -o` printed.
        lines: further lines of slurm.conf, which count where the file says otherwise.
    """

    conf: Path
    gres: Path | None = None
    topology: Path | None = None
    accounts: Path | None = None
    qos: Path | None = None
    shares: Path | None = None
    reservations: Path | None = None
    lines: str = ""

    def read(self) -> tuple[Cluster, tuple[Setting, ...]]:
        """Read them: the cluster, and each setting with what is done with it.

        Raises SlurmFileError, with file, line and key, also for files that contradict each other.
        """
        cluster, settings = read_cluster(self.conf, self.gres, self.topology, self.lines)
        accounting, said = read_accounting(self.accounts, self.qos, self.shares)
        accounting = replace(accounting, enforce=cluster.accounting.enforce)
        if cluster.accounting.enforce and self.accounts is None:
            raise SlurmFileError(
                f"{self.conf}: AccountingStorageEnforce needs the accounts; give them by --accounts"
                " FILE (in a scenario: accounts), which `sacctmgr dump CLUSTER file=FILE` writes"
            )
        reserved = read_reservations(self.reservations) if self.reservations else ()
        nodes, names = {each.name for each in cluster.nodes}, {each.name for each in accounting.qos}
        for reservation in reserved:
            for node in reservation.nodes:
                if node not in nodes:
                    raise SlurmFileError(
                        f"{self.reservations}: reservation {reservation.name}: there is no node "
                        f"{node} in {self.conf}; {suggestion(node, sorted(nodes), 'take it out')}"
                    )
        for partition in cluster.partitions:
            if self.qos is not None and partition.qos and partition.qos not in names:
                raise SlurmFileError(
                    f"{self.conf}: partition {partition.name}: there is no QOS {partition.qos} in "
                    f"{self.qos}; {suggestion(partition.qos, sorted(names))}"
                )
        return replace(cluster, accounting=accounting, reservations=reserved), (*settings, *said)


def settings_rows(settings: tuple[Setting, ...]) -> Iterator[tuple[str, str, str, str]]:
    """Give rows of a table: where, the key with its value, what becomes of it, and why.

    What is not simulated comes first, as it can change who waits; then what is used.
    """
    order = {"not simulated": 0, "used": 1, "no effect": 2}
    for each in sorted(settings, key=lambda each: order[each.use]):
        value = f"{each.key}={each.value}" if each.value else each.key
        yield f"{Path(each.file).name}:{each.line}", value, each.use, each.note
