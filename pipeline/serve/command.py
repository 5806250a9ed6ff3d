"""How SGLang is started: the words of its command, and its environment."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from pipeline.artifacts import read_json
from pipeline.drafter_config import text_config
from pipeline.errors import ConfigError
from pipeline.feature_layers import FeatureLayers
from pipeline.serve.config import ServeConfig
from pipeline.serve.extra import written

INTERPRETER = "EAGLE3_SGLANG_PYTHON"
"""Environment variable that names the interpreter of SGLang's environment on this host."""
CHECKOUT = Path(__file__).resolve().parent.parent.parent
FIRST_WITH_EAGLE3 = (0, 4, 5)
FIRST_WITH_CAPTURE = (0, 5, 23)
PREFILL_TOKENS = 4096
"""Of all prompts that a server reads at once for their states; it keeps memory for so many."""
PLUGIN = CHECKOUT / "pipeline" / "sglang_plugin"
CPU_ARGUMENTS = {
    "attention-backend": "torch_native",
    # SGLang falls back to torch_native where the CPU has no AMX, and drafts only through these two.
    "prefill-attention-backend": "intel_amx",
    "decode-attention-backend": "intel_amx",
    "disable-cuda-graph": True,
    "disable-overlap-schedule": True,
    "grammar-backend": "none",
    # Its warm-up waits for nothing that our probe does not ask for.
    "skip-server-warmup": True,
}
CPU_CACHE_TOKENS = 16384
"""Without a device's memory to take a fraction of, the KV cache has a size of its own."""


def interpreter(config: ServeConfig) -> str:
    """The Python that has SGLang. Raises ConfigError when there is none."""
    wanted = config.python or os.environ.get(INTERPRETER, "") or str(CHECKOUT / ".venv-sglang" / "bin" / "python")
    if shutil.which(wanted) is None:
        raise ConfigError(f"there is no SGLang here: {wanted} does not exist; run `make sglang`, or set {INTERPRETER}")
    return wanted


def server_command(config: ServeConfig, *, python: str, port: int, device: str, version: str) -> list[str]:
    """The words that start the server. Raises ConfigError for what this version of SGLang does not know."""
    values: dict[str, object] = {
        "model-path": config.target,
        "host": config.host,
        "port": port,
        "device": device,
        "tp-size": config.tensor_parallel if config.tensor_parallel > 1 else None,
        "dtype": config.dtype if config.dtype != "auto" else None,
        "kv-cache-dtype": config.kv_cache_dtype if config.kv_cache_dtype != "auto" else None,
        "mem-fraction-static": config.memory_fraction,
        "context-length": config.context_length,
        "max-running-requests": config.max_running,
        "max-queued-requests": config.max_queued,
        "max-total-tokens": config.max_total_tokens or (CPU_CACHE_TOKENS if device == "cpu" else None),
        "enable-hierarchical-cache": config.hierarchical_cache or None,
        "hicache-ratio": config.hierarchical_ratio if config.hierarchical_cache else None,
        "enable-metrics": True,
        "trust-remote-code": config.trust_remote_code or None,
    }
    values |= _speculation(config, version) | _capture(config, version)
    given = {name: value for name, value in values.items() if value is not None}
    extra = (CPU_ARGUMENTS if device == "cpu" else {}) | config.extra
    return [python, "-m", "sglang.launch_server", *written(given), *written(extra)]


def _speculation(config: ServeConfig, version: str) -> dict[str, object]:
    if config.speculation == "none":
        return {}
    if config.speculation == "lookup":
        return {"speculative-algorithm": "NGRAM", "speculative-num-draft-tokens": config.shape.draft_tokens}
    if version_key(version) < FIRST_WITH_EAGLE3:
        raise ConfigError(f"SGLang {version} does not know EAGLE3; 0.4.5 is the first that does")
    return {
        "speculative-algorithm": "EAGLE3",
        "speculative-draft-model-path": config.drafter,
        "speculative-num-steps": config.shape.steps,
        "speculative-eagle-topk": config.shape.topk,
        "speculative-num-draft-tokens": config.shape.draft_tokens,
    }


def _capture(config: ServeConfig, version: str) -> dict[str, object]:
    """Each prompt is read whole: SGLang keeps no states of what a cache has of it, nor of any piece but the last."""
    if not config.states:
        return {}
    if version_key(version) < FIRST_WITH_CAPTURE:
        raise ConfigError(f"SGLang {version} does not capture hidden states without a drafter; 0.5.23 does")
    layers = FeatureLayers(config.feature_layers) if config.feature_layers else _default_layers(Path(config.target))
    return {
        "speculative-algorithm": "EAGLE3",
        "enable-return-aux-hidden-states": True,
        "return-aux-hidden-state-layer-ids": layers.sglang,
        "disable-radix-cache": True,
        "chunked-prefill-size": -1,
        "max-prefill-tokens": PREFILL_TOKENS,
    }


def _default_layers(target: Path) -> FeatureLayers:
    depth = text_config(read_json(target / "config.json")).get("num_hidden_layers")
    if not isinstance(depth, int):
        raise ConfigError(f"{target / 'config.json'}: num_hidden_layers is missing or no whole number")
    return FeatureLayers.default(depth)


def server_environment(config: ServeConfig, *, device: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """What the server sees: our environment, no model hub, and the GPUs that it may use."""
    found = dict(inherited) | {"PYTHONUNBUFFERED": "1", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    if device == "cpu":
        found |= {"SGLANG_USE_CPU_ENGINE": "1", "TORCHDYNAMO_DISABLE": "1"}
    if config.states:
        path = os.pathsep.join(filter(None, (str(PLUGIN), found.get("PYTHONPATH"))))
        found |= {"EAGLE3_STATES": config.states, "PYTHONPATH": path}
    numbers = [name.partition(":")[2] for name in config.devices if ":" in name]
    if numbers:
        found["CUDA_VISIBLE_DEVICES"] = ",".join(numbers)
    return found


def version_key(version: str) -> tuple[int, ...]:
    """`0.5.10.post1` → (0, 5, 10), which sorts; an unknown version is held for the newest."""
    numbers = []
    for part in version.split(".")[:3]:
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers) or (999,)
