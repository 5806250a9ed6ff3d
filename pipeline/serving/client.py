"""The client of one inference server: `connect` picks the protocol. Retries belong to `pipeline.serving.pool`."""

from pipeline.config import EngineRef
from pipeline.serving.base import EngineClient, validate_ids
from pipeline.serving.completions import CompletionsClient
from pipeline.serving.records import Answer, EngineHealth, EngineLoads, ModelInfo, Partial
from pipeline.serving.sglang import SglangClient

__all__ = ["Answer", "EngineClient", "EngineHealth", "EngineLoads", "ModelInfo", "Partial", "connect", "validate_ids"]

PROTOCOLS: dict[str, type[EngineClient]] = {"sglang": SglangClient, "openai": CompletionsClient}


def connect(ref: EngineRef, *, timeout_s: float, vocab_size: int | None = None, probe_timeout_s: float = 15.0) -> EngineClient:
    """A client for this engine. Nothing is sent yet: `await client.model_info()` asks what it serves.

    `timeout_s` bounds one answer, `probe_timeout_s` the one token of a probe; prompts are checked against `vocab_size`.
    """
    return PROTOCOLS[ref.protocol](ref, timeout_s=timeout_s, vocab_size=vocab_size, probe_timeout_s=probe_timeout_s)
