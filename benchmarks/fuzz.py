"""Damage everything that rebecsim reads at random: does any of it do harm?

    python -m benchmarks.fuzz --inputs 100000 --seed 1
    python -m benchmarks.fuzz --inputs 5000 --readers swf,dax
    python -m benchmarks.fuzz --seed 1 --show swf:1234        write this input, and say who reads it

Every input is one of this project with one to three changes, made with a random number that depends
on the reader, the seed and the number of the input only. A command reads it, as it would when it
was typed; one of 500 is. The command must end with a result, or with an error that the user can
mend. Anything else is a failure: another exception, a crash, more than 10 s of the processor
without a word, more than 2 GB of memory, a file outside the folder that is changed, a program that
is started. Failures are made smaller and kept, each mistake once. The exit code is 1 if there are
any. Runs that announce their size or their progress are ended soon after that.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import os
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from itertools import product
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.damage import TOKENS, damaged
from benchmarks.readers import KEPT, READERS, Reader, lay_out
from benchmarks.touching import Touching

PACKAGE = Path(__file__).resolve().parents[1] / "rebecsim"
SECONDS = 10
"""Time of the processor that an input may take without a word."""
HANGING = 180
"""Seconds after which an input is given up whose process does nothing."""
MEMORY = 2 * 2**30
"""Bytes that an input may take."""
LONGEST = 20_000
"""Characters of an error."""
CHUNK = 250
TYPED = 500
SMALLER_TRIES = 150


class OverdueError(BaseException):
    """An input took its time; no `except Exception` must hide it."""


@dataclass(frozen=True)
class Failure:
    """What an input did; `place` is where the exception was raised in this project."""

    error: str
    place: str = ""
    details: str = ""

    @property
    def cause(self) -> tuple[str, str]:
        """What failures have in common that are one mistake."""
        return self.error, self.place


@dataclass(frozen=True)
class Input:
    """A damaged input, and the command that reads it.

    Attributes:
        file: where it stands, in the folder that the command is run in; "" of an argument.
        words: the command.
        typed: what it reads from standard input.
    """

    content: bytes
    file: str
    words: tuple[str, ...]
    typed: str = ""


@dataclass(frozen=True)
class Outcome:
    """What became of an input; `result` is accepted, refused, long or failed."""

    number: int
    result: str
    seconds: float = 0.0
    peak: int = 0
    failure: Failure | None = None
    given: Input | None = None


# --- inputs ---------------------------------------------------------------------------------------


def input_of(reader: Reader, seed: int, number: int, folder: Path) -> Input:
    """Give an input; depends on the arguments and the undamaged files only."""
    chance = random.Random(f"{reader.name} {seed} {number}")
    source = chance.choice(reader.inputs(folder))
    command = chance.choice(reader.commands)
    content = (folder / source).read_bytes() if reader.given == "file" else str(source).encode()
    return given(reader, source, command, damaged(content, reader.form, chance, reader.packed))


def given(reader: Reader, source: Path, command: str, content: bytes) -> Input:
    """Give a content to a command."""
    if reader.given == "file":
        model = source.with_name(source.name.partition(".")[0] + ".rebeca")
        for name, path in (("{}", source), ("{..}", source.parent), ("{model}", model)):
            command = command.replace(name, shlex.quote(str(path)))
        return Input(content, str(source), tuple(shlex.split(command)))
    text = content.decode("utf-8", "surrogateescape").replace("\0", "")
    if reader.given == "input":
        return Input(content, "", tuple(shlex.split(command)), text)
    if reader.given == "argument":
        words = [text if word == "{}" else word for word in shlex.split(command)]
    else:
        try:
            words = shlex.split(text)
        except ValueError:
            words = text.split()
    return Input(content, "", tuple(words))


# --- one input ------------------------------------------------------------------------------------


def attempt(reader: Reader, number: int, wanted: Input, touching: Touching) -> Outcome:
    """Let a command read an input, in this process, whose working folder it is."""
    if wanted.file:
        kept = Path(wanted.file).read_bytes()
        Path(wanted.file).write_bytes(wanted.content)
    begun = time.process_time()
    _forget_peak()
    if number % TYPED == TYPED - 1 and reader.given == "file":
        result, failure = _typed(wanted)
    else:
        with touching.watched(strict=reader.given == "file"):
            result, failure = _called(wanted, io.StringIO(), SECONDS)
    peak = _peak()
    if wanted.file:
        Path(wanted.file).write_bytes(kept)
    shutil.rmtree("out", ignore_errors=True)
    Path("out").mkdir(exist_ok=True)
    if failure is None and peak > MEMORY:
        failure = Failure(f"{peak / 2**30:.1f} GB of memory")
    if touched := touching.found():
        failure = Failure("touches " + touched)
    seconds = time.process_time() - begun
    if failure is None:
        return Outcome(number, result, seconds, peak)
    return Outcome(number, "failed", seconds, peak, failure, wanted)


def _called(
    wanted: Input, said: io.StringIO, seconds: float = SECONDS
) -> tuple[str, Failure | None]:
    from rebecsim.cli import app
    from rebecsim.cli.endings import ending_of
    from rebecsim.errors import UserError

    error: BaseException | None = None
    text = ""
    begun = time.process_time()

    def overdue(*_: object) -> None:
        if said.tell() or time.process_time() - begun > seconds:
            raise OverdueError

    signal.signal(signal.SIGPROF, overdue)
    signal.setitimer(signal.ITIMER_PROF, seconds / 5, seconds / 10)
    before, sys.stdin = sys.stdin, io.StringIO(wanted.typed)
    try:
        with redirect_stdout(said), redirect_stderr(said):
            try:
                app.program()(list(wanted.words), prog_name="rebecsim")
                code: Any = 0
            except SystemExit as ended:
                code = ended.code or 0
            except Exception as raised:
                error = raised
                text, code = ending_of(raised)
                said.write(text)
    except OverdueError as raised:
        if said.tell():
            return "long", None
        return "failed", _failure(f"no word in {seconds} s", raised, exact=False)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdin = before
    return _judged(int(code), text, error, isinstance(error, UserError))


def _judged(
    code: int, text: str, error: BaseException | None, is_refused: bool
) -> tuple[str, Failure | None]:
    if is_refused and len(text) > LONGEST:
        return "failed", _failure("a message that is too long", error)
    if code == 2:
        return "refused", None
    if 0 <= code <= 5 and not isinstance(error, MemoryError):
        return "accepted", None
    name = f"exit code {code}" if error is None else type(error.__cause__ or error).__name__
    return "failed", _failure(name, error)


def _failure(name: str, error: BaseException | None, exact: bool = True) -> Failure:
    if error is None:
        return Failure(name)
    frames = traceback.extract_tb((error.__cause__ or error).__traceback__)
    ours = [each for each in frames if Path(each.filename).is_relative_to(PACKAGE)]
    last = (ours or frames)[-1]
    # Where time is up is chance; the module in which it is spent is not quite.
    place = Path(last.filename).name + (f":{last.name}" if exact else "")
    details = "".join(traceback.format_exception(error))
    return Failure(name, place, details[-6000:])


def _typed(wanted: Input) -> tuple[str, Failure | None]:
    """Run the command as a program of its own."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "rebecsim", *wanted.words],
            input=wanted.typed.encode("utf-8", "surrogateescape"),
            capture_output=True,
            timeout=HANGING / 2,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
        )
    except subprocess.TimeoutExpired as raised:
        if raised.stdout or raised.stderr:
            return "long", None
        return "failed", Failure(f"no word in {HANGING / 2:.0f} s")
    if b"Traceback" in done.stderr:
        return "failed", Failure("a traceback", "", done.stderr[-6000:].decode("utf-8", "replace"))
    return _judged(done.returncode, "", None, False)


def _forget_peak() -> None:
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(each.split()[1]) * 1024 for each in lines if each.startswith("VmHWM"))


def smaller(reader: Reader, outcome: Outcome, touching: Touching) -> Outcome:
    """Leave out what the failure does not need: lines, then tokens, in ever smaller pieces."""
    best, tries = outcome, SMALLER_TRIES
    for cut in (lambda text: text.splitlines(keepends=True), TOKENS.findall):
        assert best.given is not None
        assert best.failure is not None
        parts = cut(best.given.content.decode("utf-8", "surrogateescape"))
        size = len(parts) // 2
        while size and tries > 0:
            first = 0
            while first < len(parts) and tries > 0:
                fewer = parts[:first] + parts[first + size :]
                content = "".join(fewer).encode("utf-8", "surrogateescape")
                wanted = Input(content, best.given.file, best.given.words, best.given.typed)
                found = attempt(reader, 0, wanted, touching)
                tries -= 1
                if found.failure is not None and found.failure.cause == best.failure.cause:
                    parts, best = fewer, found
                else:
                    first += size
            size //= 2
    return Outcome(
        outcome.number, "failed", outcome.seconds, outcome.peak, best.failure, best.given
    )


# --- many inputs ----------------------------------------------------------------------------------


@dataclass
class Child:
    """A process that reads inputs, and may die of one of them."""

    reader: Reader
    numbers: range
    process: Any
    pipe: Connection
    heard: float = field(default_factory=time.monotonic)


def _work(reader: Reader, seed: int, numbers: range, place: Path, known: Any, pipe: Any) -> None:
    """Read inputs, and say what became of each; ends early after one that took too long."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    with tempfile.TemporaryDirectory() as name:
        own = Path(name)
        shutil.copytree(place / "work", own / "work")
        shutil.copytree(place / "canary", own / "canary")
        os.chdir(own / "work")
        os.environ["TMPDIR"] = tempfile.tempdir = str(own / "work/out")
        touching = Touching(own / "work", (own / "canary", own), place / "cache")
        most = int(Path("/proc/self/statm").read_text().split()[0]) * 4096 + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        for number in numbers:
            found = attempt(reader, number, input_of(reader, seed, number, Path()), touching)
            is_late = found.result == "long"
            if found.failure is not None:
                is_late = found.failure.error.startswith("no word")
                if found.failure.cause not in known and not is_late:
                    known.add(found.failure.cause)
                    found = smaller(reader, found, touching)
            pipe.send(found)
            if is_late:
                break
        touching.close()
        os.chdir("/")
    pipe.close()


def all_outcomes(
    counts: dict[Reader, int], seed: int, processes: int, place: Path
) -> Iterator[tuple[Reader, Outcome]]:
    """Read that many inputs by each reader, on several processes."""
    context = multiprocessing.get_context("fork")
    chunks = [
        (reader, range(first, min(first + CHUNK, count)))
        for reader, count in counts.items()
        for first in range(0, count, CHUNK)
    ]
    # All readers in turn, so that a run that is interrupted has seen each.
    left = deque(sorted(chunks, key=lambda chunk: chunk[1].start / counts[chunk[0]]))
    known: dict[Reader, set[tuple[str, str]]] = {reader: set() for reader in counts}
    children: list[Child] = []
    try:
        while left or children:
            while left and len(children) < processes:
                reader, numbers = left.popleft()
                receiving, sending = context.Pipe(duplex=False)
                process = context.Process(
                    target=_work, args=(reader, seed, numbers, place, known[reader], sending)
                )
                process.start()
                sending.close()
                children.append(Child(reader, numbers, process, receiving))
            ready = wait([each.pipe for each in children], timeout=5)
            for child in [each for each in children if each.pipe in ready]:
                try:
                    outcome: Outcome = child.pipe.recv()
                except (EOFError, OSError):
                    children.remove(child)
                    child.process.join()
                    if child.numbers and child.process.exitcode:
                        crash = Failure(f"exit code {child.process.exitcode}")
                        number = child.numbers.start
                        wanted = input_of(child.reader, seed, number, place / "work")
                        yield child.reader, Outcome(number, "failed", failure=crash, given=wanted)
                        child.numbers = child.numbers[1:]
                    if child.numbers:
                        left.appendleft((child.reader, child.numbers))
                    continue
                child.heard = time.monotonic()
                child.numbers = child.numbers[1:]
                if outcome.failure is not None:
                    known[child.reader].add(outcome.failure.cause)
                yield child.reader, outcome
            for child in children:
                if time.monotonic() - child.heard > HANGING:
                    child.process.kill()
    finally:
        for child in children:
            child.process.kill()


@dataclass
class Row:
    """What became of the inputs of a reader."""

    results: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, 0)
    peak: tuple[int, int] = (0, 0)
    failures: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Count an input."""
        self.results[outcome.result] = self.results.get(outcome.result, 0) + 1
        self.seconds += outcome.seconds
        self.slowest = max(self.slowest, (outcome.seconds, outcome.number))
        self.peak = max(self.peak, (outcome.peak, outcome.number))
        if outcome.failure is not None:
            self.failures.append(outcome)


_RESULTS = ("accepted", "refused", "long", "failed")


def print_table(rows: dict[Reader, Row]) -> None:
    """Print a line for each reader, and one for all."""
    heads = ("reader", "inputs", *_RESULTS, "mean (ms)", "slowest (s)", "most memory (MB)")
    print("| " + " | ".join(heads) + " |")
    print("| --- |" + " ---: |" * (len(heads) - 1))
    for name, of in [
        *((reader.name, [row]) for reader, row in rows.items()),
        ("all", rows.values()),
    ]:
        counts = [sum(row.results.get(each, 0) for row in of) for each in _RESULTS]
        slowest, peak = max(row.slowest for row in of), max(row.peak for row in of)
        numbers = [f"{each:,}" for each in (sum(counts), *counts)]
        mean = f"{sum(row.seconds for row in of) / max(sum(counts), 1) * 1000:.0f}"
        cells = (name, *numbers, mean, f"{slowest[0]:.1f}", f"{peak[0] / 1e6:.0f}")
        print("| " + " | ".join(cells) + " |")


def print_failures(rows: dict[Reader, Row], out: Path) -> None:
    """Print each mistake once, with the smallest input that shows it, and keep that."""
    for reader, row in rows.items():
        causes: dict[tuple[str, str], list[Outcome]] = {}
        for each in row.failures:
            assert each.failure is not None
            causes.setdefault(each.failure.cause, []).append(each)
        for (error, place), found in sorted(causes.items()):
            least = min(found, key=_size)
            print(f"{error} {place}: {len(found):,} by {reader.name}, such as {least.number}")
            if least.given is not None:
                assert least.failure is not None
                file = write_input(least.given, f"{reader.name}-{least.number}", out)
                file.with_suffix(".txt").write_text(least.failure.details, "utf-8")
                print(f"    {file}: {shown(least.given)}")


def _size(outcome: Outcome) -> tuple[float, int]:
    size = float("inf") if outcome.given is None else len(outcome.given.content)
    return size, outcome.number


def write_input(wanted: Input, name: str, out: Path) -> Path:
    """Keep an input."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / f"{name}{Path(wanted.file).suffix or '.in'}"
    file.write_bytes(wanted.content)
    return file


def shown(wanted: Input) -> str:
    """Give the command that reads an input, cut where it is long."""
    text = "rebecsim " + shlex.join(wanted.words)
    if wanted.file:
        text += f" (the input is {wanted.file})"
    return text if len(text) <= 400 else text[:400] + "..."


# --- program --------------------------------------------------------------------------------------


def counts_of(inputs: int, readers: Sequence[Reader]) -> dict[Reader, int]:
    """Share a number of inputs out."""
    total = sum(each.share for each in readers)
    counts = {each: max(1, round(inputs * each.share / total)) for each in readers}
    counts[readers[0]] += inputs - sum(counts.values())
    return counts


def prepare(place: Path, readers: Sequence[Reader], only_laid_out: bool = False) -> None:
    """Lay out the inputs, import what commands need, and see that undamaged inputs are accepted."""
    from rebecsim.cli import running

    (place / "work").mkdir()
    (place / "canary").mkdir()
    (place / "canary/kept").write_text("as it was\n")
    os.environ["XDG_CACHE_HOME"] = str(place / "cache")
    os.environ["COLUMNS"] = "100"
    lay_out(place / "work")
    os.chdir(place / "work")
    problems: list[str] = []
    for command in KEPT if any(each.kept for each in readers) else ():
        _undamaged(Input(b"", "", tuple(command.split())), problems)
    # What would be said after ten seconds is said after one, so that this need not be waited for.
    running._UNANNOUNCED = 1.0
    for reader in () if only_laid_out else readers:
        sources = reader.inputs(Path())
        if reader.given == "file":
            sources = sources[:1]
        for source, command in product(sources, dict.fromkeys(reader.commands)):
            content = source.read_bytes() if reader.given == "file" else str(source).encode()
            _undamaged(given(reader, source, command, content), problems)
        shutil.rmtree("out")
        Path("out").mkdir()
    os.chdir("/")
    if problems:
        raise SystemExit("\n".join(problems))


def _undamaged(wanted: Input, problems: list[str]) -> None:
    """Read an input that nothing is wrong with."""
    said = io.StringIO()
    result, failure = _called(wanted, said, 0)
    if failure is not None or result == "refused":
        problem = failure.details if failure else said.getvalue()
        problems.append(f"undamaged: {shown(wanted)}: {problem}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; gives its exit code."""
    by_name = {each.name: each for each in READERS}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--inputs", type=int, default=3000, help="how many, of all readers")
    parser.add_argument("--seed", type=int, default=1, help="what to start random numbers from")
    parser.add_argument("--readers", default=",".join(by_name), help="names, with commas")
    parser.add_argument("--processes", type=int, default=2, help="how many at a time")
    parser.add_argument("--out", type=Path, default=Path("fuzz-failures"), help="for failures")
    parser.add_argument("--show", metavar="READER:NUMBER", help="write an input, and read none")
    asked = parser.parse_args(arguments)
    name, _, number = (asked.show or "").partition(":")
    names = [name] if name else asked.readers.split(",")
    if unknown := [each for each in names if each not in by_name]:
        parser.error(f"no reader {unknown[0]!r}; known are {', '.join(by_name)}")
    readers = [by_name[each] for each in names]
    out = asked.out.absolute()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        prepare(place, readers, only_laid_out=bool(asked.show))
        if asked.show:
            wanted = input_of(readers[0], asked.seed, int(number), place / "work")
            print(f"{write_input(wanted, f'{name}-{number}', out)}: {shown(wanted)}")
            return 0
        rows = {reader: Row() for reader in readers}
        counts = counts_of(asked.inputs, readers)
        with suppress(KeyboardInterrupt):  # then what was found so far is shown
            outcomes = all_outcomes(counts, asked.seed, asked.processes, place)
            for done, (reader, outcome) in enumerate(outcomes, start=1):
                rows[reader].add(outcome)
                if done % 1000 == 0:
                    print(f"{done:,} of {asked.inputs:,}", file=sys.stderr, flush=True)
    print_table(rows)
    print_failures(rows, out)
    return 1 if any(row.failures for row in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
