"""`python -m pipeline engine`: its flags. The engine itself loads in `run`, so that `--help` does not wait for torch."""

import argparse
import os
from pathlib import Path

from pipeline.draft_shape import DraftShape

MOST_TREE_TOKENS = 16
"""Of a verification, unless more are asked for."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the embedded engine."""
    add = parser.add_argument
    add("--model", type=Path, required=True, help="folder of a transformers model and its tokenizer")
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=int, default=30000, help="port to listen on; 0 takes a free one (default: %(default)s)")
    add("--dtype", choices=("float32", "bfloat16"), default="float32", help="of weights and cache (default: %(default)s)")
    add("--device", choices=("cpu", "cuda"), default="cpu", help="where the model runs (default: %(default)s)")
    add("--max-running", type=_positive, default=16, metavar="N", help="requests decoded at once (default: %(default)s)")
    add("--max-queued", type=_positive, metavar="N", help="requests that may wait; more get a 503 (default: no limit)")
    add("--threads", type=_positive, metavar="N", help="CPU threads of one operation (default: all cores)")
    add("--context-length", type=_positive, metavar="N", help="longest prompt + answer (default: the model's)")
    add("--capture", type=Path, metavar="FOLDER", help="keep the hidden states of answers that name their prompt")
    add("--draft-model", type=Path, metavar="PATH", help="folder of an EAGLE-3 drafter made for this model")
    add("--draft", choices=("lookup",), help="without a drafter: guess what followed the same words before (SGLang: NGRAM)")
    add(
        "--draft-steps", type=_positive, default=3, metavar="N", help="tokens that a drafter looks ahead (default: %(default)s)"
    )
    add(
        "--draft-topk",
        type=_positive,
        default=1,
        metavar="N",
        help="branches of a step; 1 drafts chains (default: %(default)s)",
    )
    add(
        "--draft-tokens",
        type=_positive,
        metavar="N",
        help="tokens that one verification reads, the newest accepted one included (default: steps + 1 for chains, else all "
        "that steps and branches give, 16 at most)",
    )
    add(
        "--draft-confidence",
        type=float,
        default=0.0,
        metavar="P",
        help="end a chain once the drafter holds it for less likely than this, 0 to 1 (default: never)",
    )
    add("--ready-file", type=Path, metavar="FILE", help='write {"url", "pid"} here once the model is loaded')


def run(args: argparse.Namespace) -> int:
    """Serve until a signal; the exit code of the process."""
    # OpenMP's threads wait for each other without spinning, which must be said before torch loads. With spinning, two threads
    # on two cores that others use too were seen at 2 tokens/s, without it at 25 to 60.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    from pipeline.serving.embedded.server import serve  # noqa: PLC0415  (torch and transformers take seconds to load)

    return serve(args)


def draft_shape(args: argparse.Namespace) -> DraftShape:
    """How far drafts look, from the flags."""
    steps, topk = args.draft_steps, args.draft_topk
    tree = min(MOST_TREE_TOKENS, 1 + topk + (steps - 1) * topk * topk)
    tokens = args.draft_tokens or (steps + 1 if topk == 1 else tree)
    return DraftShape(steps=steps, topk=topk, draft_tokens=tokens, confidence=args.draft_confidence)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return number
