"""Hooks of MkDocs: links that lead out of `docs/` lead to pages of the site.

The pages are read on a code host as well, where `../README.md` is the project's front page and
`../../models/scenarios` a directory. Here README.md and benchmarks/README.md are pages of their
own, each other file that is linked becomes a page that shows it, and the name of a directory stays
without a link.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, relpath
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files, InclusionLevel

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

PAGES = {"README.md": "project.md", "benchmarks/README.md": "benchmarks.md"}
"""Markdown outside of docs/: path in the repository, path of the page."""

STUDIO = ("app.css", "app.js", "codemirror.min.js", "editor.js", "icon.svg")
"""What the page of the playground shares with those of the browser; Python is added later."""

_FENCED = re.compile(r"^(?P<ticks>`{3,}).*?^(?P=ticks)$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_LANGUAGES = {".py": "python", ".rebeca": "rebeca", ".toml": "toml"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each file outside of docs/ that some page links to."""
    root = Path(config.config_file_path).parent
    for source, address in PAGES.items():
        files.append(File.generated(config, address, abs_src_path=str(root / source)))
    shared = {name: root / "rebecsim" / "web" / "static" / name for name in STUDIO}
    shared["tokens.css"] = root / "rebecsim" / "report" / "tokens.css.j2"
    for name, path in shared.items():
        if files.get_file_from_path("playground/index.html") is not None:
            address = f"playground/{name}"
            files.append(File.generated(config, address, abs_src_path=str(path)))
    shown = {
        path
        for file in files.documentation_pages()
        for path in _linked(root, file.content_string, _source_of(file))
        if path.is_file() and _address_of(root, path, files) is None
    }
    for path in sorted(shown):
        name = path.relative_to(root).as_posix()
        text = f"# {name}\n\n{_fenced(path.read_text('utf-8'), path.suffix)}"
        address = _shown_at(name)
        files.append(
            File.generated(config, address, content=text, inclusion=InclusionLevel.NOT_IN_NAV)
        )
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let the links of a page lead to pages of the site."""
    root = Path(config.config_file_path).parent
    source = _source_of(page.file)

    def led(link: re.Match[str]) -> str:
        target, mark, anchor = link["target"].partition("#")
        if not target or "://" in target:
            return link[0]
        path = _resolved(root, source, target)
        address = _address_of(root, path, files)
        if address is not None:
            place = relpath(address, dirname(page.file.src_uri) or ".")
            return f"[{link['text']}]({place}{mark}{anchor})"
        return link["text"] if path.is_dir() else link[0]  # MkDocs complains of the rest

    parts = []
    end = 0
    for fence in _FENCED.finditer(markdown):
        parts += [_LINK.sub(led, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _LINK.sub(led, markdown[end:])])


def _linked(root: Path, markdown: str, source: str) -> Iterator[Path]:
    for link in _LINK.finditer(_FENCED.sub("", markdown)):
        target = link["target"].partition("#")[0]
        if target and "://" not in target:
            yield _resolved(root, source, target)


def _resolved(root: Path, source: str, target: str) -> Path:
    return Path(os.path.normpath(root / dirname(source) / target))


def _source_of(file: File) -> str:
    """Give the path of a page's text in the repository."""
    outside = {address: source for source, address in PAGES.items()}
    return outside.get(file.src_uri, f"docs/{file.src_uri}")


def _address_of(root: Path, path: Path, files: Files) -> str | None:
    """Give the path of the page or picture that a file of the repository is in the site."""
    if not path.is_relative_to(root):
        return None
    name = path.relative_to(root).as_posix()
    for address in (PAGES.get(name, ""), name.removeprefix("docs/"), _shown_at(name)):
        file = files.get_file_from_path(address) if address else None
        if file is not None and _source_of(file) in (name, f"docs/{_shown_at(name)}"):
            return address
    return None


def _shown_at(name: str) -> str:
    return f"source/{name}.md"


def _fenced(text: str, suffix: str) -> str:
    ticks = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{ticks}{_LANGUAGES.get(suffix, 'text')}\n{text.rstrip()}\n{ticks}\n"
