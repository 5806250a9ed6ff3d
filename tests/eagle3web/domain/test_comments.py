import pytest
from django.core.exceptions import PermissionDenied

from eagle3web.domain import comments
from eagle3web.models import AuditEntry, Comment
from tests.support import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


def test_comment_stands_on_a_run_or_a_checkpoint() -> None:
    ada, checkpoint = make.user("ada"), make.checkpoint()
    on_run = comments.add(checkpoint.run, "  **good**\r\nrun\0  ", user=ada)
    on_checkpoint = comments.add(checkpoint, "better", user=ada)
    assert (on_run.text, on_run.run, on_run.checkpoint) == ("**good**\nrun␀", checkpoint.run, None)
    assert (on_checkpoint.run, on_checkpoint.checkpoint, comments.run_of(on_checkpoint)) == (None, checkpoint, checkpoint.run)
    assert AuditEntry.objects.filter(verb="comment.add").count() == 2


@pytest.mark.parametrize("text", ["", " \n ", "x" * (comments.TEXT_LIMIT + 1)])
def test_no_text_and_too_much_text_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="comment"):
        comments.add(make.run(), text, user=make.user())
    assert Comment.objects.count() == 0


def test_only_who_wrote_it_changes_it() -> None:
    ada = make.user("ada")
    comment = comments.add(make.run(), "good", user=ada)
    with pytest.raises(PermissionDenied):
        comments.edit(comment, "bad", user=make.user("root", is_superuser=True))
    assert comments.edit(comment, "good ", user=ada) is False
    assert comments.edit(comment, "very good", user=ada) is True
    comment.refresh_from_db()
    assert (comment.text, comment.edited_at is not None) == ("very good", True)


def test_removed_comment_is_empty_and_its_author_stays() -> None:
    ada, ben, root = make.user("ada"), make.user("ben"), make.user("root", is_superuser=True)
    mine, his = comments.add(make.run(), "good", user=ada), comments.add(make.run(), "bad", user=ben)
    with pytest.raises(PermissionDenied):
        comments.remove(his, user=ada)
    assert comments.remove(his, user=root) is True
    assert comments.remove(mine, user=ada) is True
    assert comments.remove(mine, user=ada) is False
    his.refresh_from_db()
    assert (his.text, his.author, his.removed_at is not None) == ("", ben, True)
    with pytest.raises(PermissionDenied):
        comments.edit(mine, "again", user=ada)
    assert AuditEntry.objects.filter(verb="comment.remove", user=root).get().detail["author"] == "ben"
