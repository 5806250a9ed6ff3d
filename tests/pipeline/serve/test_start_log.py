import logging
from pathlib import Path

import pytest

from pipeline.event import Event
from pipeline.serve.log_lines import Progress
from pipeline.serve.start_log import StartLog, readable, words

LOG = """\
/venv/sglang/srt/layers/quantization/gguf.py:76: UserWarning: Only CUDA supports GGUF quantization currently.
  warnings.warn(f"Only CUDA supports GGUF quantization currently.")
[2026-11-30 16:42:43 TP0] Load weight begin. avail mem=19.71 GB
Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:01<00:03,  1.0s/it]
[2026-11-30 16:42:48] INFO:     127.0.0.1:53462 - "POST /generate HTTP/1.1" 200 OK
[2026-11-30 16:42:48] Decode batch, #running-req: 4
[2026-11-30 16:42:49] \x1b[1;33mThe KV cache is small\x1b[0m
"""


def test_what_people_would_read_is_passed_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "server-1.log"
    path.write_text(LOG)
    told: list[Event] = []
    log = StartLog(path, number=1, emit=told.append)
    with caplog.at_level(logging.INFO, "sglang"):
        assert log.tell() == "weights: 1 of 4"
        assert log.tell() == ""
    assert caplog.messages == ["[TP0] Load weight begin. avail mem=19.71 GB", "The KV cache is small"]
    assert [(event.phase, event.done, event.total) for event in told] == [("weights", 1, 4)]  # type: ignore[attr-defined]


def test_lines_are_made_readable() -> None:
    assert readable("[2026-11-30 16:42:43] ready") == "ready"
    assert readable("[2026-11-30 16:42:43 DP1 TP0] ready") == "[DP1 TP0] ready"
    assert readable("[not a moment] ready") == "[not a moment] ready"


def test_progress_is_told_in_words() -> None:
    assert words(Progress("graphs", "target verify")) == "graphs of target verify"
    assert words(Progress("weights", "", 3, 12)) == "weights: 3 of 12"
