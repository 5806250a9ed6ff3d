"""What a field that is left empty means."""

from eagle3web.pages.presets import preset_rows


def test_rows_name_the_presets_first_and_then_their_values() -> None:
    rows = dict(preset_rows())
    assert rows[""] == ["GPU", "CPU, minutes"]
    assert rows["Draft vocabulary"] == ["32 000", "4 096"]
    assert rows["Minutes at most"] == ["no limit", "8"]
    assert rows["Learning rate"] == ["0.0001", "0.0015"]
