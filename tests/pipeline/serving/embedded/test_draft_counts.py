from pipeline.acceptance import Served, served_accept_length
from pipeline.serving.embedded.draft_counts import DraftCounts


def test_counts_are_told_in_sglangs_keys() -> None:
    counts = DraftCounts()
    for proposed, correct in ((3, 0), (3, 3), (1, 0), (3, 1)):
        counts.add(proposed=proposed, correct=correct)
    assert counts.meta_info(9) == {
        "spec_accept_rate": 0.4,
        "spec_accept_length": 2.25,
        "spec_verify_ct": 4,
        "spec_num_correct_drafts": 4,
        "spec_num_proposed_drafts": 10,
        "spec_correct_drafts_histogram": [2, 1, 0, 1],
    }
    served = Served(completion_tokens=9, verify_ct=counts.verify_ct, correct_drafts=tuple(counts.histogram))
    assert served_accept_length([served]) == 2.25


def test_an_engine_without_drafts_tells_nothing() -> None:
    assert DraftCounts().meta_info(9) == {}
