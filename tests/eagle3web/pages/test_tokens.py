from eagle3web.models import DraftedAnswer
from eagle3web.pages.tokens import shown_answer


def test_tokens_carry_their_depth_in_shade_and_words() -> None:
    shown = shown_answer(DraftedAnswer(pieces=["a", "b", "c"], depths=[0, 2, 7]))
    assert [(token.shade, token.title) for token in shown.tokens] == [
        (0, "chosen by the target"),
        (2, "draft position 2, accepted"),
        (4, "draft position 7, accepted"),
    ]


def test_answer_counts_what_was_drafted() -> None:
    shown = shown_answer(DraftedAnswer(pieces=list("abcdef"), depths=[0, 1, 2, 0, 1, 0]))
    assert (shown.chosen, shown.accepted, shown.share, shown.per_choice) == (3, 3, 0.5, 2.0)
    assert [(position.depth, position.accepted) for position in shown.positions] == [(1, 2), (2, 1)]
    assert shown.label == "An answer of 6 tokens, 3 of them drafted and accepted"


def test_pieces_show_signs_for_what_cannot_be_seen() -> None:
    assert shown_answer(DraftedAnswer(pieces=["\x1b[31m"], depths=[0])).tokens[0].text == "␛[31m"


def test_missing_and_odd_depths_count_as_chosen_by_the_target() -> None:
    shown = shown_answer(DraftedAnswer(pieces=["a", "b", "c"], depths=["x", -1]))
    assert [token.depth for token in shown.tokens] == [0, 0, 0]


def test_empty_answer_has_no_shares() -> None:
    shown = shown_answer(DraftedAnswer(pieces=[], depths=[]))
    assert (shown.share, shown.per_choice, shown.positions) == (None, None, [])
