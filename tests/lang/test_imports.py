"""Files that import others: what is read, what it means, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import rebecsim as rs
from rebecsim.errors import UserError
from rebecsim.lang import RebecaError, check_file, check_source, format_source, print_model
from rebecsim.lang.reading.imports import bundled, read_model

DESK = """import "lib/server.rebeca";

reactiveclass Desk extends Server(5) {
    env distribution service = uniform(1, 2);
    env int room = 2;
}
"""
UNKNOWN = ("import-unknown", "parts/desk.rebeca", 1, 8)
OFFICE = """import "parts/desk.rebeca";
import "lib/source.rebeca";

reactiveclass Few extends Source(2) {
    env distribution gap = uniform(1, 2);
    env int customers = 4;
}

main {
    Desk desk():();
    Few few(desk):();
}
"""


@pytest.fixture
def office(tmp_path: Path) -> Path:
    """A model that imports a file of its own and one of the package."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/desk.rebeca").write_text(DESK)
    file = tmp_path / "office.rebeca"
    file.write_text(OFFICE)
    return file


def refused(file: Path) -> list[tuple[str, str, int, int]]:
    """Give the code and place of each mistake, files as seen from the one that imports them."""
    with pytest.raises(RebecaError) as caught:
        check_file(file)
    found = []
    for each in caught.value.diagnostics:
        assert each.source_line is not None
        name = each.span.file.removeprefix(f"{file.parent}/")
        found.append((each.code, name, each.span.line, each.span.column))
    return found


def test_a_model_is_complete_without_the_files_that_it_imports(office: Path) -> None:
    text, first = read_model(office), rs.explore(rs.load(office))
    (office.parent / "parts/desk.rebeca").unlink()
    again = rs.explore(rs.loads(text, "office"))
    assert (again.states, again.transitions) == (first.states, first.transitions)
    assert text.startswith(OFFICE)
    assert bundled(text, office) == text
    for line_end in ("\n", "\r\n"):  # a text from a record is a model as it stands
        office.write_text(text, newline=line_end)
        assert rs.explore(rs.load(office)).states == first.states
    plain = rs.load(office).rebeca()
    assert "import" not in plain
    assert rs.explore(rs.loads(plain)).states == first.states


def test_texts_behind_a_model_say_what_the_files_said(office: Path) -> None:
    odd = DESK + "\n// imported from ./x.rebeca:\n//| no\n\n  /* é */\n"
    (office.parent / "parts/desk.rebeca").write_text(odd)
    spans = {
        each.span.file
        for each in check_source(read_model(office)).classes["Desk"].tree.message_servers
    }
    assert spans == {"lib/server.rebeca"}
    assert check_file(office).classes["Desk"].tree.span.line == 3
    assert format_source(read_model(office)).startswith(OFFICE)


def test_each_file_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.rebeca").write_text('import "b.rebeca"; reactiveclass A(1) { }')
    (tmp_path / "b.rebeca").write_text("env int N = 2; interface B { msgsrv go(); }")
    file = tmp_path / "m.rebeca"
    file.write_text(
        'import "a.rebeca"; import "./b.rebeca"; '
        "reactiveclass C implements B(N) { msgsrv go() { } } main { A a():(); C c():(); }"
    )
    checked = check_file(file)
    assert list(checked.classes) == ["A", "C"]
    assert checked.classes["C"].queue_size == 2


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("parts/desk.rebeca", "reactiveclass Desk(", ("unexpected", "parts/desk.rebeca", 1, 20)),
        ("parts/desk.rebeca", "\n  x", ("unexpected", "parts/desk.rebeca", 2, 3)),
        ("parts/desk.rebeca", "main { }", ("import-main", "parts/desk.rebeca", 1, 1)),
        ("parts/desk.rebeca", 'import "no.rebeca";', UNKNOWN),
        (
            "parts/desk.rebeca",
            'import "../office.rebeca";',
            ("import-cycle", "parts/desk.rebeca", 1, 8),
        ),
        (
            "parts/desk.rebeca",
            'import "desk.rebeca";',
            ("import-cycle", "parts/desk.rebeca", 1, 8),
        ),
        (
            "parts/desk.rebeca",
            DESK + "reactiveclass Few(1) { }",
            ("duplicate", "office.rebeca", 4, 1),
        ),
        (
            "parts/desk.rebeca",
            DESK.replace("2)", "true)"),
            ("distribution-constant", "parts/desk.rebeca", 4, 43),
        ),
        (
            "parts/desk.rebeca",
            DESK.replace("}", "msgsrv more() { x = 1; } }"),
            ("unknown-name", "parts/desk.rebeca", 6, 17),
        ),
        ("parts/desk.rebeca", f'import "{"a" * 5000}.rebeca";', UNKNOWN),
        ("office.rebeca", OFFICE.replace("parts/", ""), ("import-unknown", "office.rebeca", 1, 8)),
        (
            "office.rebeca",
            OFFICE.replace("lib/source", "lib/sauce"),
            ("import-unknown", "office.rebeca", 2, 8),
        ),
    ],
)
def test_mistakes_are_shown_where_they_are(
    office: Path, name: str, text: str, found: tuple[str, str, int, int]
) -> None:
    (office.parent / name).write_text(text)
    assert refused(office) == [found]


def test_messages_name_the_other_file(office: Path) -> None:
    (office.parent / "parts/desk.rebeca").write_text("reactiveclass Few(1) { }\n" + DESK[28:])
    office.write_text('import "lib/server.rebeca";\n' + OFFICE)
    with pytest.raises(RebecaError, match=r"already declared \(.*parts/desk.rebeca, line 1\)"):
        check_file(office)
    for path in ("lib/sourc.rebeca", "source.rebeca", "Lib/source.rebeca"):
        office.write_text(OFFICE.replace("lib/source.rebeca", path))
        with pytest.raises(RebecaError, match=r"did you mean lib/source\.rebeca"):
            check_file(office)


def test_files_that_import_each_other_too_deep_are_refused(tmp_path: Path) -> None:
    (tmp_path / "0.rebeca").write_text("reactiveclass A(1) { }")
    for number in range(1, 1000):
        (tmp_path / f"{number}.rebeca").write_text(f'import "{number - 1}.rebeca";')
    file = tmp_path / "m.rebeca"
    file.write_text('import "150.rebeca"; main { A a():(); }')
    assert list(check_file(file).classes) == ["A"]
    file.write_text('import "999.rebeca"; main { A a():(); }')
    assert refused(file) == [("too-deep", "800.rebeca", 1, 8)]


def test_only_imports_are_read(office: Path) -> None:
    (office.parent / "odd.rebeca").write_bytes(b"\xff")
    before = '// import "odd.rebeca";\n/* import "odd.rebeca"; */\n'
    office.write_text(before + OFFICE + before)
    text = read_model(office)
    assert "./odd.rebeca" not in text
    assert check_source(text).classes["Desk"].queue_size == 5


@pytest.mark.parametrize("part", ["// ", "/**/", "/*", " "])
def test_a_text_of_many_comments_is_read_at_once(part: str) -> None:
    text = f"import {part * 10_000}\nx"
    assert bundled(text) == text


def test_texts_from_elsewhere_read_no_files(office: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(office.parent)
    for path in ("parts/desk.rebeca", "../office.rebeca", "lib/../../setup.rebeca", "lib/x.rebeca"):
        with pytest.raises(RebecaError, match="there is no file"):
            check_source(f'import "{path}"; main {{ }}', str(office))
    text = OFFICE.replace('import "parts/desk.rebeca"', 'import "lib/server.rebeca"')
    assert check_source(text.replace("Desk", "Server")).classes["Server"].constants == {
        "servers": 1,
        "room": 1_000_000,
    }


def test_imports_are_printed_and_formatted() -> None:
    text = '// A queue.\nimport   "lib/sink.rebeca" ;\nmain{Sink s():();}\n'
    found = '// A queue.\nimport "lib/sink.rebeca";\n\nmain {\n    Sink s():();\n}\n'
    assert format_source(text) == found
    assert format_source(found) == found


# --- constants of classes -------------------------------------------------------------------------

BASE = """
env distribution SHARED = uniform(LIMIT, 5);
env int LIMIT = 4;
abstract reactiveclass Base(9) {
    env int size = LIMIT / 2;
    env double share = 1;
    env boolean quick = false;
    env distribution wait = uniform(1, 1);
    statevars { int a; double b; boolean c; }
    Base() { self.go(); }
    msgsrv go() { a = half(); b = share / 2; c = quick; self.late() after(?(wait)); }
    msgsrv late() { self.later() after(?(SHARED)); }
    msgsrv later() { a += size; }
    int half() { return size * 10; }
}
reactiveclass Plain extends Base(9) { Plain() { super(); } }
reactiveclass Other extends Base(9) {
    env int size = 3;
    env distribution wait = uniform(2, 2);
    Other() { super(); }
}
reactiveclass Last extends Other(9) {
    env boolean quick = true;
    env distribution wait = uniform(3, 3);
    Last() { super(); }
    msgsrv later() { a += 100 * size; }
}
main { Plain x():(); Other y():(); Last z():(); }
"""


@pytest.mark.parametrize("engine", ["python", "native"])
def test_the_nearest_constant_counts(engine: rs.Engine) -> None:
    loaded = rs.loads(BASE)
    assert rs.simulate(loaded, until=99, seed=1, engine=engine).state == {
        "x": {"a": 22, "b": 0.5, "c": False},
        "y": {"a": 33, "b": 0.5, "c": False},
        "z": {"a": 330, "b": 0.5, "c": True},
    }
    kinds = loaded.checked and loaded.checked.classes
    assert kinds is not None
    assert kinds["Last"].constants == {"size": 3, "share": 1.0, "quick": True}
    plain = loaded.rebeca()
    assert rs.simulate(rs.loads(plain), until=99, seed=1, engine=engine).state["z"]["a"] == 330


@pytest.mark.parametrize("name", ["size", "Base.size", "x.size"])
def test_constants_of_classes_are_not_swept(name: str) -> None:
    with pytest.raises(UserError, match=r"size: is a constant of the class Base; give it the"):
        rs.run(rs.loads(BASE), runs=1, until=9, sweep={name: [1, 2]})
    assert rs.run(rs.loads(BASE), runs=1, until=9, sweep={"LIMIT": [2, 4]}, progress=False)


def test_constants_are_printed_as_they_are_written() -> None:
    from rebecsim.lang import parse_model

    tree = parse_model(BASE)
    assert parse_model(print_model(tree)) == tree
    assert "    env distribution wait = uniform(2, 2);\n" in print_model(tree)


def test_draws_of_a_named_distribution_share_a_stream() -> None:
    text = """
    env distribution D = uniform(1, 1000000);
    abstract reactiveclass A(3) {
        env distribution own = uniform(1, 9);
        statevars { int a; int b; int c; }
        A() { self.go(); }
        msgsrv go() { a = ?(own); b = ?(D); self.on(); }
        msgsrv on() { c = ?(D); }
    }
    reactiveclass B extends A(3) { env distribution own = uniform(1, 9000); B() { super(); } }
    main { B b():(); }
    """
    checked = check_source(text)
    choices = [(site, checked.choice_streams[node]) for node, site in checked.choice_sites.items()]
    assert sorted(choices) == [(1, 1), (1, 1), (2, 2), (2, 2), (3, 2)]
    runs = [
        rs.simulate(rs.loads(text), until=9, seed=7, engine=each) for each in ("python", "native")
    ]
    assert runs[0].state == runs[1].state
    assert str(runs[0]) == str(runs[1])
