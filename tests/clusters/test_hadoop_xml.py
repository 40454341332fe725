"""Configuration files of Hadoop: what is read, what is refused, and where errors lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebecsim.clusters.kit.hadoop import HadoopProperties, number_of, read_properties
from rebecsim.files import LimitError
from rebecsim.workloads.files import XmlError, read_xml

_FILE = """<?xml version="1.0"?>
<?xml-stylesheet type="text/xsl" href="configuration.xsl"?>
<!-- a comment -->
<configuration>
  <property>
    <name> slots </name>
    <value> 4 </value>
    <description>not read</description>
  </property>
  <property><name>share</name><value>0.5f</value><final>true</final></property>
  <property><name>share</name><value>0.7</value></property>
  <property><name>on</name><value>TRUE</value></property>
  <property><name>queues</name><value>a, b ,,c</value></property>
  <property><name>path</name><value>${share}/${slots}</value></property>
  <property name="short" value="7"/>
  <property><name>nothing</name><value/></property>
</configuration>
"""


def _read(folder: Path, text: str) -> HadoopProperties:
    path = folder / "site.xml"
    path.write_text(text)
    return read_properties(path, "site.xml")


def test_properties_are_read_as_hadoop_reads_them(tmp_path: Path) -> None:
    found = _read(tmp_path, _FILE)
    assert found.whole("slots", 1) == 4
    assert found.number("share", 0.0) == 0.5  # the first is final
    assert found.switch("on", False)
    assert found.names("queues") == ("a", "b", "c")
    assert found.text("path") == "0.5f/4"
    assert found.whole("short", 0) == 7
    assert found.text("nothing") is None
    assert found.whole("missing", 3) == 3
    assert found.line("path") == 14
    assert found.by_name["share"].final


def test_what_nobody_asked_for_is_named(tmp_path: Path) -> None:
    found = _read(tmp_path, _FILE)
    found.text("path")  # asks for share and slots as well
    found.names("queues")
    assert [each.name for each in found.unused()] == ["on", "short", "nothing"]
    assert [each.name for each in found.unused(["queues"])] == ["on", "queues", "short", "nothing"]


def _property(name: str, value: str) -> str:
    return (
        "<configuration>\n<property>\n"
        f"<name>{name}</name><value>{value}</value></property></configuration>"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "site.xml:1: this is not XML: no element found, column 1"),
        (
            "<configuration>\n<a>",
            "site.xml:2: this is not XML: no element found, column 4; is </configuration> missing",
        ),
        (
            "<property/>\n<property/>",
            "site.xml:2: this is not XML: junk after document element, column 1; put everything "
            "into one element",
        ),
        ("<allocations/>", "site.xml:1: a <configuration> is expected, not <allocations>"),
        ("<configuration>\n<a/></configuration>", "site.xml:2: a <property> is expected, not <a>"),
        (
            "<configuration>\n<configuration/></configuration>",
            "site.xml:2: a <configuration> in another; write its properties on their own",
        ),
        (
            "<configuration><property><value>1</value></property></configuration>",
            "site.xml:1: a property without a name",
        ),
        (
            "<configuration><property><name>a</name></property></configuration>",
            "site.xml:1: a: it has no value",
        ),
        (
            "<configuration><property><nam>a</nam></property></configuration>",
            "site.xml:1: <nam> does not belong in a property",
        ),
        ('<?xml version="1.0" encoding="x-no"?><a/>', "site.xml:1: this is not XML"),
        (
            '<!DOCTYPE x [\n<!ENTITY a "aa">]><configuration>&a;</configuration>',
            "site.xml:2: the entity a is declared; entities are refused",
        ),
        (
            '<!DOCTYPE x [<!ENTITY a SYSTEM "other.xml">]><configuration>&a;</configuration>',
            "site.xml:1: the entity a is declared",
        ),
        (
            '<!DOCTYPE x SYSTEM "other.dtd"><configuration>&a;</configuration>',
            "site.xml:1: the entity a is not known",
        ),
        (
            '<configuration xmlns:xi="http://www.w3.org/2001/XInclude">\n'
            '<xi:include href="other.xml"/></configuration>',
            "site.xml:2: other files are not included",
        ),
    ],
)
def test_what_is_no_configuration_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(XmlError) as raised:
        _read(tmp_path, text)
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("many", "site.xml:2: slots: should be a whole number, not 'many'"),
        ("0", "site.xml:2: slots: should be at least 1, not 0"),
        ("${other}", "site.xml:2: slots: ${other} is not a property of this file"),
        ("${slots}", "site.xml:2: slots: its ${...} refer to each other"),
        ("${slots}${slots}", "site.xml:2: slots: its ${...} refer to each other"),
    ],
)
def test_a_wrong_number_is_named_with_its_line(tmp_path: Path, value: str, problem: str) -> None:
    found = _read(tmp_path, _property("slots", value))
    with pytest.raises(XmlError) as raised:
        found.whole("slots", 1, least=1)
    assert str(raised.value) == problem


def test_bounds_and_switches_are_checked(tmp_path: Path) -> None:
    found = _read(tmp_path, _property("a", "1.5"))
    with pytest.raises(XmlError, match=r"should be at most 1, not 1\.5"):
        found.number("a", 0.0, most=1)
    with pytest.raises(XmlError, match=r"should be at least 2, not 1\.5"):
        found.number("a", 0.0, least=2)
    with pytest.raises(XmlError, match=r"should be true or false, not '1\.5'"):
        found.switch("a", default=False)


@pytest.mark.parametrize("text", ["nan", "inf", "1e999", "0x10", "1_000", "", "1,5"])
def test_what_java_would_not_read_is_no_number(text: str) -> None:
    assert number_of(text) is None


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.xml"
    with path.open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    with pytest.raises(LimitError, match="17,825,792 bytes; the limit is 16,777,216"):
        read_xml(path)


def test_elements_are_not_nested_too_deep(tmp_path: Path) -> None:
    path = tmp_path / "site.xml"
    path.write_text("<a>\n" * 201)
    with pytest.raises(LimitError, match=r"site\.xml:201: 201 levels; the limit is 200"):
        read_xml(path)
