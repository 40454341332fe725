from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rebecsim.clusters import (
    ARRIVAL_PATTERNS,
    DISPATCH_POLICIES,
    EVICTION_POLICIES,
    LENGTH_PATTERNS,
    Configuration,
    Plugin,
    PluginError,
    UniformArrivals,
    UniformLengths,
    load_plugin,
    loaded_plugins,
    rebeca_source,
    unload_plugin,
)
from rebecsim.clusters.batch import BATCH_POLICIES
from rebecsim.clusters.kit.plugins import PluginSource
from rebecsim.clusters.mapreduce.schedulers.registry import slot_schedulers
from rebecsim.clusters.plugin import install, uninstall
from rebecsim.clusters.stages.managers.registry import stages_policies
from rebecsim.clusters.yarn.schedulers.registry import yarn_schedulers
from rebecsim.generate.templates import has_template
from rebecsim.lang import check_source
from tests.clusters.plugins.texts import PATTERN, POLICY

EXAMPLE = Path(__file__).parents[3] / "models/plugins/longest_job_first.py"


def configuration(**changes) -> Configuration:
    values = {
        "policy": "EDF",
        "arrivals": UniformArrivals(count=1),
        "lengths": UniformLengths(length=3),
        "app_masters": 2,
        "queue_size": 4,
        "epsilon": 1.0,
    }
    return Configuration(**{**values, **changes})


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


# --- what works --------------------------------------------------------------------------------


def test_the_example_chooses_the_longest_job():
    record = load_plugin(EXAMPLE)
    assert list(DISPATCH_POLICIES)[-1] == "LJF"
    source = rebeca_source(configuration(policy="LJF"))
    check_source(source, "model.rebeca")
    sjf = rebeca_source(configuration(policy="SJF"))
    changed = [line for line in source.splitlines() if line not in sjf.splitlines()]
    assert [line.strip() for line in changed] == [
        "// Policy   LJF: the job with the most work; of equals the lowest slot.",
        "// Longest job first: the most work, of equals the lowest slot.",
        "} else if (m_length[i] > m_length[best]) {",
    ]
    assert record.name == "longest_job_first.py"
    assert record.sha256 == hashlib.sha256(EXAMPLE.read_bytes()).hexdigest()
    assert loaded_plugins()[-1] == record


def test_loading_the_same_file_again_changes_nothing(write):
    path = write(POLICY)
    assert load_plugin(path) == load_plugin(str(path))
    assert [record.name for record in loaded_plugins()].count("mine.py") == 1
    path.write_text(POLICY + "# changed\n")
    with pytest.raises(PluginError, match=r"fragment|there is already a template named lazy.j2"):
        load_plugin(path)


def test_what_was_unloaded_can_be_loaded_again_and_is_rendered_anew(write):
    unload_plugin(load_plugin(write(POLICY)))
    assert "LAZY" not in DISPATCH_POLICIES
    record = load_plugin(write(POLICY.replace("return -1", "return 1 - 2")))
    assert "return 1 - 2;" in rebeca_source(configuration(policy="LAZY"))
    unload_plugin(record)
    with pytest.raises(ValueError, match="is not loaded"):
        unload_plugin(record)


def test_a_pattern_of_a_plugin_is_validated_and_rendered(write):
    load_plugin(write(PATTERN))
    config = configuration(
        arrivals={"pattern": "twice", "number": 1}, lengths={"pattern": "twice", "number": 3}
    )
    assert config.file_stem == "edf_twice1_twice3_am2"
    source = rebeca_source(config)
    assert "jobs = 2 * ARRIVALS_NUMBER;" in source
    assert "jobLength = 2 * LENGTH_NUMBER;" in source
    assert Configuration.model_validate(config.model_dump()) == config


def test_an_eviction_policy_comes_by_the_same_door(write):
    load_plugin(
        write(
            "from rebecsim.clusters import EvictionPolicy, Plugin\n"
            'KEY = "  int evictionKey(int jobTime, int jobDeadline) { return jobTime; }\\n"\n'
            'policy = EvictionPolicy("MWF", "Most work", "most work", "mwf.j2")\n'
            'plugin = Plugin(eviction_policies=(policy,), fragments={"mwf.j2": KEY})\n'
        )
    )
    assert list(EVICTION_POLICIES)[-1] == "MWF"


def test_a_plugin_may_use_built_in_fragments(write):
    load_plugin(write(POLICY.replace('"lazy.j2"),', '"policies/edf.j2"),')))
    assert "Earliest deadline first" in rebeca_source(configuration(policy="LAZY"))


# --- files that are no plug-ins ----------------------------------------------------------------


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(PluginError, match=r"none\.py: cannot be read: No such file"):
        load_plugin(tmp_path / "none.py")
    with pytest.raises(PluginError, match="cannot be read: Is a directory"):
        load_plugin(tmp_path)
    (tmp_path / "latin.py").write_bytes(b'"\xff"')
    with pytest.raises(PluginError, match="is not UTF-8 text"):
        load_plugin(tmp_path / "latin.py")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\nif x\n", "mine.py:2: SyntaxError: expected ':'"),
        ("x = 1\nx.y\n", "mine.py:2: AttributeError: 'int' object has no attribute 'y'"),
        ("import sys\nsys.exit(3)\n", "mine.py:2: SystemExit: 3"),
        ("def f():\n    raise OSError('no')\nf()\n", "mine.py:2: OSError: no"),
        ("import nothing_like_this\n", "mine.py:1: ModuleNotFoundError: No module"),
        ("x = '\0'\n", "mine.py: SyntaxError: source code string cannot contain null bytes"),
        ("", "mine.py: has no global `plugin` of type rebecsim.clusters.Plugin"),
        ("plugin = 3\n", "mine.py: has no global `plugin`"),
    ],
)
def test_a_file_that_raises_or_has_no_plugin(complaint, text, message):
    said = complaint(text)
    assert said.startswith(message) or ("null bytes" in said and "null bytes" in message)
    assert not any(
        name.startswith("rebecsim_plugin") and m is None for name, m in sys.modules.items()
    )


def test_what_comes_with_the_package_would_pass_as_a_plugin():
    brought = {
        "dispatch_policies": DISPATCH_POLICIES,
        "eviction_policies": EVICTION_POLICIES,
        "batch_policies": BATCH_POLICIES,
        "yarn_schedulers": yarn_schedulers.entries,
        "slot_schedulers": slot_schedulers.entries,
        "stages_policies": stages_policies.entries,
    }
    renamed = {
        name: tuple(replace(each, name=f"MY_{each.name}") for each in entries.values())
        for name, entries in brought.items()
    }
    source = PluginSource("mine.py", "mine.py", "")
    install(Plugin(**renamed), source)
    try:
        assert DISPATCH_POLICIES["MY_EDF"].fragment == DISPATCH_POLICIES["EDF"].fragment
    finally:
        uninstall({}, source)
    assert "MY_EDF" not in DISPATCH_POLICIES
    for pattern in (*ARRIVAL_PATTERNS.values(), *LENGTH_PATTERNS.values()):
        assert has_template(pattern.fragment)
        assert pattern.names()


PRELUDE = """
from rebecsim.clusters import DispatchPolicy, EvictionPolicy, Plugin, UniformArrivals
from rebecsim.clusters.mapreduce.schedulers.fifo import JobQueueTaskScheduler
from rebecsim.clusters.mapreduce.schedulers.registry import SlotScheduler
from rebecsim.clusters.mapreduce.schedulers.scheduler import TaskScheduler
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Plugin()", "the plug-in is empty; give it one of dispatch_policies, eviction_policies"),
        ("Plugin(dispatch_policies=3)", "dispatch_policies must be a tuple, like (mine,), not 3"),
        ("Plugin(dispatch_policies=(3,))", "3 is not a DispatchPolicy"),
        (
            'Plugin(dispatch_policies=(EvictionPolicy("A", "a", "a", "x"),))',
            "is not a DispatchPolicy",
        ),
        ("Plugin(yarn_schedulers=(3,))", "3 is not a YarnScheduler"),
        ("Plugin(slot_schedulers=(3,))", "3 is not a SlotScheduler"),
        (
            'Plugin(slot_schedulers=(SlotScheduler("A", "a", "a", int),))',
            "policy A: the scheduler <class 'int'> is not a subclass of TaskScheduler",
        ),
        (
            'Plugin(slot_schedulers=(SlotScheduler("A", "a", "a", TaskScheduler),))',
            "policy A: TaskScheduler does not define assign, completed, ended, submit",
        ),
        (
            'Plugin(slot_schedulers=(SlotScheduler("FAIR", "a", "a", JobQueueTaskScheduler),))',
            "MapReduce scheduler FAIR already exists, from rebecsim itself",
        ),
        ('Plugin(fragments={"a": 1})', "fragments must map names of templates to their texts"),
        (
            'Plugin(dispatch_policies=(DispatchPolicy("EDF", "a", "a", "policies/edf.j2"),))',
            "dispatch policy EDF already exists, from rebecsim itself; rename yours",
        ),
        (
            'Plugin(dispatch_policies=2 * (DispatchPolicy("A", "a", "a", "policies/edf.j2"),))',
            "dispatch policy A already exists, from mine.py; rename yours",
        ),
        (
            'Plugin(eviction_policies=(EvictionPolicy("MLF", "a", "a", "eviction/mlf.j2"),))',
            "eviction policy MLF already exists, from rebecsim itself",
        ),
        (
            "Plugin(arrival_patterns=(UniformArrivals,))",
            "arrival pattern uniform already exists, from rebecsim itself",
        ),
        (
            'Plugin(dispatch_policies=(DispatchPolicy("../x", "a", "a", "policies/edf.j2"),))',
            "a policy cannot be called '../x'; use capital letters",
        ),
        (
            'Plugin(dispatch_policies=(DispatchPolicy("A", "a", "a\\nb", "policies/edf.j2"),))',
            "policy A: the description must be one line of text",
        ),
        (
            'Plugin(dispatch_policies=(DispatchPolicy("A", "a", "a", "mine.j2"),))',
            "policy A: there is no fragment 'mine.j2'; add it to `fragments`",
        ),
        (
            'Plugin(dispatch_policies=(DispatchPolicy("A", "a", "a", "policies/edf.j2"),), '
            'fragments={"policies/edf.j2": ""})',
            "there is already a template named policies/edf.j2",
        ),
    ],
)
def test_a_plugin_that_brings_nothing_usable(complaint, text, message):
    assert message in complaint(f"{PRELUDE}plugin = {text}\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("class Twice(WorkloadPattern)", "class Twice", "is not a subclass of WorkloadPattern"),
        ("def largest", "def biggest", "pattern Twice does not define largest"),
        ('pattern: Literal["twice"] = "twice"\n', "\n", "pattern Twice needs a field like pattern"),
        ('Literal["twice"]', 'Literal["Twice!"]', "pattern Twice needs a field like pattern"),
        ("uses_time: ClassVar[bool] = False", "", "needs a class variable uses_time, a boolean"),
        ('fragment: ClassVar[str] = "twice.j2"', "", "there is no fragment None"),
        ("length_patterns=(Twice,)", "length_patterns=(Twice, Twice)", "already exists"),
        ("macro assign(", "macro assing(", "fragment twice.j2 defines no macro `assign`"),
    ],
)
def test_a_pattern_that_lacks_something(complaint, old, new, message):
    assert old in PATTERN
    assert message in complaint(PATTERN.replace(old, new))


# --- fragments ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return {% if %};", "TemplateSyntaxError: Expected an expression"),
        ("return {{ nothing }};", "UndefinedError: 'nothing' is undefined"),
        ("return {{ policy.__class__.__mro__ }};", "SecurityError: access to attribute"),
        ("return {{ 1 // 0 }};", "ZeroDivisionError"),
        ("return slot;", "the model with the dispatch policy LAZY does not check:"),
        ("return }", "the model with the dispatch policy LAZY does not check:"),
        ('{% include "nothing.j2" %}', "TemplateNotFound: nothing.j2"),
    ],
)
def test_a_fragment_that_gives_no_model_is_reported_with_its_line(complaint, body, message):
    text = POLICY.replace("return -1;", body)
    said = complaint(text)
    assert message in said
    assert said.startswith(f"mine.py:{line_of(text, body)}: ")


def test_a_fragment_without_the_method_is_reported(complaint):
    said = complaint(POLICY.replace("chooseJob", "chooseWork"))
    assert said.startswith("mine.py: the model with the dispatch policy LAZY does not check:\n")
    assert "chooseJob" in said


def test_an_eviction_fragment_that_does_not_check_is_reported(complaint):
    text = POLICY.replace("Dispatch", "Eviction").replace("dispatch", "eviction")
    assert "the model with the eviction policy LAZY does not check" in complaint(text)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("_NUMBER;", "_NUMBR;", "_NUMBR;", "arrival pattern twice does not check:"),
        ("= 2 * {{ prefix", "= {{ target.x }} * {{ prefix", "target.x", "UndefinedError"),
        ('return {"NUMBER"', 'return {1 / 0: 3, "NUMBER"', "1 / 0", "ZeroDivisionError"),
        ('f"twice {self.number}"', "1 / 0", "1 / 0", "ZeroDivisionError: division by zero"),
        ('f"twice {self.number}"', '"a\\nb"', None, "TypeError: `label` must be a line of text"),
        ('f"twice {self.number}"', '"!"', None, "TypeError: `slug` must be letters and digits"),
        ('f"twice {self.number}"', "3", None, "TypeError: `label` must be a line of text"),
    ],
)
def test_a_pattern_that_fails_later_is_reported_with_its_file(write, old, new, line, message):
    assert old in PATTERN
    text = PATTERN.replace(old, new)
    path = write(text)
    load_plugin(path)
    with pytest.raises(PluginError, match=message) as caught:
        rebeca_source(configuration(arrivals={"pattern": "twice", "number": 1}))
    place = "" if line is None else f":{line_of(text, line)}"
    assert str(caught.value).startswith(f"{path}{place}: ")


def test_the_plugin_to_blame_is_the_one_it_happened_in(write):
    load_plugin(EXAMPLE)
    path = write(PATTERN.replace("_NUMBER;", "_NUMBR;"))
    load_plugin(path)
    config = configuration(policy="LJF", arrivals={"pattern": "twice", "number": 1})
    with pytest.raises(PluginError) as caught:
        rebeca_source(config)
    assert str(caught.value).startswith(f"{path}:{line_of(path.read_text(), '_NUMBR;')}: ")
