import pytest

from eagle3web.enums import Review
from eagle3web.models import User
from eagle3web.pages.checkpoint_questions import promotion, promotion_anyway, review_question
from eagle3web.pages.questions import Question
from tests.support import factories

pytestmark = pytest.mark.django_db


def words(question: Question) -> str:
    return " ".join(point.text for point in question.points)


def test_promotion_says_what_it_replaces_and_what_stands_of_the_review() -> None:
    first = factories.checkpoint(promoted=True)
    second = factories.checkpoint(first.attempt, review=Review.APPROVED)
    assert f"{first} is not promoted any more; its files stay." in words(promotion(second))
    assert "It is approved." in words(promotion(second))
    assert "None is promoted by now." in words(promotion(factories.checkpoint()))


@pytest.mark.parametrize(
    ("review", "said"), [("", "Nobody proposed"), ("proposed", "nobody approved it yet"), ("rejected", "It was rejected.")]
)
def test_promotion_without_an_approval_says_what_is_missing(review: str, said: str) -> None:
    question = promotion_anyway(factories.checkpoint(review=review))
    assert (question.dangerous, said in words(question)) == (True, True)


def test_approval_names_who_proposed_it() -> None:
    ada, ben = (factories.user(name, permissions=("change_checkpoint",)) for name in ("ada", "ben"))
    row = factories.checkpoint(review=Review.PROPOSED)
    factories.review(row, author=ada)

    def asked(user: User) -> str:
        return words(review_question(row, Review.APPROVED, user))

    assert "ada proposed it." in asked(ben)
    assert "somebody else has to approve it" in asked(ada)


def test_rejecting_a_promoted_one_says_that_it_stays_promoted() -> None:
    row = factories.checkpoint(review=Review.APPROVED, promoted=True)
    assert "stays so until another one is" in words(review_question(row, Review.REJECTED, factories.user()))
