"""Files of small sites with Slurm, as texts."""

# ruff: noqa: E501 - lines of files stand as they are

from pathlib import Path

from rebecsim.clusters.slurm.files.cluster_files import read_cluster
from rebecsim.clusters.slurm.files.log_files import read_log

NODES = "NodeName=n[1-4] CPUs=8 RealMemory=8000 Gres=gpu:a:2\n"
PARTITION = "PartitionName=p Nodes=ALL Default=YES\n"
COLUMNS = "JobIDRaw|JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|State|TimelimitRaw|ReqNodes|ReqTRES|AllocTRES|NodeList|Constraints|SubmitLine"


def cluster(folder: Path, text: str, **others: str):
    (folder / "slurm.conf").write_text(text)
    for name, content in others.items():
        (folder / f"{name}.conf").write_text(content)
    return read_cluster(folder / "slurm.conf")


def log(folder: Path, *rows: str, columns: str = COLUMNS, **keys):
    (folder / "log").write_text("\n".join([columns, *rows]) + "\n")
    return read_log(folder / "log", **keys)


def row(number: int = 1, **given: str) -> str:
    """A row of a job of ann: submitted at 8:00, started at 8:01, ended at 8:03."""
    day = "2026-03-02T"
    cells = dict.fromkeys(COLUMNS.split("|"), "")
    cells |= {
        "JobIDRaw": str(number),
        "JobID": str(number),
        "User": "ann",
        "Account": "a",
        "Partition": "p",
        "QOS": "normal",
    }
    cells |= {
        "Submit": f"{day}08:00:00",
        "Eligible": f"{day}08:00:00",
        "Start": f"{day}08:01:00",
        "End": f"{day}08:03:00",
    }
    cells |= {
        "State": "COMPLETED",
        "TimelimitRaw": "10",
        "ReqNodes": "1",
        "ReqTRES": "cpu=4,mem=8G,node=1",
        "AllocTRES": "cpu=4,mem=8G,node=1",
        "NodeList": "n1",
    }
    return "|".join((cells | given).values())
