"""Which hidden states of the target feed the drafter, in both conventions that are in use."""

from dataclasses import dataclass

from pipeline.errors import ConfigError


@dataclass(frozen=True)
class FeatureLayers:
    """Low, middle and high feature, counted as transformers does: `hidden_states[i]` is the INPUT of decoder layer i."""

    hidden_states: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.hidden_states or min(self.hidden_states) < 1 or sorted(set(self.hidden_states)) != list(self.hidden_states):
            raise ConfigError(f"feature layers must be ascending numbers from 1 on, not {list(self.hidden_states)}")

    @property
    def sglang(self) -> tuple[int, ...]:
        """The same layers as SGLang's `eagle_aux_hidden_state_layer_ids`, which counts layer OUTPUTS."""
        return tuple(i - 1 for i in self.hidden_states)

    @classmethod
    def from_sglang(cls, layer_ids: tuple[int, ...]) -> "FeatureLayers":
        return cls(tuple(i + 1 for i in layer_ids))

    @classmethod
    def default(cls, num_hidden_layers: int) -> "FeatureLayers":
        """2, L//2 and L−3. Raises ConfigError for a target with too few layers to keep the three apart."""
        layers = (2, num_hidden_layers // 2, num_hidden_layers - 3)
        if sorted(set(layers)) != list(layers):
            raise ConfigError(
                f"a target of {num_hidden_layers} layers is too shallow for features at 2, L//2 and L-3: name them"
            )
        return cls(layers)
