import pytest

from pipeline.errors import ConfigError
from pipeline.feature_layers import FeatureLayers


def test_default_layers_in_both_conventions() -> None:
    layers = FeatureLayers.default(61)
    assert layers.hidden_states == (2, 30, 58)
    assert layers.sglang == (1, 29, 57)
    assert FeatureLayers.from_sglang((1, 29, 57)) == layers


def test_shallow_target_needs_named_layers() -> None:
    with pytest.raises(ConfigError, match="too shallow"):
        FeatureLayers.default(5)


@pytest.mark.parametrize("layers", [(), (0, 1, 2), (3, 2), (2, 2)])
def test_impossible_layers_are_refused(layers: tuple[int, ...]) -> None:
    with pytest.raises(ConfigError, match="ascending"):
        FeatureLayers(layers)
