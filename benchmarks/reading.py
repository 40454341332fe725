"""How long every reader takes for ten times as much: time, growth, and memory for its file.

    python -m benchmarks.reading                       all readers, 10,000 and 100,000 elements
    python -m benchmarks.reading dax topology --elements 1000

Files of each format are made in a temporary directory. What is read once and for all, models,
property files and scenarios, may have a megabyte, and is made with a tenth of the elements. Each
file is read in a process of its own. Times are processor seconds without the imports; memory is
what the process has taken up more than before, at most. A reader is linear if the growth is about
10; the exit code is 1 if one of them grows more than 20-fold.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebecsim.errors import UserError
from rebecsim.exploration import peak_bytes

GROWTH = 20.0
"""From which on a reader is not taken for linear: twice that of the input."""


@dataclass(frozen=True)
class Reader:
    """A reader.

    Attributes:
        suffix: of its files.
        made: the text of a file of so many elements.
        read: reads a file. A file that is refused is read up to where it is.
        share: of the elements that are asked for, one in so many.
    """

    suffix: str
    made: Callable[[int], str]
    read: Callable[[Path], object]
    share: int = 1


# --- files ----------------------------------------------------------------------------------------


def swf(count: int) -> str:
    """Write jobs of a batch machine, and a comment for each."""
    row = "{0} {0} 0 5 1 -1 -1 1 5 -1 1 1 1 1 1 -1 -1 -1\n"
    return "; Note: x\n" * count + "".join(row.format(number) for number in range(1, count + 1))


def pbs(count: int) -> str:
    """Write records of jobs that have ended."""
    row = (
        "01/02/2020 00:00:00;E;{0}.host;user=u{0} group=g queue=q ctime=1 qtime=1 etime=1 start=2 "
        "exec_host=a/0 Resource_List.ncpus=1 end=9 Exit_status=0 resources_used.cput=00:00:05\n"
    )
    return "".join(row.format(number) for number in range(count))


def sls(count: int, quote: str = '"') -> str:
    """Write jobs of containers as Hadoop does, each but the first behind the one before it."""
    text = "\n".join(
        json.dumps(
            {
                "job.id": f"job_{number}",
                "job.start.ms": f"job_{number - 1}" if number else 0,
                "job.tasks": [{"duration.ms": 7, "count": 2}],
            }
        )
        for number in range(count)
    )
    return text.replace('"', quote)


def rumen(count: int) -> str:
    """Write jobs of a history with a task each."""
    attempt = {"result": "SUCCESS", "startTime": 5, "finishTime": 9}
    maps = [{"taskType": "MAP", "attempts": [attempt]}]
    job = {"submitTime": 5, "mapTasks": maps, "reduceTasks": []}
    return "\n".join(json.dumps({"jobID": f"job_1_{number}", **job}) for number in range(count))


def apps(count: int) -> str:
    """Write applications as the ResourceManager lists them."""
    times = {"startedTime": 5, "finishedTime": 9000, "memorySeconds": 900, "vcoreSeconds": 9}
    listed = [{"id": f"application_1_{number}", **times} for number in range(count)]
    return json.dumps({"apps": {"app": listed}})


def swim(count: int) -> str:
    """Write jobs by their bytes."""
    return "".join(f"job{number}\t{number}\t1\t1000\t10\t1000\n" for number in range(count))


def topology(count: int) -> str:
    """Write racks of a node each."""
    return "\n".join(
        json.dumps({"rack": f"r{number}", "nodes": [{"node": f"n{number}"}]})
        for number in range(count)
    )


def twice(count: int) -> str:
    """Write an object with a key that stands there twice."""
    return "{" + ",".join(f'"k{number}":0' for number in range(count)) + f',"k{count - 1}":1}}'


def wfcommons(count: int, first: int = 1) -> str:
    """Write tasks, each behind the next one in the file."""
    tasks = [
        {
            "name": f"t{number}",
            "id": f"t{number}",
            "runtimeInSeconds": 1.5,
            "parents": [f"t{number + 1}"] if number + first < count else [],
            "children": [f"t{number - 1}"] if number else [],
            "files": [{"link": "input", "name": f"f{number}.{place}"} for place in range(4)],
            "command": {"program": "p", "arguments": ["a", "b"]},
        }
        for number in range(count)
    ]
    return json.dumps({"name": "w", "schemaVersion": "1.3", "workflow": {"tasks": tasks}})


def dax(count: int, last: int = 0) -> str:
    """Write jobs, each behind the one before it; with `last` 1 the first behind the last."""
    jobs = "".join(f'<job id="j{number}" runtime="1"/>\n' for number in range(count))
    waits = "".join(
        f'<child ref="j{number}"><parent ref="j{(number - 1) % count}"/></child>\n'
        for number in range(1 - last, count)
    )
    return f"<adag>{jobs}{waits}</adag>"


def capacity_queues(count: int) -> str:
    """Write queues of the Capacity Scheduler with weights."""
    before = "yarn.scheduler.capacity.root"
    names = ",".join(f"q{number}" for number in range(count))
    keys = {f"{before}.queues": names} | {
        f"{before}.q{number}.capacity": "1w" for number in range(count)
    }
    properties = "\n".join(
        f"<property><name>{key}</name><value>{value}</value></property>"
        for key, value in keys.items()
    )
    return f"<configuration>{properties}</configuration>"


def fair_queues(count: int) -> str:
    """Write queues of the Fair Scheduler."""
    queues = "".join(f'<queue name="q{n}"><weight>2</weight></queue>\n' for n in range(count))
    return f"<allocations>{queues}</allocations>"


def replay(count: int) -> str:
    """Write the choices of a run."""
    return json.dumps({"priorities": True, "choices": [["step", 0, 2]] * count})


def scenario(count: int) -> str:
    """Write bursts of jobs that arrive."""
    burst = '\n[[arrivals]]\npattern = "constant"\ncount = 1\n'
    return 'kind = "dispatch"\nname = "many"\n' + burst * count


def model(count: int) -> str:
    """Write message servers of one class, and a rebec for each."""
    servers = "".join(f"msgsrv m{n}() {{ x = x + {n}; }}\n" for n in range(count))
    rebecs = "".join(f"A a{n}():();\n" for n in range(count))
    return f"reactiveclass A(3) {{ statevars {{ int x; }}\n{servers}}}\nmain {{ {rebecs} }}\n"


def properties(count: int) -> str:
    """Write definitions, and a formula of each."""
    defined = "".join(f"d{n} = a.x == {n};\n" for n in range(count))
    formulas = "".join(f"f{n}: G(d{n});\n" for n in range(count))
    return f"property {{ define {{ {defined} }} LTL {{ {formulas} }} }}"


# --- readers --------------------------------------------------------------------------------------


def _check_property(path: Path) -> object:
    from rebecsim.lang import check_property, check_source, parse_property_file

    checked = check_source(model(1).replace("a0", "a"), "model")
    return check_property(parse_property_file(path), checked)


def _readers() -> dict[str, Reader]:
    from rebecsim.clusters.scenarios import load
    from rebecsim.clusters.stages.workflows import read_workflow
    from rebecsim.clusters.yarn.queue_files.reading import read_queues
    from rebecsim.lang import check_file
    from rebecsim.simulation.simulator import load_run
    from rebecsim.workloads import read_sls_jobs, read_sls_topology, read_swim
    from rebecsim.workloads.hadoop_history import read_history
    from rebecsim.workloads.logs import read_log

    return {
        "swf": Reader(".swf", swf, read_log),
        "pbs": Reader(".log", pbs, read_log),
        "sls": Reader(".json", sls, read_sls_jobs),
        "sls in single quotes": Reader(".json", lambda n: sls(n, "'"), read_sls_jobs),
        "rumen": Reader(".json", rumen, read_sls_jobs),
        "applications": Reader(".json", apps, read_sls_jobs),
        "rumen, as a history": Reader(".json", rumen, read_history),
        "swim": Reader(".tsv", swim, read_swim),
        "topology": Reader(".json", topology, read_sls_topology),
        "a key twice": Reader(".json", twice, read_sls_jobs),
        "no JSON": Reader(".json", lambda n: "a" * n, read_sls_jobs),
        "apostrophes": Reader(".json", lambda n: "\\'" * n, read_sls_jobs),
        "wfcommons": Reader(".json", wfcommons, read_workflow),
        "dax": Reader(".xml", dax, read_workflow),
        "dax, a cycle": Reader(".xml", lambda n: dax(n, 1), read_workflow),
        "capacity-scheduler": Reader(".xml", capacity_queues, read_queues),
        "fair-scheduler": Reader(".xml", fair_queues, read_queues),
        "replay": Reader(".json", replay, load_run),
        "scenario": Reader(".toml", scenario, load, 10),
        "model": Reader(".rebeca", model, check_file, 10),
        "properties": Reader(".property", properties, _check_property, 10),
    }


def seconds_of(reader: Reader, path: Path) -> float:
    """Give the processor seconds that reading a file takes."""
    begun = time.process_time()
    with suppress(UserError):
        reader.read(path)
    return time.process_time() - begun


def _measured(name: str, path: Path) -> tuple[float, int]:
    """Give the seconds, and the bytes of memory that were taken up; the first read imports."""
    reader = _readers()[name]
    small = path.with_name(f"small{reader.suffix}")
    small.write_text(reader.made(2))
    seconds_of(reader, small)
    before = peak_bytes() or 0
    seconds = seconds_of(reader, path)
    return seconds, (peak_bytes() or 0) - before


def main(arguments: list[str] | None = None) -> int:
    """Measure readers and print a line for each."""
    readers = _readers()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(readers)}")
    parser.add_argument("--elements", type=int, default=10_000)
    given = parser.parse_args(arguments)
    unknown = set(given.names) - set(readers)
    if unknown:
        parser.error(f"no reader is called {', '.join(sorted(unknown))}")
    worst = 0.0
    print(f"{'':22}{'elements':>10}{'MB':>8}{'s':>8}{'growth':>8}{'memory, MB':>12}{'x file':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name in given.names or readers:
            worst = max(worst, _show(name, readers[name], given.elements, Path(folder)))
    return int(worst > GROWTH)


def _show(name: str, reader: Reader, elements: int, folder: Path) -> float:
    """Measure a reader with so many elements and ten times as many; give the growth."""
    before = growth = 0.0
    for count in (elements // reader.share, 10 * elements // reader.share):
        path = folder / f"made{reader.suffix}"
        path.write_text(reader.made(count))
        size = path.stat().st_size
        seconds, memory = _alone(name, path)
        growth = seconds / before if before else 0.0
        shown = f"{growth:8.1f}" if before else " " * 8
        print(
            f"{name:22}{count:10,}{size / 1e6:8.1f}{seconds:8.2f}{shown}{memory / 1e6:12.0f}"
            f"{memory / size:8.1f}",
            flush=True,
        )
        before = seconds
    return growth


def _alone(name: str, path: Path) -> Any:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (name, path))


if __name__ == "__main__":
    sys.exit(main())
