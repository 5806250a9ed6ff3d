from array import array
from dataclasses import replace
from pathlib import Path

import torch

from pipeline.extraction.answers import Answer
from pipeline.extraction.tally import Tally
from pipeline.shards import StoredDocument
from tests.support.extraction import random_answer
from tests.support.tiny_drafter import document


def answers(count: int) -> list[Answer]:
    made = []
    for n in range(count):
        record = random_answer(n)
        ids = array("i", record.prompt_ids + record.output_ids)
        made.append(Answer(dataset="B1", name=record.key, ids=ids, prompt_tokens=len(record.prompt_ids)))
    return made


def test_counts_go_on_from_what_earlier_attempts_left() -> None:
    wanted = answers(4)
    stored = StoredDocument(
        shard=Path("s"), start=0, tokens=wanted[0].tokens, supervised=10, dataset="B1", name=wanted[0].name, agreed=9
    )
    tally = Tally(wanted, [stored], skipped=2, token_bytes=100)
    total = sum(answer.tokens for answer in wanted)
    before = tally.progress()
    assert (before.documents, before.total, before.skipped) == (1, 4, 2)
    assert (before.tokens, before.total_tokens, before.total_bytes) == (stored.tokens, total, 100 * total)
    assert (before.tokens_per_s, before.eta_s) == (0.0, None)
    tally.start()
    found = document(10, (4, 10), seed=1)
    best = torch.full((10,), -1)
    best[3:9] = found.token_ids[4:10]
    best[3] += 1
    tally.add(replace(found, dataset="B1", argmax=best))
    after = tally.progress()
    assert (after.documents, after.agreed, after.compared) == (2, 9 + 5, 10 + 6)
    assert after.tokens_per_s > 0
    assert tally.shares() == {"B1": 14 / 16}


def test_answer_that_turns_out_unusable_is_no_longer_expected() -> None:
    wanted = answers(2)
    tally = Tally(wanted, [], skipped=0, token_bytes=1)
    tally.skip(wanted[0].tokens)
    told = tally.progress()
    assert (told.total, told.skipped, told.total_tokens) == (1, 1, wanted[1].tokens)
