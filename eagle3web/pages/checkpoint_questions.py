"""What a person is asked before something is said about a checkpoint: what follows from it, and what does not."""

from eagle3web.domain.reviews import only_reviewer, proposer
from eagle3web.enums import Review
from eagle3web.models import Checkpoint, User
from eagle3web.pages.questions import Point, Question


def promotion(checkpoint: Checkpoint) -> Question:
    """Whether this is to be the project's drafter. One query."""
    before = Checkpoint.objects.filter(project=checkpoint.project_id, promoted=True).exclude(pk=checkpoint.pk).first()
    points = [
        Point("checkpoints", f"{checkpoint} becomes the one that people are pointed to in {checkpoint.project.name}."),
        Point("check", f"{before} is not promoted any more; its files stay." if before else "None is promoted by now."),
        Point("engines", "Engines that run go on with the drafter that they have."),
        Point("info", _review_point(checkpoint)),
    ]
    return Question(title=f"Promote {checkpoint}?", points=points, act="Promote", refuse="Not now", icon="check")


def promotion_anyway(checkpoint: Checkpoint) -> Question:
    """Asked once more, of who would promote what nobody approved."""
    points = [
        Point("st-silent", _review_point(checkpoint)),
        Point("answers", "Proposing it asks the others to look at its numbers first."),
        Point("info", "Promoted now, the audit trail says that it was not approved."),
    ]
    title = f"Promote {checkpoint} without an approval?"
    return Question(title=title, points=points, act="Promote it all the same", refuse="Not now", icon="check", dangerous=True)


def review_question(checkpoint: Checkpoint, state: Review, user: User) -> Question:
    """Before somebody proposes, approves or rejects. At most two queries."""
    asked = {Review.PROPOSED: _propose, Review.APPROVED: _approve, Review.REJECTED: _reject}
    return asked[state](checkpoint, user)


def _propose(checkpoint: Checkpoint, user: User) -> Question:
    points = [
        Point("answers", "Others see it as proposed, and approve or reject it."),
        Point("user", "You cannot approve it yourself, unless nobody else may review."),
    ]
    return Question(title=f"Propose {checkpoint}?", points=points, act="Propose", refuse="Not now", icon="answers")


def _approve(checkpoint: Checkpoint, user: User) -> Question:
    points = [Point("check", "It counts as good enough to be promoted. Promoting it is another step.")]
    by = proposer(checkpoint)
    if by == user and only_reviewer(user):
        points.append(Point("info", "You proposed it yourself. Nobody else may review, so that you may approve it."))
    elif by == user:
        points.append(Point("st-silent", "You proposed it yourself: somebody else has to approve it."))
    elif by is not None:
        points.append(Point("user", f"{by} proposed it."))
    return Question(title=f"Approve {checkpoint}?", points=points, act="Approve", refuse="Not now", icon="check")


def _reject(checkpoint: Checkpoint, user: User) -> Question:
    stays = "It is promoted, and stays so until another one is." if checkpoint.promoted else "Its files and numbers stay."
    points = [Point("checkpoints", stays), Point("retry", "It can be proposed again.")]
    return Question(title=f"Reject {checkpoint}?", points=points, act="Reject", refuse="Not now", icon="x", dangerous=True)


def _review_point(checkpoint: Checkpoint) -> str:
    match checkpoint.review:
        case Review.APPROVED:
            return "It is approved."
        case Review.PROPOSED:
            return "It is proposed, and nobody approved it yet."
        case Review.REJECTED:
            return "It was rejected."
    return "Nobody proposed or approved it yet."
