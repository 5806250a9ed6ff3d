from pathlib import Path

import pytest

from pipeline.serve.log_lines import LINE_BYTES, LogReader, Progress, parse_line


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            "Loading safetensors checkpoint shards:  25% Completed | 3/12 [00:07<00:21,  2.4s/it]",
            Progress("weights", "", 3, 12),
        ),
        ("Multi-thread loading shards: 100% Completed | 1/1 [00:00<00:00,  1.31it/s]", Progress("weights", "", 1, 1)),
        ("[2026-11-30 16:42:43 TP0] Load weight begin. avail mem=19.71 GB", Progress("weights")),
        (
            "[2026-11-30 16:42:44] Load weight end. elapsed=0.84 s, type=LlamaForCausalLMEagle3, avail mem=1 GB, mem=1.",
            Progress("weights", "LlamaForCausalLMEagle3", 1, 1),
        ),
        ("[2026-11-30 16:42:47] KV Cache is allocated. dtype: torch.float32, #tokens: 16384", Progress("memory", "KV cache")),
        (
            "[2026-11-30 16:50:00] Capture target verify CUDA graph begin. backend=full, num_tokens_per_req=4, avail mem=9 GB",
            Progress("graphs", "target verify", 0, 1),
        ),
        ("[2026] Capture draft decode CUDA graph end. bs=[1, 2], elapsed=3.20 s", Progress("graphs", "draft decode", 1, 1)),
        ("Capturing batches (bs=16 avail_mem=9.41 GB):  35%|███▌      | 7/20 [00:03<00:05]", Progress("graphs", "", 7, 20)),
        ("[2026-11-30 16:42:48] The server is fired up and ready to roll!", Progress("warming up")),
        ("[2026-11-30 16:42:43] Ignore import error when loading sglang.srt.models.mamba: no such thing", None),
        ("Decode batch, #running-req: 4, #token: 812, gen throughput (token/s): 88.1", None),
        ("", None),
    ],
)
def test_lines_of_a_start_are_understood_and_others_passed_over(line: str, found: Progress | None) -> None:
    assert parse_line(line) == found


def test_log_is_followed_line_by_line_while_it_grows(tmp_path: Path) -> None:
    path = tmp_path / "server-1.log"
    path.write_bytes(b"first\nshards:   0% Completed | 0/2 [\rshards:  50% Completed | 1/2 [")
    reader = LogReader(path)
    assert list(reader.lines()) == ["first", "shards:   0% Completed | 0/2 ["]
    with path.open("ab") as log:
        log.write(b"]\rshards: 100% Completed | 2/2 [\n\xff\n")
    assert list(reader.lines()) == ["shards:  50% Completed | 1/2 []", "shards: 100% Completed | 2/2 [", "\ufffd"]
    assert list(reader.lines()) == []


def test_line_without_an_end_takes_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "server-1.log"
    path.write_bytes(b"x" * (3 * LINE_BYTES))
    reader = LogReader(path)
    assert list(reader.lines()) == []
    with path.open("ab") as log:
        log.write(b"\nnext\n")
    assert [len(line) for line in reader.lines()] == [LINE_BYTES, 4]
