from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError
from pipeline.serve.command import INTERPRETER, interpreter, server_command, server_environment, version_key
from pipeline.serve.config import ServeConfig

CONFIG = ServeConfig(project="p", target="models/big")
DRAFTING = replace(CONFIG, drafter="ckpt", speculation="drafter", shape=DraftShape(steps=5, topk=4, draft_tokens=16))


def words(config: ServeConfig, *, device: str = "cuda", version: str = "0.5.23") -> list[str]:
    return server_command(config, python="py", port=30001, device=device, version=version)


def test_what_is_left_to_sglang_is_not_said() -> None:
    assert words(CONFIG) == [
        *("py", "-m", "sglang.launch_server", "--model-path", "models/big", "--host", "127.0.0.1", "--port", "30001"),
        *("--device", "cuda", "--enable-metrics"),
    ]


def test_every_choice_becomes_an_argument() -> None:
    config = replace(
        CONFIG, host="::1", tensor_parallel=8, dtype="bfloat16", kv_cache_dtype="fp8_e4m3", memory_fraction=0.85,
        context_length=32768, max_running=64, max_queued=256, max_total_tokens=500_000, hierarchical_cache=True,
        hierarchical_ratio=2.0, extra={"page-size": 16, "disable-radix-cache": True},
    )  # fmt: skip
    assert words(config)[7:] == [
        *("--port", "30001", "--device", "cuda", "--tp-size", "8", "--dtype", "bfloat16", "--kv-cache-dtype", "fp8_e4m3"),
        *("--mem-fraction-static", "0.85", "--context-length", "32768", "--max-running-requests", "64"),
        *(
            "--max-queued-requests",
            "256",
            "--max-total-tokens",
            "500000",
            "--enable-hierarchical-cache",
            "--hicache-ratio",
            "2.0",
        ),
        *("--enable-metrics", "--page-size", "16", "--disable-radix-cache"),
    ]


def test_models_code_is_run_only_where_it_is_trusted() -> None:
    assert words(replace(CONFIG, trust_remote_code=True))[-1] == "--trust-remote-code"


def test_drafter_and_lookup_are_named_as_sglang_names_them() -> None:
    assert words(DRAFTING)[-10:] == [
        *("--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", "ckpt", "--speculative-num-steps", "5"),
        *("--speculative-eagle-topk", "4", "--speculative-num-draft-tokens", "16"),
    ]
    lookup = replace(CONFIG, speculation="lookup")
    assert words(lookup)[-4:] == ["--speculative-algorithm", "NGRAM", "--speculative-num-draft-tokens", "4"]


def test_version_that_does_not_know_eagle3_is_refused() -> None:
    assert words(DRAFTING, version="0.4.5.post1")
    with pytest.raises(ConfigError, match=r"SGLang 0\.4\.4 does not know EAGLE3"):
        words(DRAFTING, version="0.4.4")


def test_server_that_leaves_states_captures_layers_and_reads_prompts_whole(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"num_hidden_layers": 30}')
    config = replace(CONFIG, target=str(tmp_path), states="/states")
    assert words(config)[-12:] == [
        *("--speculative-algorithm", "EAGLE3", "--enable-return-aux-hidden-states"),
        *("--return-aux-hidden-state-layer-ids", "1", "14", "26"),
        *("--disable-radix-cache", "--chunked-prefill-size", "-1", "--max-prefill-tokens", "4096"),
    ]
    assert words(replace(config, feature_layers=(3, 9)))[-8:-5] == ["--return-aux-hidden-state-layer-ids", "2", "8"]
    found = server_environment(config, device="cuda", inherited={"PYTHONPATH": "/before"})
    assert found["EAGLE3_STATES"] == "/states"
    plugin, before = found["PYTHONPATH"].split(":")
    assert (Path(plugin) / "eagle3_states.py").exists()
    assert before == "/before"
    with pytest.raises(ConfigError, match=r"SGLang 0\.5\.22 does not capture hidden states"):
        words(config, version="0.5.22")
    with pytest.raises(ConfigError, match="does not draft"):
        replace(DRAFTING, states="/states")


def test_cpu_has_backends_of_its_own_which_extra_arguments_change() -> None:
    found = words(replace(CONFIG, extra={"attention-backend": "torch_sdpa"}), device="cpu")
    assert found[found.index("--attention-backend") + 1] == "torch_sdpa"
    assert found[found.index("--max-total-tokens") + 1] == "16384"
    assert "--disable-cuda-graph" in found


def test_environment_shows_the_gpus_that_are_held_and_no_model_hub() -> None:
    config = replace(CONFIG, devices=("cuda:2", "cuda:5"))
    found = server_environment(config, device="cuda", inherited={"PATH": "/bin"})
    assert (found["CUDA_VISIBLE_DEVICES"], found["HF_HUB_OFFLINE"], found["PATH"]) == ("2,5", "1", "/bin")
    assert "SGLANG_USE_CPU_ENGINE" not in found
    assert server_environment(CONFIG, device="cpu", inherited={})["SGLANG_USE_CPU_ENGINE"] == "1"


def test_interpreter_is_named_by_config_then_by_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv(INTERPRETER, str(program))
    assert interpreter(CONFIG) == str(program)
    with pytest.raises(ConfigError, match="there is no SGLang here: /nowhere/python"):
        interpreter(replace(CONFIG, python="/nowhere/python"))


def test_versions_sort() -> None:
    assert version_key("0.4.5") < version_key("0.5.10.post1") < version_key("0.5.23") < version_key("nightly")
