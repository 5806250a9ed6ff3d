from pathlib import Path

from pipeline.process_ends import LINE_CHARS, how_it_ended, last_words


def test_exit_codes_and_signals_are_told_apart() -> None:
    assert how_it_ended(3) == "ended with exit code 3"
    assert how_it_ended(-9) == "was killed by SIGKILL"


def test_last_words_are_the_last_lines_that_say_something(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"first\nsecond\n\n  third \n" + b"x" * 1000 + b"\n\xff\n")
    assert last_words(log) == " | ".join(["third", "x" * LINE_CHARS, "\ufffd"])
    assert last_words(tmp_path / "none") == ""
