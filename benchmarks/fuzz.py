"""Damage models, property files, scenarios and traces at random: does any of them do harm?

    python -m benchmarks.fuzz                       a thousand of each
    python -m benchmarks.fuzz --models 20000 --properties 3000 --scenarios 3000 --seed 1

Every case is an input of this project with one to four changes, made with a random number that
depends on the seed and the number of the case only. It is checked; a model that passes is printed
and read again, made into Python, simulated, and explored in every mode, within small limits; a
scenario is planned, and a model of it is checked and run; a trace of containers is described,
written and read again. Whatever happens must be a result or an
error that the user can mend. Anything else is a failure: another exception, a crash, more than
5 s of the processor, more than 3 GB. Failures are made smaller and kept in a directory, each with
what was raised. The exit code is 1 if there are any.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.damage import TOKENS, Source, damaged

SECONDS = 5
"""Time of the processor that a case may take."""
MEMORY = 3 * 2**30
"""Bytes that a process of the fuzzer may address."""
CHUNK = 100
SMALLER_TRIES = 250


class TooLongError(BaseException):
    """A case took more of the processor's time than it may. No `except Exception` must hide it."""


@dataclass(frozen=True)
class Failure:
    """What a case did; `place` is where the exception was raised in this project."""

    kind: str
    number: int
    content: bytes
    error: str
    place: str
    details: str = ""

    @property
    def cause(self) -> tuple[str, str, str]:
        """What failures have in common that are one mistake."""
        return self.kind, self.error, self.place


# --- cases ----------------------------------------------------------------------------------------


def use(kind: str, source: Source, file: Path) -> None:
    """Do with an input what the commands do. Raises UserError for one that is refused."""
    uses = {
        "model": _use_model,
        "property": _use_property,
        "scenario": _use_scenario,
        "trace": _use_trace,
    }
    uses[kind](source, file)


def _use_model(source: Source, file: Path) -> None:
    from rebecsim.exploration import Limits, explore
    from rebecsim.lang import check_file, parse_model, print_model

    checked = check_file(file, "core" if source.language == "core" else "timed")
    assert print_model(parse_model(print_model(checked.tree), "printed")) == print_model(
        checked.tree
    )
    model = _simulated(checked, file.name)
    for mode in ("core",) if model.core else ("FTTS", "TTS"):
        limits = Limits(states=80, seconds=2)
        explore(model, mode=mode, checked=checked, limits=limits, engine="python")  # type: ignore[arg-type]


def _simulated(checked: Any, name: str) -> Any:
    from rebecsim.actors import RandomScheduler, Streams
    from rebecsim.generate import build_model
    from rebecsim.simulation import simulate

    model = build_model(checked, name)
    for replication in range(2):
        simulate(model, RandomScheduler(Streams((1, 2), replication)), max_steps=60)
    return model


def _use_property(source: Source, file: Path) -> None:
    from rebecsim.exploration import Checks, Limits, explore
    from rebecsim.lang import check_property, parse_property_file

    checked, model = _model_of(source)
    properties = check_property(parse_property_file(file), checked)
    limits = Limits(states=60, seconds=2)
    explore(
        model,
        checked=checked,
        checks=Checks(properties=properties),
        limits=limits,
        engine="python",
    )


@cache
def _model_of(source: Source) -> tuple[Any, Any]:
    from rebecsim.generate import build_model
    from rebecsim.lang import check_file

    assert source.model is not None
    checked = check_file(source.model, "core" if source.language == "core" else "timed")
    return checked, build_model(checked, source.model.name)


def _use_scenario(source: Source, file: Path) -> None:
    from rebecsim.clusters.scenarios import load
    from rebecsim.lang import check_source
    from rebecsim.studies.study import How

    plan = load(file).plan()
    plan.study.prepare(plan, How("python", False), lambda line: None)
    cell = plan.cells[-1]
    if plan.study.kind == "dispatch":
        _simulated(check_source(cell.setup.source, cell.name), cell.name)


def _use_trace(source: Source, file: Path) -> None:
    from rebecsim.workloads import (
        read_sls_jobs,
        read_sls_topology,
        read_swim,
        write_sls,
        write_sls_topology,
    )
    from rebecsim.workloads.containers.summary import summarise_containers

    written = file.with_name("written.json")
    if source.file == "nodes.json":
        racks = read_sls_topology(file)
        write_sls_topology(racks, written)
        assert read_sls_topology(written) == racks
        return
    jobs = read_swim(file).jobs if source.file.endswith(".tsv") else read_sls_jobs(file)
    summarise_containers(jobs)
    write_sls(jobs, written, "dss" if source.file == "dss.json" else "hadoop")
    assert read_sls_jobs(written) == jobs


def attempt(kind: str, number: int, source: Source, content: bytes, place: Path) -> Failure | bool:
    """Run a case in this process; whether it was accepted, or refused as it should be."""
    from rebecsim.actors.failures import ModelCodeError
    from rebecsim.errors import UserError

    file = place / f"case{Path(source.file).suffix}"
    file.write_bytes(content)
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        use(kind, source, file)
    except ModelCodeError as error:  # the code was made by this project, so the mistake is in it
        return _failure(kind, number, content, error.__cause__ or error)
    except UserError as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        if len(str(error)) > 20_000:
            return Failure(kind, number, content, "a message that is too long", "")
        return False
    except (Exception, TooLongError) as error:
        return _failure(kind, number, content, error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return True


def _too_long(*_: object) -> None:
    raise TooLongError(f"more than {SECONDS} s")


def _failure(kind: str, number: int, content: bytes, error: BaseException) -> Failure:
    signal.setitimer(signal.ITIMER_PROF, 0)
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if f"{os.sep}rebecsim{os.sep}" in each.filename]
    last = (ours or frames)[-1]
    is_slow = isinstance(error, TooLongError)
    # Where time is up is chance; the function in which it is spent is not quite.
    place = "" if is_slow else f"{Path(last.filename).name}:{last.name}"
    details = "".join(traceback.format_exception(error))
    return Failure(kind, number, content, type(error).__name__, place, details[-6000:])


def smaller(failure: Failure, source: Source, place: Path) -> Failure:
    """Leave out what the failure does not need: lines, then tokens, in ever smaller pieces."""
    tries = 20 if failure.error == "TooLongError" else SMALLER_TRIES
    best = failure
    for cut in (
        lambda text: text.splitlines(keepends=True),
        TOKENS.findall,
    ):
        parts = cut(best.content.decode("utf-8", "surrogateescape"))
        size = len(parts) // 2
        while size and tries > 0:
            first = 0
            while first < len(parts) and tries > 0:
                fewer = parts[:first] + parts[first + size :]
                content = "".join(fewer).encode("utf-8", "surrogateescape")
                found = attempt(failure.kind, failure.number, source, content, place)
                tries -= 1
                if isinstance(found, Failure) and found.cause == failure.cause:
                    parts, best = fewer, found
                else:
                    first += size
            size //= 2
    return best


# --- many cases -----------------------------------------------------------------------------------


def _work(kind: str, seed: int, numbers: range, place: Path, at: Any, pipe: Any) -> None:
    """Run cases in a process that may die of one of them; `at` says which."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a chunk that was begun is finished
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    known: set[tuple[str, str, str]] = set()
    for number in numbers:
        at.value = number
        source, content = damaged(kind, seed, number)
        found = attempt(kind, number, source, content, place)
        if isinstance(found, Failure) and found.cause not in known:
            known.add(found.cause)
            found = smaller(found, source, place)
        pipe.send(found)
    pipe.close()


def results_of(kind: str, seed: int, numbers: range) -> list[Failure | bool]:
    """Run cases in a process of their own, and what is left after a crash in another one."""
    context = multiprocessing.get_context("spawn")
    found: list[Failure | bool] = []
    with tempfile.TemporaryDirectory() as place:
        while numbers:
            at = context.Value("q", numbers.start)
            receiving, sending = context.Pipe(duplex=False)
            worker = context.Process(
                target=_work, args=(kind, seed, numbers, Path(place), at, sending)
            )
            worker.start()
            sending.close()
            while True:
                try:
                    found.append(receiving.recv())
                except EOFError:
                    break
            worker.join()
            if worker.exitcode == 0:
                break
            _, content = damaged(kind, seed, at.value)
            found.append(Failure(kind, at.value, content, f"exit code {worker.exitcode}", ""))
            numbers = range(at.value + 1, numbers.stop)
    return found


def all_results(counts: dict[str, int], seed: int, processes: int) -> Iterator[Failure | bool]:
    """Run that many cases of each kind on several processes; gives results in a fixed order."""
    chunks = [
        (kind, range(first, min(first + CHUNK, count)))
        for kind, count in counts.items()
        for first in range(0, count, CHUNK)
    ]
    threads = ThreadPoolExecutor(processes)
    try:
        for (kind, numbers), found in zip(
            chunks,
            threads.map(lambda chunk: results_of(chunk[0], seed, chunk[1]), chunks),
            strict=True,
        ):
            if sys.stderr.isatty():
                print(f"\r{kind} {numbers.stop:,} of {counts[kind]:,} ", end="", file=sys.stderr)
            yield from found
    finally:
        threads.shutdown(cancel_futures=True)


def report(failures: Sequence[Failure], out: Path) -> None:
    """Print each mistake once, with the smallest input that shows it, and keep that."""
    causes: dict[tuple[str, str, str], list[Failure]] = {}
    for failure in failures:
        causes.setdefault(failure.cause, []).append(failure)
    suffixes = {"model": ".rebeca", "property": ".property", "scenario": ".toml", "trace": ".json"}
    for (kind, error, place), found in sorted(causes.items()):
        least = min(found, key=lambda each: (len(each.content), each.number))
        out.mkdir(parents=True, exist_ok=True)
        file = out / f"{kind}-{least.number}{suffixes[kind]}"
        file.write_bytes(least.content)
        file.with_suffix(".txt").write_text(least.details, "utf-8")
        print(f"{error} {place}: {len(found):,} {kind} cases, the smallest is {file}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; gives its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    for kind in ("models", "properties", "scenarios", "traces"):
        parser.add_argument(f"--{kind}", type=int, default=1000, help=f"number of {kind}")
    parser.add_argument("--seed", type=int, default=1, help="what to start random numbers from")
    parser.add_argument("--processes", type=int, default=2, help="how many at a time")
    parser.add_argument("--out", type=Path, default=Path("fuzz-failures"), help="for failures")
    given = parser.parse_args(arguments)
    counts = {
        "model": given.models,
        "property": given.properties,
        "scenario": given.scenarios,
        "trace": given.traces,
    }
    results: list[Failure | bool] = []
    with suppress(KeyboardInterrupt):  # then what was found so far is shown
        for each in all_results(counts, given.seed, given.processes):
            results.append(each)  # noqa: PERF402 - all are kept that came before Ctrl-C
    failures = [each for each in results if isinstance(each, Failure)]
    report(failures, given.out)
    accepted, refused = results.count(True), results.count(False)
    print(
        f"{len(results):,} of {sum(counts.values()):,} cases with seed {given.seed}: "
        f"{accepted:,} accepted, {refused:,} refused, {len(failures):,} failures"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
