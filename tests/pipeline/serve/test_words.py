import logging

import pytest

from pipeline.event import Event
from pipeline.events import StageFailed, StageInterrupted, StatusChanged, Warned
from pipeline.serve.words import describe, progress_line
from pipeline.server_events import DrafterSwapped, ServerDraining, ServerEnded, ServerLoading, ServerMeasured

MEASURED = ServerMeasured(number=1, running=3, waiting=1, tokens_per_s=88.5, accept_length=1.62)


@pytest.mark.parametrize(
    ("event", "level", "text"),
    [
        (
            ServerDraining(number=1, reason="stopped by ada", deadline_s=30),
            logging.INFO,
            "draining, 30 s at most: stopped by ada",
        ),
        (
            ServerEnded(number=2, reason="it died", wanted=False, retry_in_s=4.0, failures=2),
            logging.ERROR,
            "server 2 ended: it died; the next start is in 4 s",
        ),
        (ServerEnded(number=2, reason="stopped", wanted=True), logging.INFO, "server 2 ended: stopped"),
        (
            DrafterSwapped(drafter="c", name="r4 step 9", previous=""),
            logging.INFO,
            "drafts now from r4 step 9, before from nothing",
        ),
        (Warned(text="the drafter stays as it was"), logging.WARNING, "the drafter stays as it was"),
        (StageFailed(reason="it died"), logging.ERROR, "failed: it died"),
        (StageInterrupted(reason="stopped by ada"), logging.INFO, "ended: stopped by ada"),
    ],
)
def test_events_are_told_in_words(event: Event, level: int, text: str) -> None:
    assert describe(event) == (level, text)


def test_progress_is_one_line_and_other_events_none() -> None:
    assert progress_line(MEASURED) == "3 running, 1 waiting, 88.5 tokens/s, accept length 1.62"
    assert progress_line(ServerLoading(number=1, phase="weights", what="", done=3, total=12)) == "weights: 3 of 12"
    assert progress_line(StatusChanged(text="x")) == ""
    assert describe(MEASURED) is None
