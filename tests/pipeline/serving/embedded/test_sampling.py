"""Which tokens stay, and how often each is drawn."""

from collections import Counter

import pytest
import torch

from pipeline.serving.embedded.job import Job, new_job
from pipeline.serving.embedded.requests import SamplingParams
from pipeline.serving.embedded.sampling import choose, least_probability

PROBABILITIES = torch.tensor([0.05, 0.4, 0.1, 0.3, 0.15])


def job_with(**params: object) -> Job:
    return new_job("r", (1,), SamplingParams.model_validate(params), frozenset())


def drawn(logits: torch.Tensor, job: Job) -> int:
    return choose(logits, job, int(logits.argmax()))


def draws(count: int, **params: object) -> Counter[int]:
    job = job_with(sampling_seed=5, **params)
    logits = PROBABILITIES.log()
    return Counter(drawn(logits, job) for _ in range(count))


def test_greedy_takes_the_likeliest() -> None:
    assert draws(5, temperature=0) == {1: 5}


def test_temperature_one_draws_by_probability() -> None:
    found = draws(4000)
    for token, probability in enumerate(PROBABILITIES.tolist()):
        assert abs(found[token] / 4000 - probability) < 0.025


@pytest.mark.parametrize(
    ("params", "kept"),
    [
        ({"top_k": 2}, {1, 3}),
        ({"top_p": 0.69}, {1, 3}),
        ({"top_p": 0.71}, {1, 3, 4}),
        ({"top_p": 0.01}, {1}),
        ({"min_p": 0.35}, {1, 3, 4}),
        ({"top_k": 3, "top_p": 0.5, "min_p": 0.0}, {1, 3}),
        ({"top_k": 50}, {0, 1, 2, 3, 4}),
    ],
)
def test_only_likely_tokens_are_kept(params: dict[str, object], kept: set[int]) -> None:
    least = least_probability(PROBABILITIES, SamplingParams.model_validate(params))
    assert set((least <= PROBABILITIES).nonzero()[:, 0].tolist()) == kept
    assert set(draws(300, **params)) == kept


def test_the_nucleus_of_a_flat_distribution_is_found_beyond_the_cheap_search() -> None:
    peaked = torch.cat((torch.tensor([0.5]), torch.full((50_000,), 0.5 / 50_000)))
    least = least_probability(peaked, SamplingParams(top_p=0.75))
    assert least == pytest.approx(1e-5)


def test_equal_seeds_give_equal_tokens() -> None:
    logits = torch.randn(1000, generator=torch.Generator().manual_seed(0))
    first, second, other = (job_with(sampling_seed=seed) for seed in (1, 1, 2))
    assert [drawn(logits, first) for _ in range(5)] == [drawn(logits, second) for _ in range(5)]
    assert drawn(logits, other) != drawn(logits, first)


def test_a_job_without_a_seed_is_random() -> None:
    logits = torch.zeros(100_000)
    assert drawn(logits, job_with()) != drawn(logits, job_with())
