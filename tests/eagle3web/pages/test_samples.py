from typing import Any

import pytest

from eagle3web.pages.samples import ShownSample, shown_sample
from tests.support import factories

pytestmark = pytest.mark.django_db


def sample_of(**payload: Any) -> ShownSample:
    return shown_sample(factories.event(factories.attempt(), "sample_logged", **payload))


def test_thinking_stands_apart_from_the_answer() -> None:
    sample = sample_of(answer="<think> a </think>\n\nb", finish_reason="stop")
    assert (sample.thinking, sample.answer, sample.truncated) == ("<think> a </think>", "b", False)


def test_answer_that_was_cut_while_thinking_is_all_thinking() -> None:
    sample = sample_of(answer="<think> a", finish_reason="length")
    assert (sample.thinking, sample.answer, sample.truncated) == ("<think> a", "", True)


def test_answer_without_thinking_is_all_answer() -> None:
    sample = sample_of(answer="2\x1b")
    assert (sample.thinking, sample.answer) == ("", "2␛")


def test_odd_fields_show_as_nothing() -> None:
    sample = sample_of(completion_tokens="many", latency_s="<b>")
    assert (sample.completion_tokens, sample.latency_s, sample.prompt) == (0, None, "")
