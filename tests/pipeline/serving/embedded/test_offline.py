"""Speculative decoding as a whole: the tokens are the target's own, whatever is guessed, alone and together."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from pipeline.draft_shape import DraftShape
from pipeline.errors import BadRequestError, ConfigError
from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.draft_loading import checkpoint_source, lookup_source
from pipeline.serving.embedded.job import Job
from pipeline.serving.embedded.loading import LoadedModel, LoadOptions, load
from pipeline.serving.embedded.offline import Decoded, decode
from pipeline.serving.embedded.runner import HiddenStates
from tests.support.tiny_drafter import tiny
from tests.support.tiny_model import VOCAB_SIZE
from tests.support.tiny_speculation import save_tiny_drafter, tiny_drafter_for

NEW_TOKENS = 40
PROMPTS = [random.Random(n).choices(range(3, VOCAB_SIZE), k=1 + 7 * n) for n in range(12)]
CHAIN = DraftShape(steps=3, topk=1, draft_tokens=4)
SINGLE = DraftShape(steps=1, topk=1, draft_tokens=2)
SHAPES = [CHAIN, SINGLE, DraftShape(steps=3, topk=3, draft_tokens=8), replace(CHAIN, confidence=0.02)]


@pytest.fixture(scope="module")
def loaded(deep_folder: Path) -> LoadedModel:
    return load(LoadOptions(model=deep_folder, dtype="float32", device="cpu", threads=1, slots=8, context_length=None))


@pytest.fixture(scope="module")
def plain(loaded: LoadedModel) -> list[Decoded]:
    return decode(loaded.runner, None, PROMPTS, max_new_tokens=NEW_TOKENS)


def tokens(decoded: list[Decoded]) -> list[tuple[int, ...]]:
    return [answer.tokens for answer in decoded]


def test_plain_decoding_drafts_nothing(plain: list[Decoded]) -> None:
    assert {(len(answer.tokens), answer.verify_ct, answer.depths) for answer in plain} == {(NEW_TOKENS, 0, (0,) * NEW_TOKENS)}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_drafts_of_a_drafter_change_no_token(
    loaded: LoadedModel, plain: list[Decoded], deep_folder: Path, shape: DraftShape
) -> None:
    drafter = tiny_drafter_for(deep_folder)
    together = decode(loaded.runner, drafter, PROMPTS, max_new_tokens=NEW_TOKENS, shape=shape)
    assert tokens(together) == tokens(plain)
    alone = [decode(loaded.runner, drafter, [ids], max_new_tokens=NEW_TOKENS, shape=shape)[0] for ids in PROMPTS[:3]]
    assert tokens(alone) == tokens(plain)[:3]
    assert sum(answer.verify_ct for answer in together) < sum(len(answer.tokens) for answer in together)


@pytest.mark.parametrize(("confidence", "like"), [(1e-9, CHAIN), (0.999, SINGLE)])
@pytest.mark.slow
def test_a_chain_ends_where_the_drafter_trusts_it_no_longer(
    loaded: LoadedModel, deep_folder: Path, confidence: float, like: DraftShape
) -> None:
    drafter = tiny_drafter_for(deep_folder)
    shape = replace(CHAIN, confidence=confidence)
    found = decode(loaded.runner, drafter, PROMPTS, max_new_tokens=NEW_TOKENS, shape=shape)
    assert found == decode(loaded.runner, drafter, PROMPTS, max_new_tokens=NEW_TOKENS, shape=like)


def test_lookup_changes_no_token(loaded: LoadedModel, plain: list[Decoded]) -> None:
    prompts = [[*ids, *answer.tokens[:20], 5, *ids[:3]] for ids, answer in zip(PROMPTS, plain, strict=True)]
    expected = decode(loaded.runner, None, prompts, max_new_tokens=NEW_TOKENS)
    found = decode(loaded.runner, lookup_source(loaded.runner, CHAIN), prompts, max_new_tokens=NEW_TOKENS)
    assert tokens(found) == tokens(expected)
    assert sum(answer.verify_ct for answer in found) < sum(len(answer.tokens) for answer in found)


def test_counts_add_up(loaded: LoadedModel, deep_folder: Path) -> None:
    for answer in decode(loaded.runner, tiny_drafter_for(deep_folder), PROMPTS, max_new_tokens=NEW_TOKENS, shape=CHAIN):
        assert sum(answer.correct_drafts) == answer.verify_ct
        right = sum(count * times for count, times in enumerate(answer.correct_drafts))
        assert right == sum(depth > 0 for depth in answer.depths)
        own = len(answer.tokens) - right
        # The first token comes from the prompt's forward, and the last verification may end on a guess.
        assert own - 1 <= answer.verify_ct <= own
        assert answer.depths[0] == 0


class Oracle:
    """Guesses three tokens of answers that it knows."""

    feature_layers: tuple[int, ...] = ()

    def __init__(self, answers: Sequence[Decoded]) -> None:
        self._answers = [answer.tokens for answer in answers]

    def read(self, slot: int, tokens: Sequence[int], states: HiddenStates | None) -> None: ...
    def move(self, source: int, target: int) -> None: ...
    def clear(self, slot: int) -> None: ...

    def propose(self, jobs: Sequence[Job]) -> list[Draft]:
        starts = [len(job.output_ids) - 1 for job in jobs]
        return [Draft(self._answers[int(job.rid)][at : at + 4]) for job, at in zip(jobs, starts, strict=True)]


def test_right_guesses_are_all_taken(loaded: LoadedModel, plain: list[Decoded]) -> None:
    found = decode(loaded.runner, Oracle(plain), PROMPTS, max_new_tokens=NEW_TOKENS)
    assert tokens(found) == tokens(plain)
    # The prompt's own token, then verifications of three guesses and one token of the target's.
    assert {answer.correct_drafts for answer in found} == {(0, 0, 1, 9)}
    assert {answer.depths for answer in found} == {(0, *(1, 2, 3, 0) * 9, 1, 2, 0)}


def test_a_stop_token_inside_a_draft_cuts_the_answer(loaded: LoadedModel, plain: list[Decoded]) -> None:
    for place in (1, 2, 3, 6):
        stops = {answer.tokens[place] for answer in plain}
        found = decode(loaded.runner, Oracle(plain), PROMPTS, max_new_tokens=NEW_TOKENS, stop_ids=stops)
        for answer, whole in zip(found, plain, strict=True):
            end = next(at for at, token in enumerate(whole.tokens) if token in stops)
            assert answer.tokens == whole.tokens[: end + 1]
            assert answer.depths == (0, *(1, 2, 3, 0) * 10)[: end + 1]


@pytest.mark.parametrize("new_tokens", [1, 2, 3, 5])
def test_short_answers_end_where_they_must(
    loaded: LoadedModel, plain: list[Decoded], deep_folder: Path, new_tokens: int
) -> None:
    found = decode(loaded.runner, tiny_drafter_for(deep_folder), PROMPTS, max_new_tokens=new_tokens, shape=CHAIN)
    assert tokens(found) == [answer.tokens[:new_tokens] for answer in plain]


def test_an_answer_may_fill_the_context(deep_folder: Path) -> None:
    context = 60
    options = LoadOptions(model=deep_folder, dtype="float32", device="cpu", threads=1, slots=2, context_length=context)
    runner, prompts = load(options).runner, [PROMPTS[0], PROMPTS[5]]
    longest = context - len(prompts[1])
    expected = decode(runner, None, prompts, max_new_tokens=longest)
    for shape in SHAPES:
        found = decode(runner, tiny_drafter_for(deep_folder), prompts, max_new_tokens=longest, shape=shape)
        assert tokens(found) == tokens(expected)
    found = decode(runner, lookup_source(runner, replace(CHAIN, draft_tokens=9)), prompts, max_new_tokens=longest)
    assert tokens(found) == tokens(expected)
    with pytest.raises(BadRequestError, match="exceeds the model's context length"):
        decode(runner, None, prompts, max_new_tokens=longest + 1)


def test_a_checkpoint_drafts_as_the_module_it_was_saved_from(loaded: LoadedModel, deep_folder: Path, tmp_path: Path) -> None:
    source = checkpoint_source(save_tiny_drafter(deep_folder, tmp_path / "step-1"), loaded.runner, CHAIN)
    found = decode(loaded.runner, source, PROMPTS, max_new_tokens=NEW_TOKENS)
    assert found == decode(loaded.runner, tiny_drafter_for(deep_folder), PROMPTS, max_new_tokens=NEW_TOKENS, shape=CHAIN)


def test_a_drafter_of_another_target_is_refused(loaded: LoadedModel) -> None:
    other = tiny(dtype=torch.float32).drafter
    with pytest.raises(ConfigError, match="a vocabulary of 50 and a hidden size of 24, this one has 300 and 32"):
        decode(loaded.runner, other, PROMPTS, max_new_tokens=4)
