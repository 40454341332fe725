"""Every model to learn from does what its page says, in every way in which it can be run."""

from __future__ import annotations

import pytest

from rebecsim.actors import RandomScheduler, ReplayScheduler, Streams
from rebecsim.exploration import Mode, explore
from rebecsim.generate.module import load_model
from rebecsim.lang import parse_model, print_model
from rebecsim.live import LiveLimits, check_log, run_live
from tests.examples import dear
from tests.models.lessons import (
    LESSONS,
    MODELS,
    SOLUTIONS,
    TEACHING,
    VARIANTS,
    Lesson,
    checked,
    explored,
    model_of,
)
from tests.models.walks import ends_of, simulated, space_of, states_without_hope

ALL = (*LESSONS, *VARIANTS, *SOLUTIONS)
VIOLATIONS_OF_A_RUN = ("deadline missed", "queue overflow", "assertion failed")
RUNS = dear(40)
STEPS = 80


@pytest.mark.parametrize("lesson", ALL, ids=str)
def test_exploration_gives_the_result_that_the_page_states(lesson: Lesson) -> None:
    found = explored(lesson)
    assert found.verdict == lesson.verdict, found.message
    if lesson.verdict == "satisfied":
        assert (found.states, found.transitions) == (lesson.states, lesson.transitions)
    else:
        assert found.path is not None
        assert len(found.path) == lesson.steps


@pytest.mark.large
@pytest.mark.parametrize("lesson", [each for each in ALL if each.tts is not None], ids=str)
def test_time_in_single_units_gives_the_same_verdict(lesson: Lesson) -> None:
    found = explored(lesson, "TTS")
    assert found.verdict == lesson.verdict
    assert (found.states, found.transitions) == lesson.tts


def test_every_timed_model_that_is_satisfied_has_counts_for_both() -> None:
    for lesson in LESSONS:
        wanted = lesson.dialect == "timed" and lesson.verdict == "satisfied"
        assert (lesson.tts is not None) == wanted, lesson


@pytest.mark.parametrize("lesson", ALL, ids=str)
def test_printing_and_reading_again_gives_the_same_tree(lesson: Lesson) -> None:
    tree = parse_model(lesson.text)
    assert parse_model(print_model(tree)) == tree


@pytest.mark.parametrize("lesson", LESSONS, ids=str)
def test_module_and_text_have_the_same_state_space(lesson: Lesson) -> None:
    modes: tuple[Mode | None, ...] = (None,) if lesson.dialect == "core" else ("FTTS", "TTS")
    module = load_model(lesson.module)
    for mode in modes:
        by_text = explored(lesson, mode)
        by_module = explore(module, mode=mode, checks=lesson.checks, checked=checked(lesson))
        assert (by_module.verdict, by_module.states, by_module.transitions) == (
            by_text.verdict,
            by_text.states,
            by_text.transitions,
        )


@pytest.mark.parametrize("lesson", ALL, ids=str)
def test_simulated_runs_are_runs_of_the_explored_space(lesson: Lesson) -> None:
    space = space_of(lesson)
    for replication in range(RUNS):
        result, events = simulated(lesson, RandomScheduler(Streams((7, 1), replication)), STEPS)
        ends = ends_of(space, events)
        if result.is_violation:
            assert result.outcome in ends
        elif lesson.verdict == "satisfied":
            assert ends == {""}
        assert ends
        if lesson.verdict == "satisfied":
            assert result.outcome in ("step limit", "ended")
            assert result.outcome == "step limit" or lesson.terminal


@pytest.mark.parametrize("lesson", [each for each in ALL if each.steps], ids=str)
def test_the_shortest_way_to_a_violation_is_a_run(lesson: Lesson) -> None:
    path = explored(lesson).path
    assert path is not None
    assert path.run is not None
    result, _ = simulated(lesson, ReplayScheduler(path.run), lesson.steps + 1)
    assert result.steps == lesson.steps
    if lesson.verdict in VIOLATIONS_OF_A_RUN and not lesson.properties:
        assert result.outcome == lesson.verdict
    if lesson.verdict == "deadlock":
        assert result.outcome == "ended"


@pytest.mark.parametrize("lesson", ALL, ids=str)
def test_live_runs_are_runs_of_the_explored_space(lesson: Lesson) -> None:
    space = space_of(lesson)
    for seed in range(3):
        run = run_live(model_of(lesson), LiveLimits(steps=30), seed=seed)
        assert run.error is None
        check_log(model_of(lesson), run.log)
        ends = ends_of(space, [each.event for each in run.log.served])
        outcome = run.log.ending.outcome
        assert (outcome if outcome in VIOLATIONS_OF_A_RUN else "") in ends


@pytest.mark.parametrize(
    ("path", "rebec", "server"),
    [
        ("teaching/philosophers.rebeca", "cem", "eat"),
        ("teaching/solutions/philosophers_waiter.rebeca", "ada", "eat"),
        ("teaching/token_ring.rebeca", "c", "token"),
        ("teaching/train_crossing.rebeca", "gate", "lowered"),
        ("teaching/solutions/train_crossing_signal.rebeca", "express", "enter"),
        ("teaching/solutions/train_crossing_signal.rebeca", "local", "enter"),
        ("teaching/solutions/producer_consumer_credits.rebeca", "consumer", "item"),
    ],
)
def test_it_can_always_happen_again(path: str, rebec: str, server: str) -> None:
    """No state is left for good; satisfied models could do nothing useful otherwise."""
    lesson = next(each for each in ALL if each.path == path and each.verdict == "satisfied")
    assert states_without_hope(space_of(lesson), rebec, server) == set()


def test_after_a_deadlock_it_cannot_happen_again() -> None:
    lesson = next(each for each in LESSONS if each.verdict == "deadlock")
    assert states_without_hope(space_of(lesson), "ada", "eat")


def test_all_models_of_the_folder_are_tested() -> None:
    assert {each.file for each in ALL} >= set(TEACHING.glob("**/*.rebeca"))
    by_hand = {  # see test_reservations and test_capacity_queues
        TEACHING / "yarn_reservations.py",
        TEACHING / "capacity_queues.py",
    }
    assert {each.module for each in LESSONS} | by_hand >= set(TEACHING.glob("[!_]*.py"))


def test_every_lesson_has_a_page() -> None:
    pages = "".join(page.read_text("utf-8") for page in MODELS.parent.glob("docs/models/*.md"))
    for lesson in (*LESSONS, *SOLUTIONS):
        assert f"models/{lesson.path}" in pages, lesson.path
