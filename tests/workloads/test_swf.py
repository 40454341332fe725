from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.workloads import CleaningRules, Workload, WorkloadError, read_swf, write_swf
from rebecsim.workloads.files import LONGEST_LINE
from rebecsim.workloads.workload import COLUMNS


def same(one: Workload, other: Workload) -> bool:
    names = (*COLUMNS, "processors")
    return one.capacity == other.capacity and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in names
    )


def test_every_field_has_its_place(log):
    path = log("; MaxProcs: 64", "1 2 3 4 5 6.5 7 8 9 10 11 12 13 14 15 16 17 18")
    workload = read_swf(path)
    assert [getattr(workload, name)[0] for name in COLUMNS] == [
        *(1, 2, 3, 4, 5, 6.5, 7, 8, 9),
        *(10, 11, 12, 13, 14, 15, 16, 17, 18),
    ]
    assert workload.processors.tolist() == [8]
    assert workload.capacity == 64


@pytest.mark.parametrize(
    ("name", "jobs", "processors", "skipped"),
    [
        ("KTH-SP2-1996.swf.gz", 28_481, 100, {"no run time": 8}),
        ("NASA-iPSC-1993-3.1-cln.swf.gz", 18_066, 128, {"no run time": 173}),
        ("lublin_256.swf.gz", 10_000, 256, {}),
        ("hpc2n.swf", 3_145, 240, {"run time unknown": 25}),
    ],
)
def test_logs_of_real_machines(shared_data, name, jobs, processors, skipped):
    workload = read_swf(shared_data / "swf" / name)
    assert (len(workload), workload.capacity) == (jobs, processors)
    assert workload.skipped == skipped
    assert (np.diff(workload.submit) >= 0).all()


def test_the_columns_of_a_real_log_are_those_that_a_plain_reader_finds(shared_data):
    path = shared_data / "swf" / "hpc2n.swf"
    rows = [line.split() for line in path.read_text().splitlines() if not line.startswith(";")]
    usable = [row for row in rows if row and row[3] != "-1"]
    workload = read_swf(path)
    for place, name in enumerate(COLUMNS):
        assert getattr(workload, name).tolist() == [float(row[place]) for row in usable]


def test_the_header_keeps_repeated_and_continued_lines(log, row):
    path = log(
        "; Computer: A machine: fast",
        "; Information: http://one/",
        ";              http://two/",
        ";",
        "; Note: first",
        ";Note: second",
        row(),
        "; EndTime: later",
    )
    assert read_swf(path).header == {
        "Computer": "A machine: fast",
        "Information": "http://one/\nhttp://two/",
        "Note": "first\nsecond",
        "EndTime": "later",
    }


@pytest.mark.parametrize(
    ("header", "given", "capacity"),
    [
        (["; MaxNodes: 8", "; MaxProcs: 16"], None, 16),
        (["; MaxNodes: 8", "; MaxProcs: -1"], None, 8),
        (["; MaxProcs: 16 (and 4 more)"], None, 16),
        (["; MaxProcs: many"], None, 4),
        ([], None, 4),
        (["; MaxProcs: 16"], 32, 32),
    ],
)
def test_the_size_of_the_machine(log, row, header, given, capacity):
    assert read_swf(log(*header, row()), processors=given).capacity == capacity


@pytest.mark.parametrize(
    ("size", "taken"), [("requested", [6, 2, 3]), ("allocated", [8, 2, 3])], ids=str
)
def test_the_processors_of_a_job(log, size, taken):
    rows = [
        f"{job} 0 0 9 {allocated} -1 -1 {requested} 9 -1 1 1 1 1 1 1 -1 -1"
        for job, allocated, requested in ((1, 8, 6), (2, 2, -1), (3, -1, 3))
    ]
    workload = read_swf(log(*rows), rules=CleaningRules(size=size))
    assert workload.processors.tolist() == taken


def test_blank_lines_and_other_blanks_do_not_matter(log, row):
    plain = read_swf(log(row(), row(2)))
    spaced = read_swf(
        log("", "  " + row().replace(" ", " \t "), "   ", row(2) + "\r", name="b.swf")
    )
    assert same(plain, spaced)


def test_a_file_without_a_last_line_end(tmp_path, row):
    path = tmp_path / "log.swf"
    path.write_text(f"{row()}\n{row(2)}")
    assert len(read_swf(path)) == 2


def test_rows_are_the_same_however_the_file_is_cut_into_pieces(log, row, monkeypatch):
    path = log("; MaxProcs: 9", *(row(job, submit=job) for job in range(1, 60)), "; Note: end")
    whole = read_swf(path)
    for block in (1, 7, 64, 1000):
        monkeypatch.setattr("rebecsim.workloads.files._BLOCK", block)
        again = read_swf(path)
        assert same(whole, again)
        assert whole.header == again.header


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("1 0 0 ten 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "field 4 (run) should be a number, not 'ten'"),
        ("1 0 0 1.5 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "field 4 (run) should be a whole number"),
        ("1 0 0 nan 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "field 4 (run) should be a number, not 'nan'"),
        ("1 0 0 1-2 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "field 4 (run) should be a number, not '1-2'"),
        ("1 0 0 1_0 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "field 4 (run) should be a number, not '1_0'"),
        ("1 0 0 99999999999999999999 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "field 4 (run) is too large"),
        ("1 0 0 -99999999999999999999 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "field 4 (run) is too large"),
        ("1 0 0 9", "4 fields instead of 18"),
        ("1 " * 36, "36 fields instead of 18"),
        ("\0" * 50, "1 fields instead of 18"),
    ],
)
def test_a_damaged_line_is_named(log, row, damage, problem):
    path = log("; Note: x", row(), row(2), damage, row(3))
    with pytest.raises(WorkloadError) as caught:
        read_swf(path)
    assert str(caught.value).startswith(f"{path}:4: {problem}")


def test_fields_must_be_on_the_line_of_their_job(log):
    """Thirty-six numbers on two lines are two jobs only if each line has eighteen."""
    path = log("1 " * 17, "1 " * 19)
    with pytest.raises(WorkloadError, match=r":1: 17 fields instead of 18"):
        read_swf(path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_byte_order_mark_is_left_out(tmp_path, row, pack):
    path = tmp_path / "log.swf"
    path.write_bytes(pack(f"\ufeff; MaxProcs: 7\n{row()}\n".encode()))
    assert read_swf(path).capacity == 7
    path.write_bytes(pack(f"\ufeff{row(procs=3)}\n".encode()))
    assert read_swf(path, processors=4).processors.tolist() == [3]


def test_a_line_of_a_million_fields_is_refused_with_little_memory(log, row):
    path = log(row(), "1 " * 1_000_000)
    with pytest.raises(WorkloadError, match=rf":2: a line of more than {LONGEST_LINE:,} bytes"):
        read_swf(path)


def test_a_long_line_without_an_end_is_refused(tmp_path, row):
    path = tmp_path / "log.swf"
    path.write_text(row() + "\n" + "7" * 5_000_000)
    with pytest.raises(WorkloadError, match=r":2: a line of more than"):
        read_swf(path)


def test_a_small_file_that_unpacks_to_one_huge_line_is_refused(tmp_path):
    path = tmp_path / "bomb.swf.gz"
    path.write_bytes(gzip.compress(b" " * 50_000_000))
    with pytest.raises(WorkloadError, match=r":1: a line of more than"):
        read_swf(path)


def test_a_compressed_file_that_is_cut_off(tmp_path, row):
    whole = gzip.compress("".join(row(j, submit=j * j) + "\n" for j in range(1, 3000)).encode())
    path = tmp_path / "log.swf.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(WorkloadError, match=r"log\.swf\.gz:\d+: .* cut off about here; fetch"):
        read_swf(path)


def test_a_compressed_file_that_is_damaged(tmp_path, row):
    whole = bytearray(gzip.compress(row().encode() * 50))
    whole[len(whole) // 2] ^= 0xFF
    path = tmp_path / "log.swf.gz"
    path.write_bytes(whole)
    with pytest.raises(WorkloadError, match="damaged"):
        read_swf(path)


def test_compression_is_seen_from_the_content(tmp_path, row):
    path = tmp_path / "log.swf"  # compressed, though it is not named so
    path.write_bytes(gzip.compress(row().encode()))
    assert len(read_swf(path)) == 1


@pytest.mark.parametrize("lines", [[], ["; MaxProcs: 4"], ["", ""]], ids=str)
def test_a_log_without_a_row(log, lines):
    with pytest.raises(WorkloadError, match=r"no usable job in the log$"):
        read_swf(log(*lines))


def test_a_log_of_which_every_row_is_skipped_says_why(log, row):
    with pytest.raises(WorkloadError, match=r"no usable job in the log; 2 skipped: no run time"):
        read_swf(log(row(run=0), row(2, run=0)))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_swf(tmp_path / "nothing.swf")


@pytest.mark.parametrize("name", ["copy.swf", "copy.swf.gz"])
def test_a_written_log_is_read_back(shared_data, tmp_path, name):
    workload = read_swf(shared_data / "swf" / "hpc2n.swf")
    write_swf(workload, tmp_path / name)
    again = read_swf(tmp_path / name)
    assert same(workload, again)
    assert again.header == workload.header
    assert again.skipped == {}
    assert ((tmp_path / name).read_bytes()[:2] == b"\x1f\x8b") is name.endswith(".gz")


def test_the_same_workload_gives_the_same_bytes(tmp_path):
    workload = Workload.of([0, 4], [1, 2], [3, 4])
    for name in ("a.swf.gz", "b.swf.gz"):
        write_swf(workload, tmp_path / name)
    assert (tmp_path / "a.swf.gz").read_bytes() == (tmp_path / "b.swf.gz").read_bytes()


def test_waits_take_the_place_of_field_3(tmp_path):
    write_swf(Workload.of([0, 4], [1, 2], [3, 4]), tmp_path / "s.swf", waits=np.array([7, 9]))
    assert read_swf(tmp_path / "s.swf").wait.tolist() == [7, 9]


@pytest.mark.parametrize("waits", [[1], [0.5, 1.5]])
def test_waits_must_fit_the_workload(tmp_path, waits):
    with pytest.raises(ValueError, match="2 whole numbers"):
        write_swf(Workload.of([0, 4], [1, 2], [3, 4]), tmp_path / "s.swf", waits=np.array(waits))


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "log.swf"
    path.write_text("precious")

    def broken(columns):
        raise OSError("no space left")

    monkeypatch.setattr("rebecsim.workloads.swf._row_lines", broken)
    with pytest.raises(OSError, match="no space"):
        write_swf(Workload.of([0], [1], [1]), path)
    assert [each.name for each in tmp_path.iterdir()] == ["log.swf"]
    assert path.read_text() == "precious"


whole = st.integers(-1, 2**53)


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 2**40),
            st.integers(1, 2**40),
            st.integers(1, 2**20),
            st.floats(0, 1e12, allow_nan=False),
            whole,
            whole,
        ),
        min_size=1,
        max_size=8,
    ),
    st.booleans(),
)
def test_every_workload_survives_writing_and_reading(jobs, packed):
    submit, run, processors, cpu, user, think = zip(*sorted(jobs), strict=True)
    workload = Workload.of(submit, run, processors, cpu_time=cpu, user=user, think_time=think)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / ("log.swf.gz" if packed else "log.swf")
        write_swf(workload, path)
        assert same(workload, read_swf(path))
