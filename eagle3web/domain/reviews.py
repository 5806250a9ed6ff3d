"""What the team thinks of a checkpoint: proposed, then approved or rejected. Every word is a row; the last one stands."""

from django.contrib.auth.backends import ModelBackend
from django.db import transaction

from eagle3web.domain import attempts, audit
from eagle3web.domain.event_lines import clean
from eagle3web.domain.runs import NotAllowedNow
from eagle3web.enums import Review
from eagle3web.models import Checkpoint, CheckpointReview, User

NOTE_LIMIT = 2000
"""Characters of a note; longer ones are cut."""
BACKEND = f"{ModelBackend.__module__}.{ModelBackend.__qualname__}"


def propose(checkpoint: Checkpoint, *, user: User, note: str = "") -> CheckpointReview:
    """Ask others to approve it. Raises NotAllowedNow when it is proposed or approved already, or its files are deleted."""
    return _say(checkpoint, Review.PROPOSED, user=user, note=note)


def approve(checkpoint: Checkpoint, *, user: User, note: str = "") -> CheckpointReview:
    """Find it good enough to be promoted.

    Raises NotAllowedNow when it is not proposed, when its files are deleted, and for who proposed it, unless nobody else may
    review: four eyes are asked for where there are four.
    """
    return _say(checkpoint, Review.APPROVED, user=user, note=note)


def reject(checkpoint: Checkpoint, *, user: User, note: str) -> CheckpointReview:
    """Find it not good enough, or take an approval back; `note` says why. A promoted one stays so until another one is.

    Raises NotAllowedNow when nobody proposed it or it is rejected already, and ValueError without a note.
    """
    if not note.strip():
        raise ValueError("a rejection says why")
    return _say(checkpoint, Review.REJECTED, user=user, note=note)


FROM: dict[Review, frozenset[str]] = {
    Review.PROPOSED: frozenset({"", Review.REJECTED}),
    Review.APPROVED: frozenset({Review.PROPOSED}),
    Review.REJECTED: frozenset({Review.PROPOSED, Review.APPROVED}),
}
"""Which words may be said after which; the empty one is none."""


def is_allowed(checkpoint: Checkpoint, state: Review) -> bool:
    """Whether the word can follow the last one; who may say it is another question."""
    return checkpoint.review in FROM[state] and (state == Review.REJECTED or checkpoint.removed_at is None)


def only_reviewer(user: User) -> bool:
    """Whether nobody else is there who may review."""
    able = User.objects.with_perm("eagle3web.change_checkpoint", backend=BACKEND)
    return not able.exclude(pk=user.pk).exists()


def proposer(checkpoint: Checkpoint) -> User | None:
    """Who proposed it last."""
    last = checkpoint.reviews.filter(state=Review.PROPOSED).select_related("author").order_by("-id").first()
    return last.author if last else None


def _say(checkpoint: Checkpoint, state: Review, *, user: User, note: str) -> CheckpointReview:
    """Write the word with its consequences: the checkpoint's own copy, an AuditEntry, and viewers are poked."""
    with transaction.atomic():
        row = Checkpoint.objects.select_for_update(of=("self",), no_key=True).select_related("run").get(pk=checkpoint.pk)
        _check(row, state, user)
        said = CheckpointReview.objects.create(checkpoint=row, state=state, author=user, note=clean(note.strip())[:NOTE_LIMIT])
        before, row.review = row.review, state
        row.save(update_fields=["review"])
        audit.record(user, f"checkpoint.{VERBS[state]}", row, checkpoint=str(row), before=before)
        attempts.announce(row.run)
    checkpoint.review = state
    return said


VERBS = {Review.PROPOSED: "propose", Review.APPROVED: "approve", Review.REJECTED: "reject"}


def _check(row: Checkpoint, state: Review, user: User) -> None:
    if state != Review.REJECTED and row.removed_at is not None:
        raise NotAllowedNow(f"the files of {row} were deleted")
    if row.review not in FROM[state]:
        stands = f"is {row.review} already" if row.review else "was not proposed yet"
        raise NotAllowedNow(f"{row} {stands}")
    if state == Review.APPROVED and proposer(row) == user and not only_reviewer(user):
        raise NotAllowedNow(f"you proposed {row} yourself: somebody else has to approve it")
