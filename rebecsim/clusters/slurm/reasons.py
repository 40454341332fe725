"""The words of `squeue` for limits that keep a job waiting."""

from __future__ import annotations

import re
from typing import Literal

_WORDS = {"cpu": "Cpu", "mem": "Mem", "node": "Node", "billing": "Billing", "energy": "Energy"}

Kind = Literal["grp", "grp_seconds", "grp_run", "seconds", "job", "node", "min", "user", "account"]


def limit_reason(who: str, kind: Kind, tres: str) -> str:
    """Give the word of `squeue` for a limit of an association or a QOS."""
    gres = tres.startswith("gres/")
    word = "GRES" if gres else _WORDS.get(tres, "License" if "license" in tres else tres)
    timed = "CPU" if word == "Cpu" else word
    long = "Memory" if word == "Mem" else word
    bare = word in ("GRES", "Billing")
    match kind:
        case "grp_seconds":
            return f"{who}Grp{timed}Minutes" + ("Limit" if word == "Cpu" else "")
        case "grp_run":
            return f"{who}Grp{timed}RunMinutes" + ("Limit" if word == "Cpu" else "")
        case "grp":
            return f"{who}Grp{word}" + ("" if bare else "Limit")
        case "seconds":
            return f"{who}Max{word}MinutesPerJob" + ("Limit" if word == "Cpu" else "")
        case "job":
            return f"{who}Max{word}PerJob" + ("Limit" if word in ("Cpu", "Node") else "")
        case "node":
            return f"{who}Max{long}PerNode" + ("Limit" if word == "Cpu" else "")
        case "min":
            return "QOSMinCpuNotSatisfied" if word == "Cpu" else f"QOSMin{long}"
        case "user":
            return f"QOSMax{long}PerUser" + ("Limit" if word in ("Cpu", "Node") else "")
        case "account":
            return f"Max{long}PerAccount"


_LIMITS = re.compile(
    r"(QOS|Assoc)(Grp(Cpu|CPUMinutes|CPURunMinutes|Jobs|Mem(ory)?|Node|Submit\w*|Wall)"
    r"|Max((Cpu|CpuMinutes|Node|WallDuration)PerJob|(Cpu|Jobs|Node)PerUser|Jobs|Submit\w*))Limit"
    r"|QOSMinCpuNotSatisfied"
)


def is_limit(reason: str) -> bool:
    """Whether Slurm takes a reason for a limit; those of GRES, accounts and others it does not.

    A job at a limit lets later ones start at submission; and only these reasons are forgotten when
    the limits are looked at again.
    """
    return _LIMITS.fullmatch(reason) is not None
