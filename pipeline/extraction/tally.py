"""The counts of an extraction: what is kept, how far it is, how much of the answers the states give back."""

import time
from collections import Counter
from collections.abc import Sequence

from pipeline.batching import Document
from pipeline.drafter_events import ExtractionProgress
from pipeline.extraction.answers import Answer
from pipeline.shards import StoredDocument, agreed

EXPECTED_SHARE = 0.95
"""Of greedy answers; rounding and other kernels than the engine's cost a percent or two, another target half."""


class Tally:
    def __init__(self, answers: Sequence[Answer], stored: Sequence[StoredDocument], *, skipped: int, token_bytes: int) -> None:
        """`stored`: what earlier attempts left of these answers."""
        self._total = len(answers)
        self._total_tokens = sum(answer.tokens for answer in answers)
        self._token_bytes = token_bytes
        self.skipped = skipped
        self.documents = len(stored)
        self.tokens = self._tokens_before = sum(document.tokens for document in stored)
        self.agreed: Counter[str] = Counter()
        """By dataset, as is `compared`."""
        self.compared: Counter[str] = Counter()
        for document in stored:
            if document.agreed is not None:
                self.agreed[document.dataset] += document.agreed
                self.compared[document.dataset] += document.supervised
        self._started = time.monotonic()

    def start(self) -> None:
        """From here on the clock counts: the target is loaded."""
        self._started = time.monotonic()

    def add(self, document: Document) -> None:
        self.documents += 1
        self.tokens += len(document.token_ids)
        self.agreed[document.dataset] += agreed(document) or 0
        self.compared[document.dataset] += int(document.loss_mask.sum())

    def skip(self, tokens: int) -> None:
        """An answer turned out to be unusable."""
        self.skipped += 1
        self._total -= 1
        self._total_tokens -= tokens

    def progress(self) -> ExtractionProgress:
        seconds = time.monotonic() - self._started
        rate = (self.tokens - self._tokens_before) / seconds if seconds > 0 else 0.0
        left = self._total_tokens - self.tokens
        return ExtractionProgress(
            documents=self.documents,
            total=self._total,
            skipped=self.skipped,
            tokens=self.tokens,
            total_tokens=self._total_tokens,
            bytes=self.tokens * self._token_bytes,
            total_bytes=self._total_tokens * self._token_bytes,
            agreed=self.agreed.total(),
            compared=self.compared.total(),
            tokens_per_s=round(rate, 1),
            eta_s=round(left / rate, 1) if rate else None,
        )

    def shares(self) -> dict[str, float]:
        """Dataset → share of its generated tokens that the states give back."""
        return {dataset: self.agreed[dataset] / count for dataset, count in self.compared.items() if count}
