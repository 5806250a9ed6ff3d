import pytest
import torch

from pipeline.errors import ConfigError, DataError
from pipeline.vocab import DraftVocabulary, build_vocabulary, count_supervised


def test_counts_take_supervised_tokens_only() -> None:
    documents = [
        (torch.tensor([5, 5, 3, 1]), torch.tensor([False, True, True, False])),
        (torch.tensor([3, 2]), torch.tensor([True, False])),
    ]
    assert count_supervised(documents, 6).tolist() == [0, 0, 0, 2, 0, 1]


def test_vocabulary_takes_the_most_frequent_and_ties_to_the_lower_id() -> None:
    counts = torch.tensor([0, 4, 2, 9, 2, 2, 0, 1])
    assert build_vocabulary(counts, 4).token_ids.tolist() == [1, 2, 3, 4]


def test_vocabulary_is_filled_with_the_lowest_unused_ids() -> None:
    counts = torch.tensor([0, 0, 0, 0, 0, 3, 0, 2])
    assert build_vocabulary(counts, 5).token_ids.tolist() == [0, 1, 2, 5, 7]


def test_mappings_point_both_ways() -> None:
    vocabulary = DraftVocabulary(torch.tensor([1, 4, 6]), 8)
    assert vocabulary.d2t.tolist() == [1, 3, 4]
    assert vocabulary.d2t.dtype == torch.int64
    assert vocabulary.t2d.tolist() == [False, True, False, False, True, False, True, False]
    assert vocabulary.draft_ids.tolist() == [-1, 0, -1, -1, 1, -1, 2, -1]


def test_mapping_of_a_checkpoint_is_reused_as_it_is() -> None:
    vocabulary = DraftVocabulary(torch.tensor([1, 4, 6]), 8)
    assert DraftVocabulary.from_d2t(vocabulary.d2t, target_size=8).token_ids.tolist() == [1, 4, 6]


def test_identity_is_refused_unless_it_is_the_whole_vocabulary() -> None:
    with pytest.raises(ConfigError, match="identity mapping of 3 out of 8"):
        DraftVocabulary(torch.tensor([0, 1, 2]), 8)
    assert DraftVocabulary(torch.arange(8), 8).d2t.tolist() == [0] * 8


@pytest.mark.parametrize("ids", [[], [1, 1, 3], [3, 1], [-1, 4], [1, 8], list(range(1, 10))])
def test_impossible_ids_are_refused(ids: list[int]) -> None:
    with pytest.raises(ConfigError, match="draft vocabulary"):
        DraftVocabulary(torch.tensor(ids, dtype=torch.int64), 8)


def test_coverage_is_the_share_of_counted_tokens() -> None:
    counts = torch.tensor([0, 4, 2, 9, 2, 2, 0, 1])
    assert build_vocabulary(counts, 4).coverage(counts) == 17 / 20


def test_empty_overlap_is_refused() -> None:
    with pytest.raises(DataError, match="none of the supervised tokens"):
        DraftVocabulary(torch.tensor([1, 4]), 8).coverage(torch.tensor([0, 0, 5, 0, 0, 0, 0, 0]))


def test_all_zero_loss_mask_is_refused() -> None:
    with pytest.raises(DataError, match="loss mask is zero everywhere"):
        count_supervised([(torch.tensor([1, 2]), torch.zeros(2))], 8)


def test_id_outside_the_target_is_refused() -> None:
    with pytest.raises(DataError, match="document 0: a token id lies outside"):
        count_supervised([(torch.tensor([1, 9]), torch.ones(2))], 8)
