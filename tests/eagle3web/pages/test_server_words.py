import pytest

from eagle3web.pages.server_words import describe
from pipeline.event import Event
from pipeline.events import StageFinished
from pipeline.server_events import DrafterSwapped, ServerDraining, ServerEnded
from tests.support import told


@pytest.mark.parametrize(
    ("event", "state", "head", "note"),
    [
        (
            told.server_started(drafter="r4 step 9"),
            "starting",
            "SGLang 0.5.23 starts",
            "drafts from r4 step 9; log: server-1.log",
        ),
        (told.server_ready(), "finished", "takes requests", "http://gpu-07:30000 after 5 min 12 s; context of 32 768 tokens"),
        (
            ServerDraining(number=1, reason="stopped by ada", deadline_s=30),
            "stopping",
            "drains, 30 s at most",
            "stopped by ada",
        ),
        (ServerEnded(number=1, reason="stopped by ada", wanted=True), "stopped", "the server ended", "stopped by ada"),
        (
            ServerEnded(number=1, reason="it died", wanted=False, failures=3),
            "failed",
            "the server failed, 3 in a row",
            "it died",
        ),
    ],
)
def test_what_a_server_does_is_told_in_words(event: Event, state: str, head: str, note: str) -> None:
    found = describe(event)
    assert found is not None
    shown = {name: str(value).replace("\u00a0", " ").replace("\u202f", " ") for name, value in found.items()}
    assert (shown["state"], shown["head"], shown["note"]) == (state, head, note)


def test_next_start_and_the_drafter_before_stand_aside() -> None:
    ended = describe(ServerEnded(number=1, reason="it died", wanted=False, retry_in_s=8.0, failures=3))
    swapped = describe(DrafterSwapped(drafter="", name="", previous="r4 step 9"))
    assert ended is not None
    assert swapped is not None
    assert ended["aside"].replace("\u00a0", " ") == "8 s until the next start"
    assert (swapped["head"], swapped["aside"]) == ("drafts from nothing", "before: r4 step 9")
    assert describe(StageFinished()) is None
