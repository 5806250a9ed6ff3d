"""One answer of each dataset with its accepted drafts, in answers.jsonl and as events."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from pipeline.artifacts import atomic_write
from pipeline.benchmark.contenders import Contender
from pipeline.benchmark.drafted import drafted
from pipeline.benchmark.engines import REQUEST_S, Engine, Engines
from pipeline.benchmark.inputs import Inputs, Prompts
from pipeline.benchmark.prompts import Prompt
from pipeline.benchmark_rows import Row, headline
from pipeline.config import SamplingConfig
from pipeline.drafter_events import AnswerDrafted
from pipeline.errors import BadRequestError
from pipeline.responses.record import record_seed
from pipeline.serving.sglang import sampling_params

ANSWERS = "answers.jsonl"


async def draft_answers(
    folder: Path,
    engines: Engines,
    inputs: Inputs,
    prompts: Prompts,
    rows: list[Row],
    *,
    sampling: SamplingConfig,
    tell: Callable[[AnswerDrafted], None],
) -> None:
    """Ask the fastest drafter for each dataset's first prompt, and keep its answers in `folder`.

    Nothing happens with engines that do not tell which of their tokens were drafted. Raises EngineError.
    """
    contender = _shown(rows, engines)
    if contender is None:
        return
    found = []
    for chosen in prompts.values():
        answer = await _drafted(engines.of(contender), chosen[0], inputs, sampling)
        if answer is not None:
            found.append(answer)
            tell(answer)
    lines = [json.dumps(asdict(answer), separators=(",", ":")).encode() + b"\n" for answer in found]
    atomic_write(folder / ANSWERS, b"".join(lines))


def _shown(rows: list[Row], engines: Engines) -> Contender | None:
    """Whose answers are worth a look: the drafter in its fastest shape, else prompt lookup."""
    best = headline(rows, "drafter") or headline(rows, "lookup")
    if best is None:
        return None
    return next(c for c in engines.contenders if (c.mode, c.shape_name) == (best["mode"], best["shape"]))


async def _drafted(engine: Engine, prompt: Prompt, inputs: Inputs, sampling: SamplingConfig) -> AnswerDrafted | None:
    params = sampling_params(sampling, record_seed(sampling.seed, prompt.key))
    body = {"input_ids": list(prompt.ids), "sampling_params": params, "return_draft_depths": True}
    try:
        raw = await engine.transport.post("/generate", body, timeout_s=REQUEST_S)
    except BadRequestError:
        return None  # a server that does not know the question
    depths = raw["meta_info"].get("draft_depths")
    if depths is None:
        return None
    return drafted(
        prompt,
        engine.contender,
        output_ids=raw["output_ids"],
        depths=depths,
        decode=lambda ids: inputs.tokenizer.decode(ids, skip_special_tokens=False),
    )
