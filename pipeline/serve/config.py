"""The frozen config of a serve run: one SGLang server, how it is started, watched and ended."""

from dataclasses import dataclass, field
from typing import Any, Literal

from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError
from pipeline.serve.extra import checked

Speculation = Literal["none", "drafter", "lookup"]
"""Plain decoding, EAGLE-3 with a drafter, or SGLang's NGRAM, which only GPUs have."""


@dataclass(frozen=True, kw_only=True)
class RestartPolicy:
    """What happens when the server ends by itself, or hangs."""

    when: Literal["never", "on-failure"] = "on-failure"
    most: int = 5
    """Failures in a row after which the run fails."""
    first_s: float = 2.0
    """Pause before the first restart; doubled with each failure in a row."""
    longest_s: float = 300.0
    steady_s: float = 600.0
    """A server that was ready for so long has no failures behind it."""

    def __post_init__(self) -> None:
        if self.most < 0 or self.first_s < 0 or self.longest_s < self.first_s or self.steady_s < 0:
            raise ConfigError("restart: numbers are not negative, and the longest pause is not below the first")


@dataclass(frozen=True, kw_only=True)
class ServeConfig:
    """`python -m pipeline serve`. None and "auto" leave a choice to SGLang."""

    project: str
    target: str
    """Folder of the transformers model."""
    engine: str = ""
    """Name under which the dashboard's runs choose it; empty takes the run's."""
    drafter: str = ""
    """Checkpoint folder."""
    drafter_name: str = ""
    """What the drafter is called on pages: run and step."""
    speculation: Speculation = "none"
    shape: DraftShape = field(default_factory=DraftShape)
    states: str = ""
    """Folder in which the server leaves the hidden states of prompts, for extraction; it then does not draft."""
    feature_layers: tuple[int, ...] = ()
    """Whose states those are, as transformers counts `hidden_states`; empty takes 2, L//2 and L−3."""
    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 for all of the machine's."""
    reached_as: str = ""
    """Host name by which others reach it; empty takes `host`, or the machine's own name where that is 0.0.0.0."""
    port: int = 30000
    """0 takes a free one."""
    device: Literal["auto", "cuda", "cpu"] = "auto"
    devices: tuple[str, ...] = ()
    """GPUs that it may use, such as cuda:0; empty leaves it all that the environment shows."""
    tensor_parallel: int = 1
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = "auto"
    kv_cache_dtype: Literal["auto", "bfloat16", "fp8_e4m3", "fp8_e5m2"] = "auto"
    memory_fraction: float | None = None
    """Of the device's memory, for weights and KV cache."""
    context_length: int | None = None
    max_running: int | None = None
    max_queued: int | None = None
    """Requests that may wait; any more are refused with 503."""
    max_total_tokens: int | None = None
    """Size of the KV cache."""
    hierarchical_cache: bool = False
    """KV cache in the host's memory behind the device's."""
    hierarchical_ratio: float | None = None
    """Its size over the device's."""
    trust_remote_code: bool = False
    """Whether SGLang may run code that the model's folder brings; on a dashboard the project decides."""
    extra: dict[str, Any] = field(default_factory=dict)
    """More of SGLang's arguments, of those in pipeline.serve.extra."""
    python: str = ""
    """Interpreter of SGLang's environment; empty: EAGLE3_SGLANG_PYTHON, or .venv-sglang of this checkout."""
    restart: RestartPolicy = field(default_factory=RestartPolicy)
    ready_s: float = 3600.0
    """Longest start: large models load for many minutes."""
    hang_s: float = 60.0
    """A server that generates nothing for so long, though asked, hangs."""
    drain_s: float = 30.0
    """How long requests may go on once it is to end."""

    def __post_init__(self) -> None:
        self._check_speculation()
        if not 0 <= self.port < 65536:
            raise ConfigError(f"port {self.port}: a port is at most 65535, and 0 takes a free one")
        if not self.host or not set(self.host) <= _HOST_LETTERS or not set(self.reached_as) <= _HOST_LETTERS:
            raise ConfigError("host: write an address or a name, such as 127.0.0.1 or gpu-07")
        if self.tensor_parallel < 1 or (self.devices and len(self.devices) % self.tensor_parallel):
            raise ConfigError(f"tensor parallel {self.tensor_parallel} does not divide {len(self.devices)} devices")
        if self.memory_fraction is not None and not 0 < self.memory_fraction < 1:
            raise ConfigError(f"memory fraction {self.memory_fraction}: above 0, and below 1")
        for name in ("context_length", "max_running", "max_queued", "max_total_tokens", "hierarchical_ratio"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ConfigError(f"{name.replace('_', ' ')} {value}: it is above 0, or left out")
        if min(self.ready_s, self.hang_s) <= 0 or self.drain_s < 0:
            raise ConfigError("ready_s and hang_s are above 0 s, and drain_s is not below")
        checked(self.extra)

    def _check_speculation(self) -> None:
        if (self.speculation == "drafter") != bool(self.drafter):
            raise ConfigError(f"speculation is {self.speculation}: a drafter goes with speculation “drafter”, and only with it")
        if self.states and self.speculation != "none":
            raise ConfigError("a server that leaves hidden states does not draft: leave out one of the two")
        if self.shape.confidence:
            raise ConfigError(f"draft shape {self.shape}: the confidence is the embedded engine's own")


_HOST_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:")
