"""Four eyes on a checkpoint, where there are four."""

import pytest

from eagle3web.domain import reviews
from eagle3web.domain.runs import NotAllowedNow
from eagle3web.enums import Review, Role
from eagle3web.models import AuditEntry, Checkpoint, User
from tests.support import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


@pytest.fixture
def row() -> Checkpoint:
    return make.checkpoint(step=100)


@pytest.fixture
def ada() -> User:
    return make.user("ada", groups=(Role.OPERATOR,))


@pytest.fixture
def ben() -> User:
    return make.user("ben", groups=(Role.OPERATOR,))


def words(row: Checkpoint) -> list[tuple[str, str]]:
    return [(said.state, str(said.author)) for said in row.reviews.all()]


def test_proposed_and_approved_by_two_people(row: Checkpoint, ada: User, ben: User) -> None:
    reviews.propose(row, user=ada, note=" looks good\0 ")
    reviews.approve(row, user=ben)
    assert words(row) == [("proposed", "ada"), ("approved", "ben")]
    assert Checkpoint.objects.get().review == Review.APPROVED
    assert row.reviews.first().note == "looks good␀"  # type: ignore[union-attr]
    entry = AuditEntry.objects.filter(verb="checkpoint.approve").get()
    assert (entry.user, entry.target, entry.detail["before"]) == (ben, f"checkpoint {row.pk}", "proposed")


def test_nobody_approves_what_they_proposed_themselves(row: Checkpoint, ada: User, ben: User) -> None:
    reviews.propose(row, user=ada)
    with pytest.raises(NotAllowedNow, match="somebody else has to approve it"):
        reviews.approve(row, user=ada)
    assert Checkpoint.objects.get().review == Review.PROPOSED


def test_only_operator_approves_alone(row: Checkpoint, ada: User) -> None:
    make.user("viewer", groups=(Role.VIEWER,))
    make.user("gone", groups=(Role.OPERATOR,), is_active=False)
    reviews.propose(row, user=ada)
    assert reviews.only_reviewer(ada)
    assert reviews.approve(row, user=ada).state == Review.APPROVED


def test_a_superuser_is_a_second_pair_of_eyes(row: Checkpoint, ada: User) -> None:
    make.user("root", is_superuser=True)
    assert not reviews.only_reviewer(ada)


def test_who_proposed_last_counts(row: Checkpoint, ada: User, ben: User) -> None:
    reviews.propose(row, user=ada)
    reviews.reject(row, user=ben, note="too slow")
    reviews.propose(row, user=ben)
    assert reviews.proposer(row) == ben
    assert reviews.approve(row, user=ada).author == ada


def test_rejection_says_why_and_takes_an_approval_back(row: Checkpoint, ada: User, ben: User) -> None:
    reviews.propose(row, user=ada)
    reviews.approve(row, user=ben)
    with pytest.raises(ValueError, match="says why"):
        reviews.reject(row, user=ben, note="  ")
    reviews.reject(row, user=ben, note="slower on code")
    assert Checkpoint.objects.get().review == Review.REJECTED


@pytest.mark.parametrize(
    ("stands", "act", "why"),
    [
        ("", "approve", "was not proposed yet"),
        ("", "reject", "was not proposed yet"),
        ("proposed", "propose", "is proposed already"),
        ("approved", "propose", "is approved already"),
        ("approved", "approve", "is approved already"),
        ("rejected", "reject", "is rejected already"),
    ],
)
def test_words_that_do_not_follow_one_another_are_refused(row: Checkpoint, ada: User, stands: str, act: str, why: str) -> None:
    Checkpoint.objects.update(review=stands)
    with pytest.raises(NotAllowedNow, match=why):
        getattr(reviews, act)(row, user=ada, note="n")
    assert (words(row), AuditEntry.objects.count()) == ([], 0)


def test_deleted_files_are_not_proposed_or_approved_but_can_be_rejected(row: Checkpoint, ada: User, ben: User) -> None:
    reviews.propose(row, user=ada)
    Checkpoint.objects.update(removed_at=row.saved_at)
    with pytest.raises(NotAllowedNow, match="were deleted"):
        reviews.approve(row, user=ben)
    reviews.reject(row, user=ben, note="gone")
    row.refresh_from_db()
    assert [state for state in Review if reviews.is_allowed(row, state)] == []
