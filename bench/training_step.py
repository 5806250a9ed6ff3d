"""A training step against a straightforward implementation and against the matrix products that it cannot avoid.

    python bench/training_step.py [--repeats N] [--threads N] [--dtype NAME]

Hidden 576, intermediate 1536, 9 heads on 3 key heads, vocabulary 49152, draft vocabulary 8192, 4 documents of 512 tokens, 7
steps. Every variant runs in a process of its own, so that its peak of resident memory is its own; the variants take turns,
so that a noisy machine disturbs all of them alike, and the fastest repetition of each counts.
"""

import argparse
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.reference_full_vocab import loss as reference_loss
from pipeline.batching import Document, build_batch
from pipeline.drafter_config import DrafterConfig
from pipeline.feature_layers import FeatureLayers
from pipeline.loss import TrainingTimeTest
from pipeline.model import Drafter
from pipeline.rope import RopeConfig
from pipeline.teacher import Teacher
from pipeline.vocab import DraftVocabulary

DOCUMENTS, TOKENS, STEPS = 4, 512, 7
CONFIG = DrafterConfig(
    hidden_size=576, intermediate_size=1536, num_attention_heads=9, num_key_value_heads=3, head_dim=64, vocab_size=49152,
    draft_vocab_size=8192, max_position_embeddings=8192, rms_norm_eps=1e-5, rope=RopeConfig(100_000.0),
    feature_layers=FeatureLayers((2, 15, 27)),
)  # fmt: skip
VARIANTS = ("floor", "eagle3web", "reference")
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def products(dtype: torch.dtype) -> Callable[[], float]:
    """The products of a step and nothing else: three for each use of a trained weight, one for a frozen one."""
    rows, labels, c = DOCUMENTS * (TOKENS - 1), DOCUMENTS * (TOKENS - 2), CONFIG
    hidden, inner, keys = c.hidden_size, c.intermediate_size, c.num_key_value_heads * c.head_dim
    trained = [
        (rows, 3 * hidden, hidden, 1),
        (rows, 2 * hidden, hidden + 2 * keys, STEPS),
        (rows, hidden, hidden, STEPS),
        (rows, hidden, 2 * inner, STEPS),
        (rows, inner, hidden, STEPS),
        (labels, hidden, c.draft_vocab_size, STEPS),
    ]
    frozen = [(labels, hidden, c.vocab_size, 1), (labels, hidden, c.draft_vocab_size, 1)]
    made: dict[tuple[int, ...], Tensor] = {}

    def matrix(*shape: int) -> Tensor:
        if shape not in made:
            made[shape] = torch.randn(*shape, dtype=dtype)
        return made[shape]

    heads, group = c.num_key_value_heads, c.num_attention_heads // c.num_key_value_heads
    triangle = (TOKENS - 1) // 2  # on average a causal row sees half of the keys

    def attention() -> None:
        """Forward: scores and mix. Backward: scores again, and four for the gradients of values, weights, queries and keys."""
        q, k = matrix(DOCUMENTS * heads, group * (TOKENS - 1), c.head_dim), matrix(DOCUMENTS * heads, triangle, c.head_dim)
        scores = torch.bmm(q, k.mT)
        for _ in range(2):
            torch.bmm(q, k.mT)
            torch.bmm(scores, k)
            torch.bmm(scores.mT, q)

    def run() -> float:
        for m, k, n, times in trained:
            for _ in range(times):
                out = matrix(m, k) @ matrix(n, k).T
                out @ matrix(n, k)
                out.T @ matrix(m, k)
        for m, k, n, times in frozen:
            for _ in range(times):
                for part in torch.split(matrix(m, k), 256):
                    part @ matrix(n, k).T
        for _ in range(STEPS):
            attention()
        return 0.0

    return run


def inputs() -> tuple[Drafter, Tensor, list[Document]]:
    torch.manual_seed(0)
    ids = torch.randperm(CONFIG.vocab_size)[: CONFIG.draft_vocab_size].sort().values
    head = torch.randn(CONFIG.vocab_size, CONFIG.hidden_size) * 0.05
    drafter = Drafter(CONFIG, DraftVocabulary(ids, CONFIG.vocab_size), torch.randn(CONFIG.vocab_size, CONFIG.hidden_size))
    documents = []
    for _ in range(DOCUMENTS):
        # States that point at tokens of the draft vocabulary, nine in ten times, as coverage is in practice.
        aim = torch.where(torch.rand(TOKENS) < 0.9, ids[torch.randint(len(ids), (TOKENS,))], torch.randint(49152, (TOKENS,)))
        documents.append(
            Document(
                token_ids=torch.randint(CONFIG.vocab_size, (TOKENS,)),
                loss_mask=torch.ones(TOKENS, dtype=torch.bool),
                features=torch.randn(TOKENS, 3 * CONFIG.hidden_size),
                last_hidden=head[aim] * 8 + torch.randn(TOKENS, CONFIG.hidden_size) * 0.1,
            )
        )
    return drafter, head, documents


def ours(dtype: torch.dtype) -> Callable[[], float]:
    drafter, head, documents = inputs()
    teacher = Teacher(head.to(dtype), drafter.vocabulary)
    test = TrainingTimeTest(drafter, teacher)
    batch = build_batch(documents, steps=STEPS)
    del head, documents

    def run() -> float:
        drafter.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
            result = test(batch, teacher.targets(batch))
        torch.autograd.backward(result.loss)
        return float(result.loss.detach())

    return run


def reference(dtype: torch.dtype) -> Callable[[], float]:
    drafter, head, documents = inputs()
    head = head.to(dtype)
    ids = torch.stack([d.token_ids for d in documents])
    features = torch.stack([d.features for d in documents])
    last = torch.stack([d.last_hidden for d in documents]).to(dtype)
    del documents

    def run() -> float:
        drafter.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
            value = reference_loss(drafter, head, ids, features, last, steps=STEPS)
        torch.autograd.backward(value)
        return float(value.detach())

    return run


def worker(pipe: Connection, variant: str, dtype: torch.dtype, threads: int) -> None:
    torch.set_num_threads(threads)
    run = {"floor": products, "eagle3web": ours, "reference": reference}[variant](dtype)
    before = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    while pipe.recv():
        start = time.perf_counter()
        value = run()
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        pipe.send((seconds, peak, peak - before, value))


def measure(dtype: str, repeats: int, threads: int) -> dict[str, dict[str, float]]:
    # Memory that a step frees is kept for the next one, in all variants: handing it back costs a page fault for every 4 KB.
    os.environ |= {"MALLOC_TRIM_THRESHOLD_": str(1 << 34), "MALLOC_MMAP_THRESHOLD_": str(1 << 34)}
    context = multiprocessing.get_context("spawn")
    pipes: dict[str, Connection] = {}
    processes = []
    for variant in VARIANTS:
        pipes[variant], child = context.Pipe()
        processes.append(context.Process(target=worker, args=(child, variant, DTYPES[dtype], threads)))
        processes[-1].start()
    best = {variant: {"seconds": float("inf")} for variant in VARIANTS}
    for _ in range(repeats + 1):
        for variant, pipe in pipes.items():
            pipe.send(True)
            seconds, peak, step, value = pipe.recv()
            row = best[variant]
            row |= {"seconds": min(row["seconds"], seconds)}
            row |= {"peak_gb": peak / 1e9, "step_gb": step / 1e9, "loss": value}
    for pipe in pipes.values():
        pipe.send(False)
    for process in processes:
        process.join(30)
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dtype", choices=sorted(DTYPES), action="append", help="once or more; default both")
    options = parser.parse_args()
    results = {dtype: measure(dtype, options.repeats, options.threads) for dtype in options.dtype or DTYPES}
    labels = DOCUMENTS * TOKENS
    columns = ("s/step", "tokens/s", "× floor", "× reference", "process GB", "step GB", "loss")
    print(" " * 21 + " ".join(f"{column:>11}" for column in columns))
    for dtype, rows in results.items():
        for variant, row in rows.items():
            s = row["seconds"]
            against = rows["reference"]["seconds"] / s
            cells = (s, labels / s, s / rows["floor"]["seconds"], against, row["peak_gb"], row["step_gb"], row["loss"])
            print(f"{dtype:10} {variant:10} " + " ".join(f"{cell:11.2f}" for cell in cells))
    return 0


if __name__ == "__main__":
    sys.exit(main())
