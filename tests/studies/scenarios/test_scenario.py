from __future__ import annotations

import json
import os

import pytest

from rebecsim.clusters import Linear, Nondet, UniformArrivals
from rebecsim.clusters.dispatch.scenario import MAX_CONFIGURATIONS, Scenario
from rebecsim.clusters.scenarios import load_scenario
from rebecsim.studies.scenario_files import ScenarioError, builtin_scenarios
from reproductions.dispatch.comparison import PUBLISHED_TABLES

GOOD = """\
kind = "dispatch"
name = "small"
policies = ["EDF", "FIFO"]
app_masters = [1, 3]
queue_size = 12
epsilon = 2
[[arrivals]]
pattern = "uniform"
count = 1
[[lengths]]
pattern = "nondet"
minimum = 1
maximum = 6
[[lengths]]
pattern = "exponential"
multiplier = 2
"""


@pytest.fixture
def load(tmp_path):
    def load_text(text: str | bytes) -> Scenario:
        path = tmp_path / "given.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return load_scenario(path)

    return load_text


@pytest.fixture
def complaint(load):
    """The message of the error in a scenario text, without the folder."""

    def complaint_about(text: str | bytes) -> str:
        with pytest.raises(ScenarioError) as caught:
            load(text)
        folder = os.path.dirname(caught.value.origin)  # noqa: PTH120
        return str(caught.value).replace(f"{folder}{os.sep}", "")

    return complaint_about


def test_a_small_scenario_gets_the_defaults(load):
    scenario = load(GOOD)
    assert scenario.heading == "small"
    assert (scenario.replications, scenario.ticks, scenario.seed) == (100, 100, 2015)
    assert scenario.choice_law == "fair"
    assert scenario.high_priority.probability == 0
    assert scenario.epsilon == 2.0
    assert scenario.lengths == (Nondet(minimum=1, maximum=6), Linear(multiplier=2))


def test_configurations_vary_the_cluster_size_fastest(load):
    stems = [configuration.file_stem for configuration in load(GOOD).configurations()]
    assert stems == [
        "edf_uniform1_nondet1to6_am1",
        "edf_uniform1_nondet1to6_am3",
        "edf_uniform1_linearx2_am1",
        "edf_uniform1_linearx2_am3",
        "fifo_uniform1_nondet1to6_am1",
        "fifo_uniform1_nondet1to6_am3",
        "fifo_uniform1_linearx2_am1",
        "fifo_uniform1_linearx2_am3",
    ]
    assert load(GOOD).configuration_count == len(stems)


CURVES_AND_HARDWARE = """\
speeds = [1.0, 0.5]
[[arrivals]]
pattern = "sine"
mean = 1.5
amplitude = 1
period = 24
[[lengths]]
pattern = "spline"
period = 6
knots = [[0, 1], [3, 4.5], [6, 1]]
[power]
idle = [90]
busy = [200, 180.5]
time_unit = 60.0
"""


def test_models_count_busy_time_only_when_the_hardware_is_described(load):
    top = GOOD[: GOOD.index("[[arrivals]]")]
    described = load(top + CURVES_AND_HARDWARE)
    assert described.measures_busy_time
    assert {each.horizon for each in described.configurations()} == {100}
    assert {each.speeds for each in described.configurations()} == {(1.0, 0.5)}
    assert described.power.busy == (200.0, 180.5)
    assert not load(GOOD).measures_busy_time
    assert {each.horizon for each in load(GOOD).configurations()} == {None}
    assert load("power = { idle = [1], busy = [2] }\n" + GOOD).measures_busy_time


@pytest.mark.parametrize("rest", [GOOD, GOOD[: GOOD.index("[[arr")] + CURVES_AND_HARDWARE])
def test_a_scenario_survives_json(load, rest):
    scenario = load(rest)
    assert scenario.replace(seed=scenario.seed) == scenario
    dumped = json.loads(json.dumps(scenario.model_dump(mode="json")))
    assert Scenario.model_validate(dumped) == scenario


@pytest.mark.parametrize("text", [GOOD.replace("\n", "\r\n"), "\ufeff" + GOOD])
def test_windows_line_ends_and_a_byte_order_mark_are_read(load, text):
    assert load(text) == load(GOOD)


def replaced(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


BARE = 'kind = "dispatch"'

BAD = [
    # a key
    (GOOD.replace("epsilon = 2\n", ""), ["given.toml: epsilon: is missing (slack"]),
    (
        "replicatons = 3\n" + GOOD,
        ["given.toml:1: replicatons: unknown key; did you mean replications?"],
    ),
    ("zzz = 3\n" + GOOD, ["given.toml:1: zzz: unknown key; known are kind, name"]),
    (
        replaced("count", "cuont"),
        [
            "given.toml:7: arrivals[0].count: is missing (how many jobs arrive, jobs per",
            "given.toml:9: arrivals[0].cuont: unknown key; did you mean count?",
        ],
    ),
    (
        GOOD + "[high_priority]\nprobabilty = 10\n",
        ["given.toml:18: high_priority.probabilty: unknown key; did you mean probability?"],
    ),
    ('"a b\\u001b[31m" = 1\n' + GOOD, ["given.toml:1: 'a b\\x1b[31m': unknown key"]),
    # a type
    (replaced("12", '"12"'), ["given.toml:5: queue_size: must be a whole number, found '12'"]),
    (replaced("12", "12.0"), ["given.toml:5: queue_size: must be a whole number, found 12.0"]),
    (replaced("12", "true"), ["given.toml:5: queue_size: must be a whole number, found true"]),
    (replaced("[1, 3]", "3"), ["given.toml:4: app_masters: must be a list, like [1, 2], found 3"]),
    (replaced('"small"', "7"), ["given.toml:2: name: must be a text in quotes"]),
    (replaced('"small"', '"../x"'), ["given.toml:2: name: must be a name of lower-case letters"]),
    (replaced("epsilon = 2", "epsilon = nan"), ["given.toml:6: epsilon: must be a finite number"]),
    ("high_priority = 3\n" + GOOD, ["given.toml:1: high_priority: must be a table, found 3"]),
    (
        "arrivals = [3]\n" + GOOD[: GOOD.index("[[arr")] + GOOD[GOOD.index("[[len") :],
        ["given.toml:1: arrivals[0]: must be a table, found 3"],
    ),
    # a value
    (replaced("12", "-1"), ["given.toml:5: queue_size: must be at least 1, found -1"]),
    (replaced("[1, 3]", "[0]"), ["given.toml:4: app_masters[0]: must be at least 1, found 0"]),
    (replaced("[1, 3]", "[9999]"), ["given.toml:4: app_masters[0]: must be at most 1000"]),
    (replaced("[1, 3]", "[]"), ["given.toml:4: app_masters: is empty; list at least one"]),
    (replaced("epsilon = 2", "epsilon = -0.5"), ["given.toml:6: epsilon: must be at least 0"]),
    (replaced("count = 1", "count = -1"), ["given.toml:9: arrivals[0].count: must be at least 0"]),
    ("replications = 0\n" + GOOD, ["given.toml:1: replications: must be at least 1, found 0"]),
    (
        'choice_law = "unfair"\n' + GOOD,
        ['given.toml:1: choice_law: must be "fair" or "rmc", found \'unfair\''],
    ),
    (
        "high_priority.probability = 101\n" + GOOD,
        ["given.toml:1: high_priority.probability: must be at most 100, found 101"],
    ),
    # a policy
    (replaced('"EDF", "FIFO"', ""), ["given.toml:3: policies: is empty; list at least one"]),
    (
        replaced('"FIFO"', '"FIFA"'),
        ["given.toml:3: policies[1]: no dispatch policy is called 'FIFA'; did you mean FIFO?"],
    ),
    (
        replaced('"FIFO"', '"EDF"'),
        ["given.toml:3: policies[1]: 'EDF' is listed twice (first as entry 0); remove one"],
    ),
    # a pattern
    (
        replaced("uniform", "unifrom"),
        ["given.toml:7: arrivals[0]: no arrival pattern is called 'unifrom'; did you mean uni"],
    ),
    (
        replaced('pattern = "uniform"\n', ""),
        ['given.toml:7: arrivals[0]: has no pattern; add one, for example pattern = "uniform"'],
    ),
    (
        replaced("minimum = 1", "minimum = 7"),
        ["given.toml:10: lengths[0]: minimum 7 is greater than maximum 6; exchange the two"],
    ),
    (
        GOOD + '[[lengths]]\npattern = "linear"\nmultiplier = 2\n',
        ["given.toml:17: lengths[2]: linear x2 is listed twice (first as entry 1); remove one"],
    ),
    (
        "ticks = 1000000\n" + replaced("multiplier = 2", "multiplier = 11"),
        ["given.toml:15: lengths[1]: jobs get longer than 10000000 within 1000000 ticks"],
    ),
    (
        replaced('pattern = "uniform"', 'pattern = "linear"'),
        ["given.toml:7: arrivals[0]: no arrival pattern is called 'linear'; did you mean"],
    ),
    (
        replaced('pattern = "uniform"', "pattern = 3"),
        ['given.toml:7: arrivals[0]: has no pattern; add one, for example pattern = "uniform"'],
    ),
    (
        GOOD + '[[lengths]]\npattern = "sine"\nmean = 3\namplitude = -1\nperod = 6\n',
        [
            "given.toml:17: lengths[2].period: is missing (after which the pattern starts again",
            "given.toml:20: lengths[2].amplitude: must be at least 0, found -1",
            "given.toml:21: lengths[2].perod: unknown key; did you mean period?",
        ],
    ),
    (
        GOOD + '[[lengths]]\npattern = "spline"\nperiod = 6\nknots = [[0, 1], [4, 2]]\n',
        ["given.toml:20: lengths[2].knots: the knots go from time 0 to 4; begin at 0 and end at 5"],
    ),
    (
        GOOD + '[[lengths]]\npattern = "spline"\nperiod = 6\nknots = [[0, 1], [0, 2]]\n',
        ["given.toml:20: lengths[2].knots: the times of the knots must ascend"],
    ),
    (
        GOOD + '[[lengths]]\npattern = "spline"\nperiod = 6\nknots = [[0, 1], [6]]\n',
        ["given.toml:20: lengths[2].knots[1][1]: is missing"],
    ),
    # the hardware
    (
        "speeds = [1.0, 0.125]\n" + GOOD,
        ["given.toml:1: speeds[1]: must have at most 2 digits after the point, found 0.125"],
    ),
    ("speeds = [0]\n" + GOOD, ["given.toml:1: speeds[0]: must be at least 0.01, found 0"]),
    ("speeds = 2\n" + GOOD, ["given.toml:1: speeds: must be a list"]),
    (
        GOOD + "[power]\nidle = [90]\n",
        ["given.toml:17: power: give the watts of both idle and busy, or of neither"],
    ),
    (
        GOOD + "[power]\nidle = [90]\nbusy = [-1]\n",
        ["given.toml:19: power.busy[0]: must be at least 0, found -1"],
    ),
    (
        GOOD + "[power]\nidel = [90]\n",
        ["given.toml:18: power.idel: unknown key; did you mean idle?"],
    ),
    # the whole
    (
        replaced("[1, 3]", str(list(range(1, 1001)))).replace(
            "[[lengths]]",
            "".join(f'[[lengths]]\npattern = "uniform"\nlength = {n}\n' for n in range(60))
            + "[[lengths]]",
            1,
        ),
        ["124000 configurations, at most 100000 are allowed; shorten a list"],
    ),
    # no TOML
    ("name = \n" + GOOD, ["given.toml:1:8: not valid TOML: Invalid value"]),
    (replaced("queue_size = 12", "queue_size 12"), ["given.toml:5:12: not valid TOML: "]),
    ('name = "twice"\n' + GOOD, ["given.toml:3:15: not valid TOML: Cannot overwrite a value"]),
    ("seed = " + "1" * 5000, ["given.toml: not valid TOML: "]),
    ("seed = " + "[" * 100_000, ["nested too deeply"]),
    (GOOD.encode() + b'title = "\xff"', ["given.toml:17: is not UTF-8 text; save the file as"]),
    (b"\x00\x01", ["given.toml:1:1: not valid TOML"]),
    (BARE, ["given.toml: name: is missing", "given.toml: arrivals: is missing"]),
]


@pytest.mark.parametrize(("text", "parts"), BAD, ids=[parts[0][:60] for _, parts in BAD])
def test_a_bad_scenario_says_where_and_what_to_do(complaint, text, parts):
    lines = complaint(text).splitlines()
    for part in parts:
        assert any(part in line for line in lines), lines


@pytest.mark.parametrize(("text", "parts"), [case for case in BAD if case[0] != BARE])
def test_a_bad_scenario_names_nothing_that_is_right(complaint, text, parts):
    assert len(complaint(text).splitlines()) == len(parts)


def test_all_problems_are_listed_in_the_order_of_the_file(load):
    text = replaced("12", "-1").replace("count = 1", "count = -1").replace('"EDF"', '"edf"')
    with pytest.raises(ScenarioError) as caught:
        load("colour = 3\n" + text.replace("maximum = 6", 'maximum = "6"'))
    problems = caught.value.problems
    assert [(problem.field, problem.line) for problem in problems] == [
        ("colour", 1),
        ("policies[0]", 4),
        ("queue_size", 6),
        ("arrivals[0].count", 10),
        ("lengths[0].maximum", 14),
    ]


def test_a_missing_file_lists_the_builtin_scenarios(tmp_path):
    with pytest.raises(ScenarioError, match=r"no such file.*for_edf, for_priority"):
        load_scenario(tmp_path / "missing.toml")
    with pytest.raises(ScenarioError, match="did you mean for_edf"):
        load_scenario("for_efd")


def test_a_directory_is_no_scenario(tmp_path):
    with pytest.raises(ScenarioError, match="is a directory"):
        load_scenario(tmp_path)


def test_a_device_is_no_scenario():
    with pytest.raises(ScenarioError, match="not a regular file"):
        load_scenario(os.devnull)


def test_a_builtin_name_wins_over_a_file_of_the_same_name(tmp_path, monkeypatch):
    (tmp_path / "for_edf").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    assert load_scenario("for_edf").name == "for_edf"
    assert load_scenario("./for_edf").name == "small"


def test_replace_changes_fields_and_checks_them(load):
    scenario = load(GOOD)
    changed = scenario.replace(replications=3, seed=7, choice_law="rmc")
    assert (changed.replications, changed.seed, changed.choice_law) == (3, 7, "rmc")
    assert scenario.replace(replications=None) == scenario
    assert changed.replace(replications=100, seed=2015, choice_law="fair") == scenario
    with pytest.raises(ScenarioError, match="scenario small: replications: must be at least 1"):
        scenario.replace(replications=0)
    with pytest.raises(ScenarioError, match="sede: unknown key; did you mean seed"):
        scenario.replace(sede=3)


def test_the_builtin_scenarios_are_the_published_ones_and_ours():
    published = {table.scenario for table in PUBLISHED_TABLES}
    own = {"backfilling_or_fairshare", "fresh_readings"}
    of_yarn = {"changed_queues", "elastic_or_regular", "fifo_or_fair", "peek_with_errors"}
    of_mapreduce = {"capacity_or_fair", "user_limit"}
    of_mapreduce |= {"capacity_separated", "capacity_interleaved", "capacity_apart"}
    of_stages = {"budgets_or_deadlines", "slots_by_deadlines"}
    assert set(builtin_scenarios()) == published | own | of_yarn | of_mapreduce | of_stages


@pytest.mark.parametrize(
    ("name", "epsilon", "probability", "length", "lengths"),
    [
        ("for_edf", 2.0, 10, 0, "nondet 1..6"),
        ("against_edf", 0.1, 10, 0, "uniform 3"),
        ("against_fifo", 0.5, 10, 0, "ascending 1+1x6"),
        ("against_mdf", 1.5, 30, 0, "linear x2"),
        ("for_priority", 0.5, 30, 1, "nondet 1..6"),
        ("against_priority", 0.5, 30, 9, "nondet 1..6"),
    ],
)
def test_builtin_scenarios_have_the_published_parameters(
    name, epsilon, probability, length, lengths
):
    scenario = load_scenario(name)
    assert scenario.name == name
    assert scenario.policies == ("EDF", "FIFO", "MDF", "PRIORITY")
    assert scenario.app_masters == (1, 2, 3, 4, 5, 6)
    assert (scenario.queue_size, scenario.replications, scenario.ticks) == (12, 100, 99)
    assert scenario.arrivals == (UniformArrivals(count=1),)
    assert [pattern.label for pattern in scenario.lengths] == [lengths]
    assert scenario.epsilon == epsilon
    assert scenario.high_priority.probability == probability
    assert scenario.high_priority.length == length
    assert scenario.configuration_count == 24 <= MAX_CONFIGURATIONS
