"""What followed the last time that the same tokens stood there."""

from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.job import Job, new_job
from pipeline.serving.embedded.lookup import NgramIndex, PromptLookup
from pipeline.serving.embedded.requests import SamplingParams


def index(*tokens: int) -> NgramIndex:
    found = NgramIndex()
    found.extend(tokens)
    return found


def test_the_longest_match_wins_over_a_newer_one() -> None:
    assert index(1, 2, 3, 40, 9, 3, 50, 1, 2, 3).continuation(1) == [40]


def test_of_equal_matches_the_newest_wins() -> None:
    assert index(3, 40, 3, 50, 6, 3).continuation(2) == [50, 6]


def test_the_text_may_run_into_its_own_end() -> None:
    assert index(5, 6, 5, 6).continuation(4) == [5, 6]
    assert index(7, 7, 7).continuation(3) == [7]


def test_nothing_seen_before_gives_nothing() -> None:
    assert index(1, 2, 3).continuation(3) == []
    assert index().continuation(3) == []


def job(*prompt: int) -> Job:
    return new_job("r", prompt, SamplingParams(), frozenset())


def test_prompt_and_answer_are_one_text() -> None:
    lookup, found = PromptLookup(2, 3), job(5, 6, 7, 8)
    found.output_ids += [9, 6]
    assert lookup.propose([found]) == [Draft((6, 7, 8, 9))]
    found.output_ids += [7, 1]
    assert lookup.propose([found]) == [Draft((1,))]
    found.output_ids += [6, 7]
    assert lookup.propose([found]) == [Draft((7, 1, 6, 7))]


def test_a_slot_is_forgotten_when_its_request_leaves() -> None:
    lookup, first, second = PromptLookup(2, 3), job(5, 6, 5), job(7, 8, 7)
    for found in (first, second):
        found.output_ids.append(found.input_ids[1])
    assert lookup.propose([first, second]) == [Draft((6, 5, 6)), Draft((8, 7, 8))]
    lookup.clear(0)
    lookup.move(1, 0)
    assert lookup.propose([second]) == [Draft((8, 7, 8))]
    third = job(1, 2)
    third.output_ids.append(3)
    assert lookup.propose([second, third]) == [Draft((8, 7, 8)), Draft((3,))]
