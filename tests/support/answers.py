"""Made-up answers for tests of what stores and reads them."""

from typing import Any

from pipeline.responses.record import Response, Scope

SCOPE = Scope(dataset="B1", revision="rev1", sampling="greedy00")


def answer(n: int, *, tokens: int = 3, scope: Scope = SCOPE, **changes: Any) -> Response:
    """The n-th answer, to a prompt with key 0000…n."""
    values: dict[str, Any] = {
        "key": f"{n:016x}",
        "id": f"row-{n}",
        "dataset": scope.dataset,
        "revision": scope.revision,
        "sampling": scope.sampling,
        "seed": n,
        "messages": ({"role": "user", "content": f"question {n}"},),
        "tools": (),
        "prompt_ids": (1, 2, n),
        "output_ids": tuple(range(tokens)),
        "text": f"answer {n}",
        "finish_reason": "stop",
        "prompt_tokens": 3,
        "completion_tokens": tokens,
        "engine": "e1",
        "latency_s": 0.5,
        "finished_at": "2026-11-30T11:24:12Z",
    }
    if changes.get("output_ids"):
        values["completion_tokens"] = len(changes["output_ids"])
    return Response(**values | changes)
