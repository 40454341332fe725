"""The page that says what the server lets in: each of its sentences has tests, its numbers hold."""

from __future__ import annotations

import asyncio
import importlib
import re

import anyio.to_thread
import pytest

from rebecsim.web import limits
from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs/guides/web-server.md").read_text("utf-8")

TESTED_BY = {
    "Without `--host`, the server": "serving.test_the_address_is_printed_and_ctrl_c_ends_it",
    "It refuses a request for any other": "attacks.test_another_host_name_is_refused",
    "With `--host`, it refuses": "attacks.test_whoever_has_no_token_gets_nothing",
    "The token is drawn": "serving.test_another_address_needs_a_token_that_is_drawn "
    "serving.test_a_class_is_shown_its_addresses_and_a_code",
    "For a host that stands": "serving.test_no_address_is_one_that_stands_for_all",
    "After 10 different wrong": "class.test_tokens_are_not_guessed",
    "Another site can link": "attacks.test_other_sites_may_link_and_nothing_else "
    "attacks.test_a_form_of_another_page_is_refused",
    "Every answer tells": "attacks.test_answers_tell_browsers_to_keep_others_out",
    "It lists `.rebeca` files": "attacks.test_links_out_of_the_directory_are_not_followed "
    "attacks.test_a_link_beside_a_model_is_no_property_file",
    "It runs a Python model": "attacks.test_a_program_is_opened_only_if_it_was_named",
    "It never runs": "editor.test_what_is_typed_is_no_python attacks.test_a_condition_is_no_python",
    "It saves only files": "editor.test_nothing_is_written_or_read_elsewhere "
    "editor.test_only_the_model_that_was_named_is_written",
    "It saves a text only after": "attacks.test_what_was_cut_off_is_not_saved",
    "It refuses a request whose length": "attacks.test_what_is_not_what_was_announced_is_not_saved",
    "It keeps the previous": "editor.test_the_version_before_is_kept_and_written_nowhere_else",
    "It does not overwrite": "editor.test_what_was_written_meanwhile_stays",
    "It makes the directory": "limits.test_a_study_is_made_whole_or_not_at_all",
    "It starts no study": "limits.test_a_study_with_a_link_in_its_folder_is_none "
    "studies.test_folders_that_are_links_are_no_studies",
    "A scenario can name only": "studies.test_a_scenario_names_no_files_from_elsewhere",
    "Questions in SQL": "runs.test_sql_reaches_no_files_and_changes_nothing",
    "The server drops a client": "crowd.test_whoever_is_slow_is_dropped "
    "crowd.test_whoever_is_slow_with_a_later_request_is_dropped",
    "It closes a connection": "crowd.test_a_connection_that_is_not_used_any_more_is_closed",
    "When too many connections": "crowd.test_silent_connections_give_way_to_new_ones "
    "crowd.test_a_client_gives_way_only_to_itself_when_it_has_its_share",
    "When it is answering all": "crowd.test_when_all_are_being_answered_new_ones_are_told_so",
    "A client at its limit": "crowd.test_a_client_has_few_requests_and_others_do_not_wait",
    "Four studies run": "limits.test_twelve_that_are_started_at_once_are_four",
    "Resumed studies": "limits.test_studies_that_go_on_again_count",
    "A client that has used up": "class.test_a_client_has_its_share_of_searches",
    "A page that watches": "limits.test_pages_that_watch_have_places_and_give_them_back",
    "While one model loads": "limits.test_whoever_waits_long_for_a_model_is_told_so",
    "It answers 503 when": "limits.test_what_is_sent_and_taken_at_a_time_has_a_limit",
    "It steps through models": "limits.test_models_with_large_arrays_are_not_stepped_through",
    "It refuses a request of more": "attacks.test_what_is_too_long_is_refused",
    "It refuses a scenario": "limits.test_keys_of_many_parts_are_refused_at_once",
    "A pupil can open only": "class.test_a_pupil_sees_their_own_text_only",
    "A pupil cannot change": "class.test_a_pupil_changes_nothing_of_another_who_types_the_same",
    "A pupil cannot push": "class.test_a_pupil_drives_out_no_text_of_another",
    "Nothing that a pupil": "lessons.test_a_class_writes_nothing",
    "A class has no studies": "class.test_a_class_has_no_studies_runs_or_questions_in_sql",
    "The teacher has a token": "class.test_the_teachers_page_is_not_there "
    "teaching.test_only_the_teacher_opens_lessons "
    "teaching.test_a_pupil_who_becomes_the_teacher_needs_the_token",
    "Pupils see the answers": "lessons.test_a_class_is_shown_no_solutions "
    "teaching.test_a_teacher_opens_answers_and_solutions_lesson_by_lesson "
    "teaching.test_show_me_is_hidden_until_then_also_in_a_copy",
    "Until then, they": "teaching.test_a_model_that_solves_an_exercise_is_hidden_until_then "
    "teaching.test_comments_that_give_an_answer_are_hidden_until_then",
    "A browser without cookies": "class.test_browsers_without_cookies_are_told_apart_by_address",
    "Nobody can make up": "class.test_a_cookie_that_was_made_up_is_nobody",
}
"""How a sentence begins -> the tests of it, without `test_` of the file."""


def test_each_sentence_has_a_test() -> None:
    plain = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", PAGE)
    sentences = re.findall(r"^- (.+)$", plain, re.M)
    assert len(sentences) == len(TESTED_BY)
    for sentence in sentences:
        assert sum(sentence.startswith(each) for each in TESTED_BY) == 1, sentence


@pytest.mark.parametrize("tests", TESTED_BY.values(), ids=list(TESTED_BY))
def test_the_test_of_a_sentence_is_there(tests: str) -> None:
    for each in tests.split():
        file, _, name = each.partition(".")
        module = importlib.import_module(f"tests.web.test_{file}")
        assert callable(getattr(module, name))


def rows() -> dict[str, tuple[str, ...]]:
    """Give the rows of the tables, by their first cell."""
    found = [re.split(r" *\| *", line.strip("| ")) for line in PAGE.splitlines() if "|" in line]
    return {first: tuple(rest) for first, *rest in found}


def test_the_numbers_are_those_of_the_program() -> None:
    async def threads() -> int:
        return int(anyio.to_thread.current_default_thread_limiter().total_tokens)

    shown = rows()

    def both(limit: limits.Limit, unit: int = 1) -> tuple[str, str]:
        return f"{limit.each // unit:,}", f"{limit.most // unit:,}"

    assert shown["Connections (each address)"] == both(limits.CONNECTIONS)
    assert shown["Requests at a time"] == (str(limits.REQUESTS_EACH), str(asyncio.run(threads())))
    assert shown["Searches and questions about models, open"] == both(limits.SEARCHES)
    assert shown["Searches at a time"] == ("", str(limits.SEARCHES_AT_ONCE))
    assert shown["Pages that watch a study"] == both(limits.STREAMS)
    assert shown["Studies at a time"] == ("", str(limits.MOST_STUDIES))
    assert shown["Questions in SQL at a time"] == ("", str(limits.QUERIES_AT_ONCE))
    assert shown["Requests being sent, MB"] == both(limits.BODY_BYTES, limits.MEGABYTE)
    assert shown["Long answers being taken, MB"] == both(limits.ANSWER_BYTES, limits.MEGABYTE)
    assert shown["Typed texts that can be explored, in a class"] == both(limits.TEXTS)
    assert shown["To send the head of a request"] == (f"{limits.HEAD_SECONDS:g}",)
    assert shown["To send the rest of a request"] == (f"{limits.BODY_SECONDS:g}",)
    assert shown["To take 48 KB of an answer"] == (f"{limits.TAKING_SECONDS:g}",)
    assert shown["Silence after an answer"] == (f"{limits.IDLE_SECONDS:g}",)
    turn = shown["To wait for a turn, or for a model that others use"]
    assert turn == (f"{limits.PATIENCE:g}",)
    assert limits.LARGEST_BODY == 512 * limits.KILOBYTE
    assert limits.MOST_VALUES == 100_000
    assert limits.WRONG_TOKENS == 10
    assert limits.FORGETTING == 60
