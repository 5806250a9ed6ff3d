from pipeline.training.config import TrainConfig
from pipeline.training.presets import two_cores


def test_preset_fits_the_config_and_drafts_as_deep_as_it_trains() -> None:
    config = TrainConfig(project="p", target="t", checkpoints="c", hidden=("h",), **two_cores(minutes=4))
    assert config.max_minutes == 4
    assert config.evaluation.draft_steps == config.objective.steps
