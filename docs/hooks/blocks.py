"""Hooks of MkDocs: code blocks get a title.

After its language, a block says what the tests do with it (`tests/docs/session.py`). Readers see
of that the name of the file, and that a model is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

_BLOCK = re.compile(
    r"^(?P<ticks>`{3,})(?P<info>[^`\n]*)\n(?P<text>.*?)^(?P=ticks)$", re.MULTILINE | re.DOTALL
)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leave of what stands after a block's language what readers want to know."""
    return _BLOCK.sub(_shown, markdown)


def _shown(block: re.Match[str]) -> str:
    language, *rest = block["info"].split() or ["text"]
    options = dict(word.partition("=")[::2] for word in rest)
    file = options.get("file") or options.get("excerpt", "")
    title = f"refused: {options['error']}" if "error" in options else file
    if file.endswith(".property"):
        language = "rebeca"
    shown = f'{language} title="{title}"' if title else language
    return f"{block['ticks']}{shown}\n{block['text']}{block['ticks']}"
