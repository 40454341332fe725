"""Read who may use how much: `sacctmgr dump`, `sacctmgr -P show qos`, `sshare -al -P`.

A missing Max limit, QOS or default QOS of an association is that of the account above it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from rebecsim.clusters.slurm.configuration import Accounting, Association, Qos, ResourceLimits
from rebecsim.clusters.slurm.files.lines import Pair, SlurmFileError, read_text
from rebecsim.clusters.slurm.files.node_lines import PREEMPT_MODES
from rebecsim.clusters.slurm.files.settings import Setting
from rebecsim.wording import suggestion
from rebecsim.workloads.sacct import MINUTE, duration, limit, tres

_TITLE = re.compile(r"\s*(Cluster|Parent|Account|User)\s*-\s*", re.IGNORECASE)
_PART = re.compile(
    r"\s*(?:'([^']*)'|\"([^\"]*)\"|([^:'\"=]+))(?:=(?:'([^']*)'|\"([^\"]*)\"|([^:]*)))?\s*(?::|$)"
)


def _minutes(text: str) -> dict[str, int]:
    return tres(text, MINUTE)


_LIMITS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "grpjobs": ("grp_jobs", limit),
    "grpjobsaccrue": ("grp_jobs_accrue", limit),
    "grpsubmit": ("grp_submit", limit),
    "grpsubmitjobs": ("grp_submit", limit),
    "grptres": ("grp_tres", tres),
    "grptresmins": ("grp_tres_seconds", _minutes),
    "grptresrunmins": ("grp_tres_run_seconds", _minutes),
    "grpwall": ("grp_wall", duration),
    "maxjobs": ("max_jobs", limit),
    "maxjobsaccrue": ("max_jobs_accrue", limit),
    "maxsubmit": ("max_submit", limit),
    "maxsubmitjobs": ("max_submit", limit),
    "maxtres": ("max_tres", tres),
    "maxtresperjob": ("max_tres", tres),
    "maxtrespernode": ("max_tres_per_node", tres),
    "maxtresmins": ("max_tres_seconds", _minutes),
    "maxtresminsperjob": ("max_tres_seconds", _minutes),
    "maxwall": ("max_wall", duration),
    "maxwalldurationperjob": ("max_wall", duration),
    "mintres": ("min_tres", tres),
    "maxtrespu": ("max_tres_per_user", tres),
    "maxjobspu": ("max_jobs_per_user", limit),
    "maxsubmitpu": ("max_submit_per_user", limit),
    "maxjobsaccruepu": ("max_jobs_accrue_per_user", limit),
    "maxtrespa": ("max_tres_per_account", tres),
    "maxjobspa": ("max_jobs_per_account", limit),
    "maxsubmitpa": ("max_submit_per_account", limit),
    "maxjobsaccruepa": ("max_jobs_accrue_per_account", limit),
}
_OF_ASSOCIATIONS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "fairshare": ("shares", lambda text: None if text.lower() == "parent" else int(text)),
    "priority": ("priority", int),
    "qos": ("qos", lambda text: tuple(filter(None, (e.strip(" +") for e in text.split(","))))),
    "defaultqos": ("default_qos", str),
    "partition": ("partition", str),
}
_IDLE = {
    "description": "a text for people",
    "organization": "a text for people",
    "adminlevel": "who may change the database",
    "defaultaccount": "jobs of the log name their account",
    "coordinator": "who may change the database",
    "defaultwckey": "a label",
    "wckeys": "labels",
    "classification": "a label",
    "comment": "a text for people",
}
_MISSING = {
    "maxtresrunmins": "limits of what a user has running",
    "maxtresrunminsperuser": "limits of what a user has running",
}
_OF_QOS = [
    "name", "priority", "gracetime", "preempt", "preemptexempttime", "preemptmode", "flags",
    "usagethres", "usagefactor", "limitfactor", "minpriothres",
]  # fmt: skip
_IDLE_OF_QOS = {
    "id": "the database's number",
    "description": "a text for people",
    "maxtresrunminspa": "",
    "maxtresrunminspu": "",
}


class AccountFiles:
    """Reads the files about accounts, and collects what each of their keys does.

    Attributes:
        settings: what has been found, in order.
    """

    def __init__(self) -> None:
        self.settings: list[Setting] = []

    def associations(self, path: Path) -> tuple[Association, ...]:
        """Read what `sacctmgr dump` wrote; parents come first. Raises SlurmFileError."""
        made: dict[tuple[str, str, str], Association] = {}
        root = Association(account="root")
        made["root", "", ""] = root
        parent = "root"
        for title, name, pairs in _dump_lines(path):
            if title == "cluster":
                made["root", "", ""] = self._association(root, pairs, None)
                continue
            if title == "parent":
                if (name.value, "", "") not in made:
                    known = [each[0] for each in made if not each[1]]
                    hint = suggestion(name.value, known, "put its Account line above")
                    raise name.wrong(f"there is no account {name.value}; {hint}")
                parent = name.value
                continue
            above = made[parent, "", ""]
            if title == "account":
                base = Association(account=name.value, parent=parent)
            else:
                base = Association(account=parent, user=name.value, parent=parent)
            found = self._association(base, pairs, above)
            made[found.account, found.user, found.partition] = found
        return tuple(made.values())

    def _association(
        self, base: Association, pairs: tuple[Pair, ...], above: Association | None
    ) -> Association:
        limits: dict[str, Any] = {}
        given: dict[str, Any] = {}
        for pair in pairs:
            key = pair.key.lower()
            if key in _LIMITS:
                attribute, reader = _LIMITS[key]
                limits[attribute] = _value(pair, reader)
                self._say(pair, "used", "a limit")
            elif key in _OF_ASSOCIATIONS:
                attribute, reader = _OF_ASSOCIATIONS[key]
                given[attribute] = _value(pair, reader)
                self._say(pair, "used", "of the association")
            elif key in _IDLE:
                self._say(pair, "no effect", _IDLE[key])
            elif key in _MISSING:
                self._say(pair, "not simulated", _MISSING[key])
            else:
                known = [*_LIMITS, *_OF_ASSOCIATIONS, *_IDLE, *_MISSING]
                raise pair.wrong(
                    f"there is no key {pair.key} of an association; {suggestion(key, known)}"
                )
        if above is not None:
            limits = _inherited(limits, above.limits)
            given.setdefault("qos", above.qos)
            given.setdefault("default_qos", above.default_qos)
        return replace(base, limits=ResourceLimits(**limits), **given)

    def qos(self, path: Path) -> tuple[Qos, ...]:
        """Read what `sacctmgr -P show qos` wrote, with any columns. Raises SlurmFileError."""
        made = []
        for pairs in _table(path, "Name"):
            row = {each.key.lower(): each for each in pairs if each.value}
            limits: dict[str, Any] = {}
            for key, pair in row.items():
                if key in _LIMITS:
                    attribute, reader = _LIMITS[key]
                    limits[attribute] = _value(pair, reader)
                    self._say(pair, "used", "a limit")
                elif key not in _OF_QOS:
                    self._say(
                        pair,
                        "no effect" if key in _IDLE_OF_QOS else "not simulated",
                        _IDLE_OF_QOS.get(key, "not known"),
                    )
                else:
                    self._say(pair, "used", "of the QOS")

            def read(key: str, reader: Callable[[str], Any], row: Any = row) -> Any:
                return _value(row[key], reader) if key in row else None

            mode = row["preemptmode"].value.lower().split(",")[0] if "preemptmode" in row else ""
            factor = read("usagefactor", float)
            made.append(
                Qos(
                    name=row["name"].value,
                    priority=read("priority", int) or 0,
                    flags=frozenset(row["flags"].words() if "flags" in row else ()),
                    preempt=row["preempt"].words() if "preempt" in row else (),
                    preempt_mode=PREEMPT_MODES.get(mode),
                    preempt_exempt_time=read("preemptexempttime", duration),
                    grace_time=read("gracetime", duration) or 0,
                    usage_factor=1.0 if factor is None else factor,
                    usage_threshold=read("usagethres", float),
                    limit_factor=read("limitfactor", float),
                    min_prio_threshold=read("minpriothres", limit),
                    limits=ResourceLimits(**limits),
                )
            )
        return tuple(made)

    def _say(self, pair: Pair, use: Any, note: str) -> None:
        self.settings.append(Setting.of(pair, use, note))


def read_accounting(
    dump: Path | None, qos: Path | None = None, shares: Path | None = None
) -> tuple[Accounting, tuple[Setting, ...]]:
    """Read the files about accounts; what they enforce stands in slurm.conf.

    `shares` is `sshare -al -P`: the usage with which the run begins. Raises SlurmFileError.
    """
    files = AccountFiles()
    found = files.associations(dump) if dump is not None else ()
    listed = files.qos(qos) if qos is not None else Accounting().qos
    names = {each.name for each in listed}
    for each in found:
        for name in each.qos:
            if qos is not None and name not in names:
                where = f"{each.account} {each.user}".strip()
                hint = suggestion(name, sorted(names))
                raise SlurmFileError(f"{dump}: {where}: there is no QOS {name} in {qos}; {hint}")
    if shares is not None:
        found = _with_usage(found, shares)
    return Accounting(associations=found, qos=listed), tuple(files.settings)


def _with_usage(found: tuple[Association, ...], path: Path) -> tuple[Association, ...]:
    usage: dict[tuple[str, str], float] = {}
    for pairs in _table(path, "Account", "RawUsage"):
        row = {each.key.lower(): each for each in pairs}
        user = row["user"].value if "user" in row else ""
        usage[row["account"].value, user] = _value(row["rawusage"], float)
    return tuple(replace(each, usage=usage.get((each.account, each.user), 0.0)) for each in found)


def _inherited(limits: dict[str, Any], above: ResourceLimits) -> dict[str, Any]:
    """Fill in the Max limits that an association does not set; those of TRES one by one."""
    made = dict(limits)
    for each in fields(ResourceLimits):
        if not each.name.startswith("max_"):
            continue
        upper = getattr(above, each.name)
        if isinstance(upper, Mapping):
            made[each.name] = {**upper, **made.get(each.name, {})}
        elif made.get(each.name) is None:
            made[each.name] = upper
    return made


def _value(pair: Pair, reader: Callable[[str], Any]) -> Any:
    try:
        return reader(pair.value)
    except ValueError as error:
        text = str(error)
        raise pair.wrong(
            "a number is expected" if "invalid literal" in text or "convert" in text else text
        ) from None


def _dump_lines(path: Path) -> Iterator[tuple[str, Pair, tuple[Pair, ...]]]:
    """Give title, name and options of each line of a dump."""
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        title = _TITLE.match(line)
        if title is None:
            problem = "a line as User - 'ann':Fairshare=1 is expected"
            raise SlurmFileError.at(str(path), number, problem)
        pairs, place = [], title.end()
        while place < len(line):
            found = _PART.match(line, place)
            if found is None:
                problem = f"{line[place:].strip():.40} is not of the form Key=value"
                raise SlurmFileError.at(str(path), number, problem)
            key, value = (
                next((e for e in found.groups()[n : n + 3] if e is not None), "") for n in (0, 3)
            )
            pairs.append(Pair(key.strip(), value.strip(), str(path), number))
            place = found.end()
        if not pairs:
            raise SlurmFileError.at(str(path), number, f"{title[1]} has no name")
        name = Pair(title[1], pairs[0].key, str(path), number)
        yield title[1].lower(), name, tuple(pairs[1:])


def _table(path: Path, *needed: str) -> Iterator[tuple[Pair, ...]]:
    """Give the rows of a table with a header and `|` between columns. Raises SlurmFileError."""
    lines = read_text(path).splitlines()
    header = [each.strip() for each in lines[0].split("|")] if lines else []
    for column in needed:
        if column.lower() not in (each.lower() for each in header):
            problem = f"there is no column {column}; write the file with -P and its header"
            raise SlurmFileError.at(str(path), 1, problem)
    for number, line in enumerate(lines[1:], 2):
        if line.strip():
            cells = line.split("|")
            if len(cells) < len(header):
                problem = f"{len(cells)} columns, but the header has {len(header)}"
                raise SlurmFileError.at(str(path), number, problem)
            yield tuple(
                Pair(key, cell.strip(), str(path), number)
                for key, cell in zip(header, cells, strict=False)
                if key
            )
