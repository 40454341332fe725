"""Outputs in documents are written anew as much as they were shown before."""

import pytest

from tests.docs.update import update, updated


@pytest.mark.parametrize(
    ("printed", "old", "new"),
    [
        ("a\nb\n", "a\nc\n", "a\nb\n"),
        ("a\nb\nc\nd\n", "x\n...\ny\n", "a\n...\nd\n"),
        ("took 5 s\nb\n", "took ... s\nc\n", "took ... s\nb\n"),
        ("ran 5 s\n", "took ... s\n", "ran 5 s\n"),
        ("a\nb\n", "x\n...\n", "a\n...\n"),
        ("a\nb\nnear y\nd\n", "x\n...\ny\n...\n", "a\n...\nnear y\n...\n"),
    ],
)
def test_an_output_is_shown_as_far_as_before(printed: str, old: str, new: str) -> None:
    assert updated(printed, old) == new


def test_a_document_is_written_anew(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```console\n$ echo one\ntwo\n$ echo 3\n3\n```\n\nThe end.\n")
    monkeypatch.setattr("tests.docs.markdown.ROOT", tmp_path)
    assert update(page) == []
    assert (
        page.read_text()
        == "# A page\n\n```console\n$ echo one\none\n$ echo 3\n3\n```\n\nThe end.\n"
    )
