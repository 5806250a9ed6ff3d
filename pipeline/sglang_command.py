"""How SGLang is told to serve a target with its drafter."""

import shlex

from pipeline.draft_shape import DraftShape


def launch_command(*, target: str, drafter: str, shape: DraftShape) -> str:
    """A shell command over several lines, its arguments quoted."""
    flags = {
        "model-path": target,
        "speculative-algorithm": "EAGLE3",
        "speculative-draft-model-path": drafter,
        "speculative-num-steps": str(shape.steps),
        "speculative-eagle-topk": str(shape.topk),
        "speculative-num-draft-tokens": str(shape.draft_tokens),
    }
    return " \\\n    ".join(
        ["python -m sglang.launch_server", *(f"--{name} {shlex.quote(value)}" for name, value in flags.items())]
    )
