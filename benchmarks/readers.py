"""What rebecsim reads from its users, for `fuzz.py`: inputs of each kind, and who reads them.

All stand in one folder, in which the commands are run. `{}` in a command is the damaged file.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.damage import Form

ROOT = Path(__file__).resolve().parents[1]

_LOOK = "--max-states 80 --engine python --patience 1"
_NODES = "--nodes 2:memory=16000,cores=16"
_TICKETS = "models/ticket_service.rebeca"
_BOTH = "kept/one kept/two"


@dataclass(frozen=True)
class Reader:
    """What is read: patterns of files that are damaged, and commands, of which one takes each.

    Attributes:
        form: what is changed, see `damage.py`; of an argument or of what is typed, its text.
        given: whether the text stands in the file that is named, in the command or on the
            standard input.
        packed: whether it may be compressed.
        share: how many inputs it gets, compared to others.
        kept: whether it is something that a command has written before.
    """

    name: str
    files: tuple[str, ...]
    commands: tuple[str, ...]
    form: Form = "text"
    given: str = "file"
    packed: bool = False
    share: float = 1.0
    kept: bool = False

    def inputs(self, folder: Path) -> list[Path]:
        """Give the files of a folder in a fixed order, those of other readers left out."""
        if self.given != "file":
            return [Path(each) for each in self.files]
        found = {path for pattern in self.files for path in folder.glob(pattern)}
        return sorted(path.relative_to(folder) for path in found if path.is_file())


def _scenarios(kind: str) -> Reader:
    files = {
        "batch": "backfilling_or_fairshare",
        "dispatch": "for_* against_* natjam_*",
        "mapreduce": "capacity_* capacity_small/*",
        "model": "fresh_readings",
        "stages": "slots_by_deadlines budgets_or_deadlines",
        "yarn": "fifo_or_fair elastic_or_regular changed_queues user_limit peek_with_errors",
    }[kind].split()
    commands = ["compare {} --dry-run"] * 9 + ["tune {} --budget 5000 --dry-run"]
    if kind == "dispatch":
        commands += ["generate {} --out out"] * 5 + ["generate {} --out out --form python"]
    return Reader(
        f"{kind}-scenario",
        (*(f"models/scenarios/{each}.toml" for each in files), f"data/readers/{kind}.toml"),
        tuple(commands),
        "toml",
        share=0.7,
    )


_OF_MODELS = tuple(
    line.strip().replace("MODEL", _TICKETS)
    for line in """
        simulate MODEL --until 9 --env ann.start=3
        simulate MODEL --until 9 --runs 2 --observe waits=office.buy --observe office.left --every 3
        exact MODEL --until 9 --reward office.left --final 'bob.tickets + 1' --max-states 200
        races MODEL --observe office.left --max-pairs 9 --max-states 80
        explore MODEL --max-states 80 --invariant 'office.left >= 0' --ignore bob.tickets
        explore MODEL --max-states 80 --strategy walks --walks 3 --depth 50 --seed 7
    """.strip().splitlines()
)
_OF_CLUSTERS = tuple(
    line.strip().replace("DIR", "data/containers").replace("LOG", "data/readers/log.swf")
    for line in """
        yarn DIR/dss.json --nodes 2:memory=16000,cores=16 --penalty STEP:1.5 --seed 3
        yarn DIR/swim.tsv --nodes 2:memory=9000,cores=4 --node-heartbeat 500
        mapreduce --jobs long:count=2,maps=9,reduces=2,queue=a --jobs b:maps=3 --nodes 3
        mapreduce --jobs b:maps=3 --scheduler CAPACITY --setting queue.default.capacity=100
        mapreduce --mix apart --queue a --queue b --nodes 20
        batch LOG --nodes 4:processors=4,memory=1048576 --placement best-fit
        batch LOG --policy EASY --error 0.5 --seed 3 --half-life 60
        workload generate --sls --tasks exponential:1-50 --start uniform:0-60 --out out/a.json
        workload nodes --nodes 8:memory=64000,cores=16 --racks 2 --out out/racks.json
        workload metrics LOG --share 4 --share 1=2 --user 1 --by queue
        compare fresh_readings --dry-run --sweep until=100,200 --precision 2%
        tune fresh_readings --dry-run --over until=90..99,FRESH=4 --minimise wait --budget 90
        sensitivity fresh_readings --dry-run --over until=100,200 --replications 3
        dss DIR/dss.json DIR/nodes.json 16000 16 100 100 1000 1 greedy step 1.5 --out out
        workflow data/readers/workflow.dax --manager EDF --deadline 90 --resources 3 --slots 2
    """.strip().splitlines()
)
READERS = (
    Reader(
        "timed-model",
        ("models/*.rebeca", "models/[rt]*/**/*.rebeca", "suite/[!c]*.rebeca"),
        (
            "check {}",
            "check {} --strict",
            "format {}",
            "simulate {} --steps 60 --patience 1",
            "simulate {} --steps 60 --engine python --runs 3 --observe outcome=ended --patience 1",
            f"explore {{}} {_LOOK}",
            f"explore {{}} --tts {_LOOK}",
            "live {} --speed 0 --steps 30 --patience 1 --check",
            "draw {} --out out/drawn.svg",
            "races {} --max-states 60 --max-pairs 20",
            "exact {} --until 3 --goes-wrong --max-states 200",
            "estimate {} --until 3 --goes-wrong --max-runs 50 --workers 1",
            "step {}",
        ),
        share=2,
    ),
    Reader(
        "core-model",
        ("suite/core_*.rebeca", "suite/philosophers*.rebeca", "models/teaching/phil*.rebeca"),
        ("check --core {}", f"explore --core {{}} {_LOOK}", "simulate --core {} --steps 60"),
    ),
    Reader(
        "property-file",
        ("models/*.property", "models/races/*.property", "suite/*.property"),
        (
            f"explore {{model}} --property {{}} {_LOOK}",
            "races {model} --property {} --max-states 60 --max-pairs 20",
        ),
        share=1.5,
    ),
    *map(_scenarios, ("batch", "dispatch", "mapreduce", "model", "stages", "yarn")),
    Reader(
        "saved-run",
        ("kept/run.json",),
        (f"simulate {_TICKETS} --replay {{}}",),
        "json",
        kept=True,
    ),
    Reader(
        "counterexample",
        ("kept/found.json",),
        (
            "replay {} models/teaching/philosophers_deadlock.rebeca",
            "simulate --replay {} models/teaching/philosophers_deadlock.rebeca",
        ),
        "json",
        share=0.5,
        kept=True,
    ),
    Reader(
        "log-of-a-live-run",
        ("kept/live.json",),
        (f"live {_TICKETS} --replay {{}}", f"simulate {_TICKETS} --replay {{}}"),
        "json",
        kept=True,
    ),
    Reader(
        "record-of-a-run",
        ("kept/*/run.json",),
        ("runs kept",) * 60
        + (f"diff {_BOTH}",) * 36
        + ("query kept",) * 4
        + ("report {..} --out out",),
        "json",
        share=0.5,
        kept=True,
    ),
    Reader(
        "other-files-of-a-run",
        ("kept/*/table.csv", "kept/*/.report.json", "kept/*/checksums/*", "kept/*/parts/*"),
        ("runs kept", f"diff {_BOTH}", "query 'from replications' kept --json"),
        share=0.2,
        kept=True,
    ),
    Reader("suite", ("suite/manifest.json",), ("conformance suite --max-states 60",), "json"),
    Reader(
        "swf",
        ("data/readers/log.swf",),
        (
            "workload info {}",
            "batch {} --policy EASY --sort --max-memory 1500",
            "batch {} --policy FAIR_FCFS --out out/schedule.swf",
            "validate {} --easy --fcfs",
            "workload metrics {} --share 4 --by user",
            "workload convert {} --out out/log.swf",
            "workload slice {} --out out/log.swf --user ann --load 0.5",
        ),
        packed=True,
        share=1.5,
    ),
    Reader(
        "pbs",
        ("data/readers/accounting.log",),
        (
            "workload info {}",
            "batch {} --policy CONSERVATIVE",
            "validate {}",
            "workload metrics {}",
        ),
        packed=True,
    ),
    Reader(
        "sls-of-dss",
        ("data/containers/dss.json",),
        (
            "workload info {}",
            f"yarn {{}} {_NODES}",
            "workload convert {} --out out/jobs.json",
            "dss {} data/containers/nodes.json 16000 16 1000 1000 1000 1 --out out",
        ),
        "json",
        packed=True,
    ),
    Reader(
        "sls-of-hadoop",
        ("data/containers/hadoop.json",),
        (
            "workload info {}",
            f"yarn {{}} {_NODES} --scheduler DRF",
            f"yarn {{}} {_NODES} --scheduler FIFO --reservations --gaps",
            "workload convert {} --out out/jobs.json --dialect hadoop",
        ),
        "json",
        packed=True,
    ),
    Reader(
        "applications",
        ("data/containers/apps.json",),
        (
            "workload info {}",
            f"yarn {{}} {_NODES} --scheduler FAIR",
            "workload convert {} --task 20 --out out/jobs.json",
        ),
        "json",
        packed=True,
    ),
    Reader(
        "topology",
        ("data/containers/nodes.json",),
        (
            "workload info {}",
            "yarn data/containers/dss.json --topology {} --memory 16000 --cores 16",
            "dss data/containers/dss.json {} 16000 16 1000 1000 1000 1 --out out",
        ),
        "json",
        packed=True,
    ),
    Reader(
        "swim",
        ("data/containers/swim.tsv",),
        (
            "workload info {}",
            f"yarn {{}} {_NODES}",
            "mapreduce {}",
            "workload convert {} --out out/j.json",
        ),
        packed=True,
    ),
    Reader("rumen", ("data/containers/rumen.json",), ("mapreduce {}",), "json", packed=True),
    Reader(
        "capacity-scheduler.xml",
        (
            "data/readers/capacity-scheduler.xml",
            "data/readers/*-queues.xml",
            "models/scenarios/changed_queues/[ab]*.xml",
        ),
        (f"yarn data/containers/dss.json {_NODES} --queues {{}}",),
        "xml",
    ),
    Reader(
        "fair-scheduler.xml",
        ("data/readers/fair-scheduler.xml",),
        (f"yarn data/containers/dss.json {_NODES} --queues {{}}",),
        "xml",
    ),
    Reader(
        "yarn-site.xml",
        ("data/readers/yarn-site.xml",),
        tuple(
            f"yarn data/containers/dss.json {_NODES} --queues data/readers/{name}-scheduler.xml "
            "--yarn-site {}"
            for name in ("capacity", "fair")
        ),
        "xml",
    ),
    Reader(
        "queues-of-hadoop-1",
        ("data/readers/slots-capacity.xml",),
        ("mapreduce --jobs a:count=2,maps=3,queue=etl,user=ann --scheduler CAPACITY={}",),
        "xml",
    ),
    Reader(
        "pools-of-hadoop-1",
        ("data/readers/slots-fair.xml",),
        ("mapreduce --jobs a:count=2,maps=3,queue=etl,user=ann --scheduler FAIR={}",),
        "xml",
    ),
    Reader(
        "dax",
        ("data/readers/workflow.dax",),
        (
            "workflow {}",
            "workflow {} --manager EDF --manager FIFO",
            "workflow {} --draw out/w.svg",
        ),
        "xml",
    ),
    Reader(
        "wfcommons",
        ("data/readers/instance.json", "data/readers/older.json"),
        (
            "workflow {}",
            "workflow {} --manager MLF --multiplier 3",
            "workflow {} --manager EDF --gantt out/w.svg",
        ),
        "json",
    ),
    Reader(
        "slurm-conf",
        ("data/readers/slurm.conf",),
        (
            "slurm data/readers/sacct.txt --conf {}",
            "slurm data/readers/sacct.txt --conf {} --settings",
        ),
    ),
    Reader(
        "sacct", ("data/readers/sacct.txt",), ("slurm {} --conf data/readers/slurm.conf --more",)
    ),
    Reader("options-of-models", _OF_MODELS, ("{}",), given="arguments"),
    Reader("options-of-clusters", _OF_CLUSTERS, ("{}",), given="arguments"),
    Reader(
        "typed-steps",
        (
            "1\n1.1\nrun 3\nundo 2\ntime 9\nbreak office.buy\nbreak if office.left == 0\nrun 5\n"
            "clear 1\nshow\npath\nsave out/s.json\nrestart\nquit\n",
        ),
        (f"step {_TICKETS}",),
        given="input",
        share=0.5,
    ),
    Reader(
        "sql",
        ("select policy, count(*) as n from cells group by 1 order by n limit 5", "from runs"),
        ("query {} kept", "query {} kept --csv"),
        given="argument",
        share=0.15,
        kept=True,
    ),
)
"""All readers."""


def lay_out(folder: Path) -> None:
    """Put all inputs that are files of this project in a folder."""
    for name in ("models", "tests/data/readers", "tests/data/containers"):
        target = folder / name.replace("tests/", "")
        shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
    suite = ROOT / "tests/data/conformance"
    shutil.copytree(suite, folder / "suite")
    content = json.loads((suite / "manifest.json").read_text("utf-8"))
    content["models"] = list(_few(content["models"]))
    (folder / "suite/manifest.json").write_text(json.dumps(content, indent=1), "utf-8")
    (folder / "kept").mkdir()
    (folder / "out").mkdir()


def _few(entries: list[dict[str, object]]) -> Iterator[dict[str, object]]:
    wanted = {"after_order.rebeca", "core_ltl_toggle.rebeca", "double_arithmetic.rebeca"}
    return (each for each in entries if each["file"] in wanted)


KEPT = (
    f"simulate {_TICKETS} --until 12 --save kept/run.json",
    f"live {_TICKETS} --speed 0 --seed 1 --until 12 --log kept/live.json",
    "explore --core --deadlock models/teaching/philosophers_deadlock.rebeca --save kept/found.json",
    "compare fresh_readings --replications 2 --workers 1 --out kept/one",
    "compare fresh_readings --replications 3 --workers 1 --out kept/two",
    "compare data/readers/batch.toml --workers 1 --out kept/three",
)
"""Commands that write what is read again."""
