"""Install rebecsim as users do, and use it: `python tests/installing/installation.py --help`.

The wheel is built once. For each Python it goes into a fresh environment with all extras and the
newest packages, and the main jobs are done from an empty directory, from within the checkout, and
beside files that are called like modules. The core alone is measured and used, too. With --oldest
the environment has the oldest packages that `setup.cfg` allows.
"""

from __future__ import annotations

import argparse
import configparser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parents[2]
LARGEST_CORE = 120_000_000
"""Bytes of files of an environment that has the core, with its pip, without setuptools."""
WITHIN = 300.0
"""Seconds for anything that is asked here."""

STUDY = """\
kind = "dispatch"
name = "small"
title = "Small"
policies = ["EDF", "MDF"]
app_masters = [1]
queue_size = 4
epsilon = 1.5
ticks = 12
replications = 6
seed = 7

[[arrivals]]
pattern = "uniform"
count = 1

[[lengths]]
pattern = "nondet"
minimum = 1
maximum = 4
"""


class Environment:
    """A fresh virtual environment of one Python."""

    def __init__(self, python: str, place: Path) -> None:
        subprocess.run([python, "-m", "venv", place], check=True)
        self.place = place
        self.python = place / "bin" / "python"
        self.variables = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "REBECSIM_CACHE": str(place / "cache"),
            "COLUMNS": "80",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def install(self, *what: str) -> None:
        """Install with pip, which says nothing unless it fails."""
        self.run([self.python, "-m", "pip", "install", "--quiet", *what])

    def versions(self) -> str:
        """Give all that is installed, as pip lists it."""
        listed = self.run([self.python, "-m", "pip", "list", "--format", "freeze"])
        return ", ".join(listed.split())

    def run(self, command: Sequence[object], code: int = 0, cwd: Path | None = None) -> str:
        """Run a command and give what it prints; end all where it does not end with `code`."""
        began = time.monotonic()
        done = subprocess.run(
            list(map(str, command)),
            cwd=cwd or self.place,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=WITHIN * 3,
        )
        shown = " ".join(Path(each).name for each in map(str, command))
        if done.returncode != code:
            sys.exit(f"{shown}\nended with {done.returncode}, not {code}:\n{done.stdout}")
        print(f"    {time.monotonic() - began:6.1f} s  {shown}"[:100], flush=True)
        return done.stdout

    def use(self, arguments: str, printed: str, code: int = 0, cwd: Path | None = None) -> None:
        """Run the program, which is to print something."""
        text = self.run([self.place / "bin" / "rebecsim", *arguments.split()], code, cwd)
        if printed not in text:
            sys.exit(f"rebecsim {arguments}\ndoes not print {printed!r}:\n{text}")


def main() -> None:
    """Do what is asked on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pythons", nargs="*", help="Python interpreters; else all that are found")
    parser.add_argument("--oldest", action="store_true", help="with the oldest packages allowed")
    parser.add_argument("--newest", action="store_true", help="name the newest Python, no more")
    parser.add_argument("--constraints", action="store_true", help="print the oldest versions")
    asked = parser.parse_args()
    if asked.constraints:
        print("\n".join(oldest()))
        return
    pythons = asked.pythons or list(found_pythons())
    if asked.newest:
        print(pythons[-1])
        return
    with tempfile.TemporaryDirectory(prefix="rebecsim-") as folder:
        place = Path(folder)
        wheel = built_wheel(place)
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        if asked.oldest:
            check_oldest(pythons[0], wheel, place)
            return
        check_core(pythons[-1], wheel, place / "core")
        for number, python in enumerate(pythons):
            check_all(python, wheel, place / f"all{number}")


def found_pythons() -> Iterator[str]:
    """Find the Pythons of this machine that rebecsim is for, the oldest first."""
    yield sys.executable
    for minor in range(11, 20):
        name = f"python3.{minor}"
        pyenv = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))
        for python in [*map(str, pyenv[-1:]), *filter(None, [shutil.which(name)])]:
            works = subprocess.run([python, "--version"], capture_output=True, check=False)
            if works.returncode == 0 and minor != sys.version_info.minor:
                yield python
                break


def built_wheel(place: Path) -> Path:
    """Build the wheel from a copy of what the repository has, so that nothing is left in it."""
    copy = place / "source"
    copy.mkdir()
    for name in ("rebecsim", "models", "templates"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", place, copy],
        check=True,
    )
    (wheel,) = place.glob("*.whl")
    return wheel


def check_core(python: str, wheel: Path, place: Path) -> None:
    """See that the core is light, and does what it is for."""
    env = Environment(python, place)
    env.install(str(wheel))
    files = [each for each in place.rglob("*") if each.is_file() and not each.is_symlink()]
    bundled = ("setuptools", "pkg_resources", "_distutils_hack")
    size = sum(each.stat().st_size for each in files if not set(bundled) & set(each.parts))
    print(f"core, {env.run([env.python, '--version']).strip()}: {size / 1e6:.0f} MB of files")
    if size > LARGEST_CORE:
        sys.exit(f"the core takes {size / 1e6:.0f} MB, more than {LARGEST_CORE / 1e6:.0f}")
    models = ROOT / "models"
    env.use(f"explore {models}/ticket_service.rebeca", "8,028 states")
    env.use("generate for_edf --out generated", "24 models")
    env.use("compare for_edf --out results", "pip install 'rebecsim[studies]'", code=2)
    env.use("web", "pip install 'rebecsim[web]'", code=2)
    env.use("reproduce for_edf", "needs the folder reproductions", code=2)


def check_all(python: str, wheel: Path, place: Path) -> None:
    """Use all that there is with one Python and the newest packages."""
    env = Environment(python, place)
    print(env.run([env.python, "--version"]).strip())
    env.install(f"rebecsim[all] @ {wheel.as_uri()}")
    print(f"    {env.versions()}")
    use(env)


def check_oldest(python: str, wheel: Path, place: Path) -> None:
    """Use all that there is with the oldest packages allowed."""
    env = Environment(python, place / "oldest")
    limits = place / "oldest.txt"
    limits.write_text("".join(f"{each}\n" for each in oldest()))
    env.install("--constraint", str(limits), f"rebecsim[all] @ {wheel.as_uri()}")
    print(f"    {env.versions()}")
    use(env)


def oldest() -> list[str]:
    """Give the lower bounds of what users install as the only versions, in pip's constraints."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = setup["options.extras_require"]
    of_users = [text for name, text in extras.items() if name not in ("test", "docs")]
    texts = [setup["options"]["install_requires"], *of_users]
    bounds = re.findall(r"^([\w-]+)>=([\w.]+)", "\n".join(texts), flags=re.MULTILINE)
    return [f"{name}=={version}" for name, version in bounds]


def use(env: Environment) -> None:
    """Do the main jobs of both halves, from everywhere."""
    models = ROOT / "models"
    crowded = env.place / "crowded"
    (crowded / "rebecsim").mkdir(parents=True)
    for name in ("statistics.py", "numpy.py", "rebecsim/__init__.py"):
        (crowded / name).write_text("raise SystemExit('imported by mistake')\n")
    env.use("compare for_edf --replications 4 --out edf", "report  edf/report.html")
    env.use(
        f"explore {models}/benchmarks/yarn_fifo4.rebeca --max-states 300000 --engine native",
        "300,000 states",
        code=3,
    )
    env.use(
        f"simulate {models}/ticket_service.rebeca --runs 200 --until 100 --observe office.left "
        "--out runs",
        "office.left",
    )
    env.use("compare budgets_or_deadlines --out budgets --replications 2", "report")
    tour(env, ROOT, env.place / "within")
    tour(env, crowded, env.place / "beside")


def tour(env: Environment, cwd: Path, out: Path) -> None:
    """Use the program from a directory: commands, workers, and pages with a search and a study."""
    office = ROOT / "models" / "ticket_service.rebeca"
    out.mkdir()
    env.use(f"check {office}", "ok", cwd=cwd)
    env.use(f"explore {office}", "8,028 states", cwd=cwd)
    env.use(f"races {office}", "the order matters", cwd=cwd)
    env.use(f"compare for_edf --replications 2 --workers 2 --out {out}/edf", "report", cwd=cwd)
    env.use(f"runs {out}", "edf", cwd=cwd)
    with server(env, cwd, out) as address:
        search(address)
        study(address)


@contextmanager
def server(env: Environment, cwd: Path, root: Path) -> Iterator[str]:
    """Run the server over a directory, and give its address."""
    process = subprocess.Popen(
        [env.place / "bin" / "rebecsim", "web", root, "--no-browser", "--port", "0"],
        cwd=cwd,
        env=env.variables,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip().rstrip("/")
        wait_for(address)
        yield address
    finally:
        process.terminate()
        process.wait(WITHIN)


def wait_for(address: str) -> None:
    """Wait until a server answers."""
    ends = time.monotonic() + WITHIN
    while True:
        try:
            read(address)
        except URLError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.2)
        else:
            return


def search(address: str) -> None:
    """Have a model that comes with the program explored."""
    (first, *_) = re.findall(r'href="(/x/[^"]+)"', read(f"{address}/"))
    until(lambda page: "hx-trigger" not in page, f"{address}{first}/verdict", "The search")


def study(address: str) -> None:
    """Have a study run."""
    sent = urlencode({"toml": STUDY, "name": "small", "workers": "2"}).encode("ascii")
    place, _ = answer(f"{address}/studies/start", sent)  # which leads to its page
    ended = re.compile("Done|Failed|Killed").search
    until(lambda page: bool(ended(page)), place, "The study")


def until(is_done: Callable[[str], bool], address: str, what: str) -> None:
    """Ask for a page until it is done, and not because something failed."""
    ends = time.monotonic() + WITHIN
    while not is_done(page := read(address)):
        if time.monotonic() > ends:
            sys.exit(f"{what} did not end:\n{page}")
        time.sleep(0.5)
    if re.search("search stopped|Failed|Killed", page):
        sys.exit(f"{what} failed:\n{page}")
    print(f"             {what} in the browser ended", flush=True)


def read(address: str) -> str:
    """Give a page."""
    return answer(address)[1]


def answer(address: str, sent: bytes | None = None) -> tuple[str, str]:
    """Ask for a page, or send a form; give the address of the page that comes, and the page."""
    origin = "/".join(address.split("/")[:3])
    headers = {"origin": origin, "sec-fetch-site": "same-origin"} if sent else {}
    with urlopen(Request(address, sent, headers), timeout=WITHIN) as page:
        return page.geturl(), page.read().decode("utf-8")


if __name__ == "__main__":
    main()
