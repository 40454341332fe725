"""Build the playground: `python -m docs.playground.build DIRECTORY`, with Node.js and npm.

It fetches Python for browsers (Pyodide) and the packages that rebecsim needs, of the versions and
with the digests written here and in packages.txt, and builds rebecsim's wheel. Any server of files
can serve the directory; nothing of it needs a network.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "docs" / "playground"
WEB = ROOT / "rebecsim" / "web" / "static"

PYODIDE = "314.0.7"
PYODIDE_DIGEST = (
    "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
)
RUNTIME = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)

PYTHON = "3.14"
PLATFORM = "manylinux2014_x86_64"
"""A platform that all wheels are found for; what they have compiled for it is left out."""

LEXERS = ("__init__", "_mapping", "python")

OF_THE_WHEEL = ("rebecsim", "models", "templates", "setup.cfg", "pyproject.toml", "MANIFEST.in")
PAGES = ("index.html", "playground.css", "playground.js", "worker.js")
OF_THE_STUDIO = ("app.css", "app.js", "editor.js", "codemirror.min.js", "icon.svg")


def build(out: Path) -> None:
    """Write the playground into a directory, which is made."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as given:
        place = Path(given)
        _fetch_runtime(place)
        for name in RUNTIME:
            shutil.copyfile(place / "package" / name, out / name)
        site = place / "site"
        named = HERE / "licences.txt", WEB / "codemirror-LICENSE.txt"
        licences = [each.read_text("utf-8") for each in named]
        for wheel in _wheels(place):
            licences += _unpacked(wheel, site)
        for name in ("answers.py", "one_queue.py"):
            shutil.copyfile(HERE / name, site / name)
        _run("node", HERE / "compile.mjs", out / "pyodide.mjs", site, out / "page.json")
        shutil.make_archive(str(out / "site"), "zip", site)
    (out / "licences.txt").write_text("\n\n".join(licences), "utf-8")
    for name in PAGES:
        shutil.copyfile(HERE / name, out / name)
    for name in OF_THE_STUDIO:
        shutil.copyfile(WEB / name, out / name)
    shutil.copyfile(ROOT / "rebecsim" / "report" / "tokens.css.j2", out / "tokens.css")


def _fetch_runtime(place: Path) -> None:
    _run("npm", "pack", "--silent", "--pack-destination", place, f"pyodide@{PYODIDE}")
    (packed,) = place.glob("pyodide-*.tgz")
    digest = base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
    if digest != PYODIDE_DIGEST:
        sys.exit(f"pyodide {PYODIDE}: the registry's file has another digest than {__file__} says")
    with tarfile.open(packed) as archive:
        archive.extractall(place, filter="data")


def _wheels(place: Path) -> list[Path]:
    """Fetch the packages, and build the wheel of this project aside, as building leaves files."""
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    chosen = ("--only-binary=:all:", "--python-version", PYTHON, "--platform", PLATFORM)
    hashes = ("--no-deps", "--require-hashes", "-r", HERE / "packages.txt")
    _run(*pip, "download", *chosen, *hashes, "-d", place / "wheels")
    project = place / "project"
    project.mkdir()
    for name in (*OF_THE_WHEEL, "README.md", "LICENSE"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        copy(ROOT / name, project / name)
    _run(*pip, "wheel", "--no-deps", "-w", place / "wheels", project)
    return sorted((place / "wheels").glob("*.whl"))


def _unpacked(wheel: Path, site: Path) -> list[str]:
    """Unpack what a browser can run, and give the licences."""
    licences = []
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if ".dist-info/" not in name and not _is_left_out(name):
                archive.extract(name, site)
            elif Path(name).name.upper().startswith(("LICEN", "COPYING")):
                title = wheel.name.split("-py3")[0].split("-cp")[0]
                licences.append(f"--- {title}\n\n{archive.read(name).decode('utf-8')}")
    return licences


def _is_left_out(name: str) -> bool:
    """Whether a file is of no use in a browser: compiled, or of Pygments for another language."""
    other = name.startswith("pygments/lexers/") and Path(name).stem not in LEXERS
    return other or name.endswith((".so", ".c"))


def _run(*command: object) -> None:
    program = shutil.which(str(command[0]))
    if program is None:
        sys.exit(f"{command[0]} is not installed; the playground is built with Node.js and npm")
    subprocess.run([program, *map(str, command[1:])], check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the playground.")
    parser.add_argument("out", type=Path, metavar="DIRECTORY")
    chosen_place = parser.parse_args().out
    build(chosen_place)
    size = sum(each.stat().st_size for each in chosen_place.iterdir()) / 1e6
    print(f"playground in {chosen_place} ({size:.0f} MB): serve it, for example by")
    print(f"  python -m http.server --bind 127.0.0.1 --directory {chosen_place}")
