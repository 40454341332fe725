"""Read the command line of a job, as sacct's SubmitLine has it: salloc, sbatch or srun.

Options that do not decide when a job starts are left out. `#SBATCH` lines of a script are not in
it, so a line that names a script says only a part.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from rebecsim.clusters.slurm.files.hostlists import HostListError, expand
from rebecsim.clusters.slurm.jobs import Amounts, Dependency, DependencyType
from rebecsim.workloads.sacct import DAY, HOUR, MINUTE, duration, megabytes, number

_SHORT = dict(pair.split(":") for pair in [
    "A:account", "a:array", "B:extra-node-info", "b:begin", "c:cpus-per-task", "C:constraint",
    "d:dependency", "D:chdir", "e:error", "F:nodefile", "G:gpus", "H:hold", "h:help", "i:input",
    "J:job-name", "k:no-kill", "K:kill-command", "L:licenses", "m:distribution", "M:clusters",
    "n:ntasks", "N:nodes", "o:output", "O:overcommit", "p:partition", "q:qos", "Q:quiet",
    "s:oversubscribe", "S:core-spec", "t:time", "v:verbose", "w:nodelist", "W:wait", "x:exclude",
    "Z:no-allocate", "u:unbuffered", "l:label", "r:relative", "X:disable-status", "I:immediate",
])  # fmt: skip
_ALONE = {
    "hold", "help", "no-kill", "overcommit", "quiet", "oversubscribe", "verbose", "wait",
    "no-allocate", "unbuffered", "label", "disable-status", "contiguous", "spread-job", "requeue",
    "no-requeue", "parsable", "test-only", "version", "usage", "ignore-pbs", "no-shell",
    "use-min-nodes", "reboot", "bell", "no-bell", "pty", "multi-prog", "overlap", "exact",
    "disable-send-gids", "help-spank", "whole", "interactive", "share",
}  # fmt: skip
"""Options without a value, but for those with `=`."""
_MAYBE = {
    "exclusive", "immediate", "nice", "propagate", "get-user-env", "kill-command", "resv-ports",
}  # fmt: skip
"""Options with a value only after `=`."""
_TYPES: dict[str, DependencyType] = {
    each: each for each in ("after", "afterany", "afterok", "afternotok", "aftercorr", "singleton")
} | {"afterburstbuffer": "afterburstbuffer"}
_UNITS = {"second": 1, "minute": MINUTE, "hour": HOUR, "day": DAY, "week": 7 * DAY}


class LineError(ValueError):
    """An option that cannot be read; the text says which."""


@dataclass(slots=True)
class Submitted:
    """What a command line says of a job, or of a part of a heterogeneous one.

    Attributes:
        program: such as sbatch.
        is_whole: whether all options stand in it; a script may have more.
        request: attributes of `Request`.
        job: attributes of `Job` and `Extras`, for which the log has no column or an uncertain one:
            partitions, nice, begin (text), array limit, dependencies, time.
        unknown: options that are not known.
    """

    program: str
    is_whole: bool = True
    request: dict[str, Any] = field(default_factory=dict)
    job: dict[str, Any] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)


@lru_cache(maxsize=100_000)
def read_line(text: str) -> tuple[Submitted, ...]:
    """Read a command line: one entry for each part of a heterogeneous job.

    Raises LineError for the value of an option that cannot be read.
    """
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    if not words:
        return ()
    program = PurePath(words[0]).name
    parts: list[list[str]] = [[]]
    for word in words[1:]:
        if word == ":":
            parts.append([])
        else:
            parts[-1].append(word)
    return tuple(_read(program, each) for each in parts)


def _read(program: str, words: list[str]) -> Submitted:
    made = Submitted(program)
    wrapped = False
    for name, value in _options(words, made):
        wrapped = wrapped or name == "wrap"
        reader = _READERS.get(name)
        if reader is not None:
            try:
                reader(made, value)
            except (ValueError, HostListError) as error:
                raise LineError(f"--{name}={value}: {error}") from None
    made.is_whole = program in ("salloc", "srun") or wrapped
    return made


def _options(words: list[str], made: Submitted) -> Iterator[tuple[str, str]]:
    """Give names and values of options, up to the command or the script."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--" or not word.startswith("-") or word == "-":
            return
        if word.startswith("--"):
            name, found, value = word[2:].partition("=")
            if not found and name not in _ALONE | _MAYBE:
                if name not in _KNOWN:
                    made.unknown.append(name)
                    continue
                value = rest.pop(0) if rest else ""
            yield name, value
            continue
        letters = word[1:]
        while letters:
            long = _SHORT.get(letters[0])
            letters, letter = letters[1:], letters[0]
            if long is None:
                made.unknown.append(letter)
                break
            if long in _ALONE | _MAYBE:
                # a value may follow directly, as in -I60
                value, letters = (letters, "") if long in _MAYBE else ("", letters)
                yield long, value
                continue
            yield long, letters or (rest.pop(0) if rest else "")
            break


def gres(text: str) -> Amounts:
    """Read `gpu:2,gpu:a100:1`. Raises ValueError."""
    counts: dict[str, int] = {}
    for word in filter(None, text.split(",")):
        parts = re.sub(r"\(.*?\)", "", word).removeprefix("gres:").replace("=", ":").split(":")
        count = number(parts.pop()) if re.fullmatch(r"\d+[kmgKMG]?", parts[-1]) else 1
        if not parts or len(parts) > 2 or word.lower() == "none":
            if word.lower() in ("none", "0"):
                continue
            raise ValueError("a resource is expected, as gpu:2")
        key = ":".join(parts)
        counts[key] = counts.get(key, 0) + count
    return tuple(sorted((key, count) for key, count in counts.items() if count))


def _gpus(text: str) -> Amounts:
    return gres(",".join(f"gpu:{word}" for word in text.split(",") if word))


def licenses(text: str) -> Amounts:
    """Read `matlab:2,idl` or, any of them, `a:1|b:1`. Raises ValueError."""
    return gres(re.sub(r"@[^:,=|]*", "", text).replace("|", ","))


def dependencies(text: str) -> tuple[tuple[Dependency, ...], bool]:
    """Read `afterok:1:2,after:3+5`, and whether any one of them is enough. Raises ValueError."""
    found = []
    for word in filter(None, re.split(r"[,?]", text)):
        kind, *jobs = word.split(":")
        name = _TYPES.get(kind.lower())
        if name is None:
            raise ValueError(f"{kind:.40} is not a kind of dependency")
        if name == "singleton":
            found.append(Dependency("singleton"))
        for job in jobs:
            match = re.fullmatch(r"(\d+)(?:_(?:\d+|\*))?(?:\+(\d+))?", job, re.ASCII)
            if match is None:
                raise ValueError(f"{job:.40} is not a job")
            found.append(Dependency(name, int(match[1]), int(match[2] or 0) * MINUTE))
    return tuple(found), "?" in text


def after_now(text: str) -> int | None:
    """Read `now+20` or `now+1hour`, seconds; None: it is another time."""
    match = re.fullmatch(r"now(?:\+(\d+)\s*([a-z]*))?", text.strip().lower(), re.ASCII)
    if match is None:
        return None
    unit = (match[2] or "second").removesuffix("s")
    return int(match[1] or 0) * _UNITS.get(unit, 1)


def _put(name: str, reader: Callable[[str], Any]) -> Callable[[Submitted, str], None]:
    def put(made: Submitted, value: str) -> None:
        made.request[name] = reader(value)

    return put


def _say(name: str, reader: Callable[[str], Any]) -> Callable[[Submitted, str], None]:
    def say(made: Submitted, value: str) -> None:
        made.job[name] = reader(value)

    return say


def _nodes(made: Submitted, value: str) -> None:
    least, _, most = value.partition("-")
    made.request["min_nodes"] = max(number(least), 1)
    made.request["max_nodes"] = max(number(most or least), 1)


def _switches(made: Submitted, value: str) -> None:
    count, _, wait = value.partition("@")
    made.request["switches"] = number(count)
    if wait:
        made.request["switch_wait"] = duration(wait)


def _words(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(",")))


def _shared(made: Submitted, text: str = "oversubscribe") -> None:
    """Read whether a job shares its nodes; of --exclusive and --oversubscribe, the last counts."""
    for key in ("exclusive", "oversubscribe"):
        made.request.pop(key, None)
    if text.lower() == "oversubscribe":
        made.request["oversubscribe"] = True
    else:
        made.request["exclusive"] = "user" if text.lower() in ("user", "mcs") else "node"


def _at_once(text: str) -> int | None:
    _, found, count = text.partition("%")
    return int(count) if found else None


def _more_gres(reader: Callable[[str], Amounts]) -> Callable[[Submitted, str], None]:
    """Add to the resources of a node: --gres and --gpus-per-node may both be given."""

    def put(made: Submitted, value: str) -> None:
        before = dict(made.request.get("gres_per_node", ()))
        made.request["gres_per_node"] = tuple(sorted({**before, **dict(reader(value))}.items()))

    return put


_READERS: dict[str, Callable[[Submitted, str], None]] = {
    "nodes": _nodes,
    "ntasks": _put("tasks", number),
    "cpus-per-task": _put("cpus_per_task", number),
    "ntasks-per-node": _put("tasks_per_node", number),
    "ntasks-per-core": _put("tasks_per_core", number),
    "mem": _put("memory_per_node", megabytes),
    "mem-per-cpu": _put("memory_per_cpu", megabytes),
    "mem-per-gpu": _put("memory_per_gpu", megabytes),
    "gres": _more_gres(gres),
    "gpus-per-node": _more_gres(_gpus),
    "gpus": _put("gres", _gpus),
    "gpus-per-task": _put("gres_per_task", _gpus),
    "licenses": _put("licenses", licenses),
    "constraint": _put("features", str),
    "prefer": _put("prefer", str),
    "nodelist": _put("required", expand),
    "exclude": _put("excluded", expand),
    "exclusive": _shared,
    "oversubscribe": lambda made, text: _shared(made),
    "share": lambda made, text: _shared(made),
    "contiguous": _put("contiguous", lambda text: True),
    "spread-job": _put("spread", lambda text: True),
    "switches": _switches,
    "reservation": _put("reservation", str),
    "partition": _say("partitions", _words),
    "time": _say("limit", duration),
    "time-min": _say("min_time", duration),
    "nice": _say("nice", lambda text: int(text or 100)),
    "begin": _say("begin", str),
    "deadline": _say("deadline", str),
    "dependency": _say("dependencies", dependencies),
    "hold": _say("held", lambda text: True),
    "requeue": _say("requeues", lambda text: True),
    "no-requeue": _say("requeues", lambda text: False),
    "array": _say("at_once", _at_once),
    "priority": _say("priority", lambda text: None if text.upper() == "TOP" else int(text)),
    "job-name": _say("name", str),
    "account": _say("account", str),
    "qos": _say("qos", str),
}
_KNOWN = {
    *_READERS, *_SHORT.values(),
    "acctg-freq", "batch", "bb", "bbf", "chdir", "clusters", "cluster-constraint", "comment",
    "container", "core-spec", "cores-per-socket", "cpu-freq", "cpus-per-gpu", "delay-boot",
    "distribution", "error", "export", "export-file", "extra-node-info", "gid", "gpu-bind",
    "gpu-freq", "gpus-per-socket", "gres-flags", "hint", "input", "mail-type", "mail-user",
    "mcs-label", "mem-bind", "mincpus", "mpi", "network", "nodefile", "ntasks-per-gpu",
    "ntasks-per-socket", "open-mode", "output", "power", "profile", "propagate", "quiet",
    "signal", "sockets-per-node", "thread-spec", "threads-per-core", "tmp", "uid",
    "wait-all-nodes", "wckey", "wrap", "het-group", "task-epilog", "task-prolog", "cpu-bind",
    "accel-bind", "bcast", "compress", "slurmd-debug", "epilog", "prolog", "jobid", "resv-ports",
    "tres-per-task", "tres-bind", "threads", "relative",
}  # fmt: skip
