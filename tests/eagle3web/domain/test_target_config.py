from pathlib import Path

import pytest

from eagle3web.domain.target_config import target_number


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"vocab_size": 49152}', 49152),
        ('{"text_config": {"vocab_size": 32000}}', 32000),
        ('{"text_config": 3}', None),
        ('{"vocab_size": "many"}', None),
        ("[]", None),
        ("{", None),
    ],
)
def test_numbers_are_found_where_the_target_keeps_them(tmp_path: Path, text: str, found: int | None) -> None:
    (tmp_path / "config.json").write_text(text)
    assert target_number(tmp_path, "vocab_size") == found


def test_a_folder_that_is_not_here_says_nothing(tmp_path: Path) -> None:
    assert target_number(tmp_path / "away", "vocab_size") is None
