"""The models to learn from and the results that their pages state."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rebecsim.actors import Model
from rebecsim.exploration import Checks, Mode, Result, explore
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, Dialect, check_source, parse_property_file

MODELS = Path(__file__).resolve().parents[2] / "models"
TEACHING = MODELS / "teaching"

EVERYBODY_KNOWS = " && ".join(f"n{number}.leader == 4" for number in (1, 2, 3, 4))
NO_OTHER_LEADER = tuple(
    f"n{number}.leader == 0 || n{number}.leader == 4" for number in (1, 2, 3, 4)
)
SENT = "n1.sent + n2.sent + n3.sent + n4.sent"
GATE_DOWN = ("!express.crossing || gate.down", "!local.crossing || gate.down")


def one_token(stations: str) -> tuple[str, ...]:
    """No two stations hold a token at the same time."""
    return tuple(
        f"!({one}.holding && {other}.holding)"
        for one in stations
        for other in stations
        if one < other
    )


@dataclass(frozen=True)
class Lesson:
    """A model, what is asked of it, and the answer.

    `states` and `transitions` count what is explored in floating time (or core), `tts` in the
    timed transition system. Where something is violated, `steps` is the length of a shortest way
    to it, and there are no counts. `changes` are replacements in the text of the model.
    """

    path: str
    verdict: str = "satisfied"
    states: int = 0
    transitions: int = 0
    tts: tuple[int, int] | None = None
    steps: int = 0
    dialect: Dialect = "timed"
    invariants: tuple[str, ...] = ()
    terminal: tuple[str, ...] = ()
    properties: str = ""
    changes: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        changed = " ".join((self.file.stem, *(new for _, new in self.changes)))
        return re.sub(r"\W+", "-", changed)[:60]

    @property
    def file(self) -> Path:
        """The Rebeca text."""
        return MODELS / self.path

    @property
    def module(self) -> Path:
        """The Python module with the same model."""
        if self.is_module_generated:
            return TEACHING / f"{self.file.stem}.py"
        return self.file.with_suffix(".py")

    @property
    def is_module_generated(self) -> bool:
        """Whether the module is written by the program; the ticket service is by hand."""
        return self.file.stem != "ticket_service"

    @property
    def text(self) -> str:
        """The Rebeca text with its changes."""
        text = self.file.read_text("utf-8")
        for old, new in self.changes:
            assert text.count(old) == 1, f"{self.path}: {old!r} is not there once"
            text = text.replace(old, new)
        return text

    @property
    def checks(self) -> Checks:
        """What is looked for."""
        properties = parse_property_file(MODELS / self.properties) if self.properties else None
        return Checks(
            deadlock=self.verdict == "deadlock",
            terminal=self.terminal,
            invariants=self.invariants,
            properties=properties,
        )


LESSONS = (
    Lesson("ticket_service.rebeca", states=8028, transitions=15715, tts=(20043, 28828)),
    Lesson("teaching/ping_pong.rebeca", states=3, transitions=4, tts=(11, 12)),
    Lesson("teaching/philosophers_deadlock.rebeca", "deadlock", steps=12, dialect="core"),
    Lesson("teaching/philosophers.rebeca", states=1370, transitions=4255, dialect="core"),
    Lesson(
        "teaching/leader_election.rebeca",
        states=80,
        transitions=167,
        dialect="core",
        invariants=(*NO_OTHER_LEADER, f"{SENT} <= 14"),
        terminal=(f"{EVERYBODY_KNOWS} && {SENT} == 14",),
    ),
    Lesson("teaching/producer_consumer.rebeca", "queue overflow", steps=21),
    Lesson("teaching/sensor_network.rebeca", states=75, transitions=211, tts=(361, 497)),
    Lesson(
        "teaching/train_crossing.rebeca",
        states=387,
        transitions=581,
        tts=(568, 762),
        invariants=GATE_DOWN,
    ),
    Lesson(
        "teaching/token_ring.rebeca",
        states=208,
        transitions=377,
        tts=(436, 605),
        invariants=one_token("abc"),
    ),
    Lesson("teaching/yarn_fifo2.rebeca", states=3897, transitions=5684, tts=(4852, 6639)),
    Lesson(
        "races/natjam_race.rebeca",
        states=5897,
        transitions=8619,
        tts=(7662, 10384),
        properties="races/mirror.property",
    ),
)
"""One for each page of docs/models, and one more for the philosophers."""

_FOURTH_SENSOR = ("    Sensor south(", "    Sensor west(gateway):(0);\n    Sensor south(")

VARIANTS = (
    Lesson(
        "ticket_service.rebeca",
        states=8028,
        transitions=15715,
        changes=(("deadline(12)", "deadline(3)"),),
    ),
    Lesson(
        "ticket_service.rebeca",
        "deadline missed",
        steps=11,
        changes=(("deadline(12)", "deadline(2)"),),
    ),
    Lesson(
        "teaching/leader_election.rebeca",
        states=59,
        transitions=123,
        dialect="core",
        invariants=(*NO_OTHER_LEADER, f"{SENT} <= 11"),
        terminal=(f"{EVERYBODY_KNOWS} && {SENT} == 11",),
        changes=(
            ("n4(n3):(4)", "n4(n1):(4)"),
            ("n3(n2):(3)", "n3(n4):(3)"),
            ("n2(n1):(2)", "n2(n3):(2)"),
            ("n1(n4):(1)", "n1(n2):(1)"),
        ),
    ),
    Lesson(
        "teaching/producer_consumer.rebeca",
        "queue overflow",
        steps=41,
        changes=(("PLACES = 4", "PLACES = 8"),),
    ),
    Lesson("teaching/sensor_network.rebeca", "deadline missed", steps=8, changes=(_FOURTH_SENSOR,)),
    Lesson(
        "teaching/sensor_network.rebeca",
        states=263,
        transitions=865,
        changes=(_FOURTH_SENSOR, ("FRESH = 6", "FRESH = 8")),
    ),
    Lesson(
        "teaching/sensor_network.rebeca",
        "deadline missed",
        steps=6,
        changes=(("FRESH = 6", "FRESH = 5"),),
    ),
    Lesson(
        "teaching/train_crossing.rebeca",
        "property violated",
        steps=6,
        invariants=GATE_DOWN,
        changes=(("LOWERING = 2", "LOWERING = 3"),),
    ),
    Lesson(
        "teaching/train_crossing.rebeca",
        "property violated",
        steps=8,
        invariants=("!(express.crossing && local.crossing)",),  # both tracks are used at a time
    ),
    Lesson(
        "teaching/token_ring.rebeca",
        "property violated",
        steps=16,
        invariants=one_token("abc"),
        changes=(("TIMEOUT = 10", "TIMEOUT = 9"),),
    ),
    Lesson(
        "teaching/token_ring.rebeca",
        "property violated",
        steps=8,
        invariants=one_token("abc"),
        changes=(("TIMEOUT = 10", "TIMEOUT = 8"),),
    ),
    Lesson(  # a lost token is lost for ever without the timer
        "teaching/token_ring.rebeca",
        "deadlock",
        steps=3,
        changes=(("        watch();\n", ""),),
    ),
    Lesson(
        "races/natjam_race.rebeca",
        "assertion failed",
        steps=8,
        properties="races/mirror.property",
        changes=(("work[2] = 2", "work[2] = 1"),),
    ),
)
"""What becomes of the models when a number or a line in them is another one."""

SOLUTIONS = (
    Lesson("teaching/solutions/ping_pong_two_balls.rebeca", states=6, transitions=9),
    Lesson(
        "teaching/solutions/ping_pong_two_balls.rebeca",
        "queue overflow",
        steps=1,
        changes=(("Player(2)", "Player(1)"),),
    ),
    Lesson("teaching/solutions/ping_pong_miss.rebeca", states=5, transitions=9),
    Lesson(
        "teaching/solutions/philosophers_waiter.rebeca",
        states=10843,
        transitions=38527,
        dialect="core",
    ),
    Lesson(
        "teaching/solutions/philosophers_waiter.rebeca",
        "deadlock",
        steps=18,
        dialect="core",
        changes=(("SEATS = 2", "SEATS = 3"),),
    ),
    Lesson(
        "teaching/solutions/leader_election_sleepers.rebeca",
        states=688,
        transitions=1568,
        dialect="core",
        invariants=(*NO_OTHER_LEADER, f"{SENT} <= 14"),
        terminal=(f"{EVERYBODY_KNOWS} && {SENT} >= 8",),
    ),
    Lesson(
        "teaching/solutions/producer_consumer_credits.rebeca",
        states=27,
        transitions=61,
        tts=(68, 106),
    ),
    Lesson("teaching/solutions/sensor_network_phases.rebeca", states=48, transitions=113),
    Lesson(
        "teaching/solutions/train_crossing_signal.rebeca",
        states=693,
        transitions=1015,
        invariants=GATE_DOWN,
    ),
    Lesson(
        "teaching/solutions/token_ring_four.rebeca",
        states=308,
        transitions=569,
        invariants=one_token("abcd"),
    ),
    Lesson(
        "teaching/solutions/token_ring_four.rebeca",
        "property violated",
        steps=18,
        invariants=one_token("abcd"),
        changes=(("TIMEOUT = 13", "TIMEOUT = 12"),),
    ),
)
"""What the exercises on the pages lead to."""


@cache
def checked(lesson: Lesson) -> CheckedModel:
    """The model of a lesson, checked."""
    return check_source(lesson.text, lesson.path, lesson.dialect)


@cache
def model_of(lesson: Lesson) -> Model:
    """The model of a lesson, to run it."""
    return build_model(checked(lesson), lesson.file.name)


@cache
def explored(lesson: Lesson, mode: Mode | None = None) -> Result:
    """All that the model of a lesson can do."""
    return explore(model_of(lesson), mode=mode, checks=lesson.checks, checked=checked(lesson))
