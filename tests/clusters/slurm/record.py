"""Play the cases of `cases.py` on a real Slurm and keep what it did in `tests/data/slurm`.

    python -m tests.clusters.slurm.record RECORDER [--workers N] [--again] [--only NAME ...]

RECORDER is a file that starts slurmdbd, slurmctld and slurmds on loopback for a case (its `main`); its
`play` is replaced by the one below, which also submits batch jobs and arrays and keeps slurmctld's own
log of passes, cycles and starts. Each worker runs in a network namespace of its own, so cases do not share
ports. Run as root on a machine to throw away. Cases that are there already are skipped; stop it at any time.
A case in which slurmctld or the player lagged (`lag` above 0.7 s) is played again, at most twice.
"""

# ruff: noqa: E501 - patterns of log lines stand as they are

import argparse
import gzip
import importlib.util
import json
import math
import os
import pathlib
import pwd
import re
import subprocess
import sys
import tempfile
import time
from typing import Any

from tests.clusters.slurm import cases

DATA = pathlib.Path(__file__).parents[2] / "data" / "slurm"
COLUMNS = [
    "JobIDRaw",
    "JobID",
    "JobName",
    "User",
    "Account",
    "Partition",
    "QOS",
    "Submit",
    "Eligible",
    "Start",
    "End",
    "State",
    "ExitCode",
    "Elapsed",
    "Suspended",
    "Timelimit",
    "TimelimitRaw",
    "NNodes",
    "ReqNodes",
    "ReqCPUS",
    "NCPUS",
    "ReqMem",
    "ReqTRES",
    "AllocTRES",
    "NodeList",
    "Priority",
    "Flags",
    "Reason",
    "Constraints",
    "Reservation",
    "SubmitLine",
]
LOGGED = {  # what is kept of slurmctld's log: name -> pattern; groups are kept as text
    "submit": r"_slurm_rpc_(?:allocate_resources|submit_batch_job): JobId=(\S+)|_slurm_rpc_allocate_resources JobId=(\S+)",
    "pass": r"sched: Running job scheduler for (\w+)",
    "backfill": r"_attempt_backfill: (beginning)",
    "tested": r"_attempt_backfill: completed testing (\d+)",
    "start": r"sched: Allocate JobId=(\S+)",
    "backfilled": r"_start_job: Started JobId=(\S+)",
    "planned": r"_dump_job_sched: JobId=(\S+) to start at (\S+), end at \S+ on nodes (\S+) in partition (\S+)",
    "kill": r"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=(\S+)",
    "done": r"_job_complete: JobId=(\S+) done",
    "preempted": r"preempted JobId=(\S+)",
    "answered": r"node_did_resp (\S+)",
    "epilog": r"epilog_complete: JobId=(\S+) Node=(\S+)",
    "time limit": r"Time limit exhausted for JobId=(\S+)",
}
LAG = 0.7  # s
TOOLS = None  # the recorder, once loaded


def seconds(text: str, zero: int) -> int | None:
    return (
        None
        if text in ("Unknown", "None", "")
        else int(time.mktime(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))) - zero
    )


def events(log: str, zero: int) -> list[list[Any]]:
    """Keep [ms since the start, what, names...] of slurmctld's log."""
    kept = []
    for line in log.splitlines():
        for what, pattern in LOGGED.items():
            found = re.search(pattern, line)
            if found and line.startswith("["):
                at = (seconds(line[1:20], zero) or 0) * 1000 + int(line[21:24])
                groups = [g for g in found.groups() if g is not None]
                if what == "planned":
                    groups[1] = str(seconds(groups[1], zero))
                kept.append([at, what, *groups])
    return kept


def submit(job: dict[str, Any], numbers: dict[str, str]) -> tuple[subprocess.Popen[str], Any]:
    """Start salloc or sbatch for a job as its user."""
    options = [
        re.sub(r"@(\d+)", lambda m: numbers.get(m.group(1), "1"), o)
        for o in map(str, job["options"])
    ]
    command = ["-J", str(job["id"]), "-t", str(job["limit"]), *options]
    if job.get("batch"):
        wrap = f"sleep {job['run']}; exit {job.get('exit', 0)}"
        command = ["sbatch", "-o", "/dev/null", *command, "--wrap", wrap]
    else:
        command = ["salloc", "--no-shell", *command]
    log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - read when the case ends
    who = pwd.getpwnam(job["user"])
    return subprocess.Popen(
        command,
        stdout=log,
        stderr=log,
        text=True,
        cwd="/",
        user=who.pw_uid,
        group=who.pw_gid,
        extra_groups=[],
    ), log


def number(log: Any) -> str | None:
    """The number that Slurm gave a submitted job."""
    log.seek(0)
    found = re.search(r"(?:job allocation|batch job) (\d+)", log.read())
    return found.group(1) if found else None


def learn(asked: dict[str, Any], numbers: dict[str, str]) -> None:
    for i, (_, _, log) in asked.items():
        if i not in numbers and (known := number(log)):
            numbers[i] = known


def play(case: dict[str, Any]) -> dict[str, Any]:
    """Submit the jobs, end them after their run time, and collect what Slurm says of them."""
    sh = TOOLS.sh
    waiting, commands = list(case["jobs"]), sorted(case["commands"], key=lambda c: c["at"])
    waiting.sort(key=lambda j: j["submit"])
    zero = math.ceil(time.time())
    time.sleep(zero - time.time())
    asked: dict[str, Any] = {}
    numbers: dict[str, str] = {}
    ends: dict[str, float] = {}
    said: list[Any] = []
    sampled, lag, load = -1, 0.0, 0.0
    while time.time() - zero < case["until"]:
        now = time.time() - zero
        while waiting and waiting[0]["submit"] <= now:
            job = waiting.pop(0)
            learn(asked, numbers)
            lag = max(lag, time.time() - zero - job["submit"])
            process, log = submit(job, numbers)
            asked[job["id"]] = (job, process, log)
            time.sleep(0.05)
        while commands and commands[0]["at"] <= now:
            command = commands.pop(0)
            learn(asked, numbers)
            line = [
                re.sub(r"@(\d+)", lambda m: numbers.get(m.group(1), "0"), w) for w in command["run"]
            ]
            if line[-1] == "all-held":
                held = [
                    x.split()[0]
                    for x in sh("squeue", "-h", "-t", "PD", "-o", "%i %r", check=False).splitlines()
                    if "JobHeld" in x
                ]
                line[-1] = ",".join(held) or "0"
            said.append([round(now, 1), line, sh(*line, check=False).strip()])
            if "reservation" in line:
                said.append(
                    [
                        round(now, 1),
                        "reservations",
                        sh("scontrol", "show", "res", "-o", check=False),
                    ]
                )
        for line in sh("squeue", "-h", "-t", "R", "-o", "%i|%S", check=False).splitlines():
            i, start = line.split("|")
            mine = {v: k for k, v in numbers.items()}
            if i not in ends and i in mine and not asked[mine[i]][0].get("batch"):
                ends[i] = zero + (seconds(start, zero) or 0) + asked[mine[i]][0]["run"]
            elif i not in mine:
                learn(asked, numbers)
        for i, end in list(ends.items()):
            if time.time() >= end:
                lag = max(lag, time.time() - end - 0.35) if end > zero else lag
                sh("scancel", i, check=False)
                ends[i] = float("inf")
        if int(now) % 5 == 0 and int(now) != sampled:
            sampled = int(now)
            said.append([sampled, "sprio", sh("sprio", "-l", "-h", check=False).splitlines()])
            said.append(
                [
                    sampled,
                    "squeue",
                    sh("squeue", "-h", "-t", "PD", "-o", "%i %r", check=False).splitlines(),
                ]
            )
            load = max(load, os.getloadavg()[0])
        if not waiting and not commands and not sh("squeue", "-h", check=False).strip():
            break
        time.sleep(0.15)
    time.sleep(1.5)
    return collect(zero, asked, numbers) | {
        "said": said,
        "lag": round(lag, 2),
        "load": round(load, 2),
    }


def collect(zero: int, asked: dict[str, Any], numbers: dict[str, str]) -> dict[str, Any]:
    sh = TOOLS.sh
    top = pathlib.Path(os.environ["SLURM_CONF"]).parent
    refused = {}
    learn(asked, numbers)
    for i, (_, process, log) in asked.items():
        if i not in numbers:
            log.seek(0)
            refused[i] = log.read().strip()[:300]
        if process.poll() is None:
            process.terminate()
    since = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(zero - 60))
    table = sh("sacct", "-X", "-D", "-P", "-a", "-S", since, "-o", ",".join(COLUMNS), check=False)
    return {
        "slurm": sh("sinfo", "-V").strip(),
        "zero": time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(zero)),
        "numbers": numbers,
        "refused": refused,
        **TOOLS.accounting(),
        "reservations": sh("scontrol", "show", "res", "-o", check=False),
        "sacct": table,
        "events": events((top / "ctld.log").read_text(errors="replace"), zero),
    }


def one(recorder: str, name: str, out: str) -> None:
    """Play one case in this process."""
    global TOOLS
    spec = importlib.util.spec_from_file_location("recorder", recorder)
    TOOLS = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(TOOLS)
    TOOLS.play = play
    TOOLS.CONF += "SlurmctldDebug=debug2\nDebugFlags=Backfill\n"
    case = cases.case(name)
    make_gpus()
    with tempfile.TemporaryDirectory() as folder:
        made, found = pathlib.Path(folder) / "case.json", pathlib.Path(folder) / "out.json"
        made.write_text(json.dumps(case))
        TOOLS.main(str(made), str(found))
        text = json.dumps({"case": case, **json.loads(found.read_text())}, separators=(",", ":"))
    with gzip.GzipFile(out, "wb", mtime=0) as file:
        file.write(text.encode())


def _made(name: str) -> str:
    """Where the worker of a case leaves what it has recorded."""
    return f"{tempfile.gettempdir()}/slurm-{name}.json.gz"


def make_gpus() -> None:
    """Make the files of GPUs; the worker of a case has a folder of its own for what is temporary."""
    folder = pathlib.Path(cases.GPU_FILES).parent
    folder.mkdir(exist_ok=True)
    for i in range(8):
        subprocess.run(["mknod", f"{cases.GPU_FILES}{i}", "c", "1", "3"], capture_output=True)


def prepare() -> None:
    for i in range(1, 9):
        subprocess.run(["useradd", "-M", f"u{i}"], capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("recorder")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="record also what is there")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--one", nargs=2)
    given = parser.parse_args()
    if given.one:
        one(given.recorder, *given.one)
        return
    prepare()
    # An address that is not 127.x lets slurmdbd resolve its own host in a namespace without any other device.
    inside = 'ip link set lo up; ip addr add 192.168.77.1/32 dev lo; exec "$@"'
    todo = [
        n
        for n in given.only or cases.names()
        if given.again or not (DATA / f"{n}.json.gz").exists()
    ]
    tries: dict[str, int] = {}
    running: dict[str, subprocess.Popen[bytes]] = {}
    while todo or running:
        while todo and len(running) < given.workers:
            name = todo.pop(0)
            tries[name] = tries.get(name, 0) + 1
            out = _made(name)
            own = pathlib.Path(
                tempfile.mkdtemp(prefix=f"{name}-")
            )  # databases may not share a folder
            own.chmod(0o755)
            command = [
                "unshare",
                "-n",
                "sh",
                "-c",
                inside,
                "sh",
                sys.executable,
                "-m",
                "tests.clusters.slurm.record",
                given.recorder,
            ]
            running[name] = subprocess.Popen(
                [*command, "--one", name, out],
                stderr=subprocess.PIPE,
                env={**os.environ, "TMPDIR": str(own)},
            )
            time.sleep(2)
        time.sleep(0.5)
        for name, process in list(running.items()):
            if process.poll() is None:
                continue
            del running[name]
            made = pathlib.Path(_made(name))
            note = process.stderr.read().decode()[-300:] if process.stderr else ""
            lag = (
                json.loads(gzip.decompress(made.read_bytes()))["lag"]
                if process.returncode == 0
                else None
            )
            good = lag is not None and lag <= LAG
            if good or (lag is not None and tries[name] > 2):
                made.rename(DATA / made.name.removeprefix("slurm-"))
            elif tries[name] <= 2:
                todo.append(name)
            print(
                time.strftime("%H:%M:%S"),
                name,
                "lag",
                lag,
                "kept" if good else "not kept",
                note,
                flush=True,
            )


if __name__ == "__main__":
    main()
