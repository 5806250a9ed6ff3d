"""Training settings that people start from."""

from eagle3web.domain.presets import PRESETS


def test_with_changes_keeps_what_is_not_named() -> None:
    preset = PRESETS["cpu"]
    assert preset.with_changes() == dict(preset.config)


def test_with_changes_reaches_into_objective_and_optimizer() -> None:
    found = PRESETS["cpu"].with_changes(steps=2, learning_rate=3e-4, epochs=1)
    assert found["objective"] == {"steps": 2, "one_step_share": 0.3}
    assert found["optimizer"] == {"learning_rate": 3e-4}
    assert found["epochs"] == 1


def test_with_changes_leaves_the_preset_alone() -> None:
    PRESETS["gpu"].with_changes(steps=1, max_minutes=1.0)
    assert PRESETS["gpu"].config["objective"] == {"steps": 7}
    assert PRESETS["gpu"].config["max_minutes"] == 0.0
