import pytest

from eagle3web.domain import comments
from eagle3web.queries import talk
from tests.support import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


def test_stamp_changes_with_every_word_and_stays_without(django_assert_num_queries: object) -> None:
    ada, checkpoint = make.user("ada"), make.checkpoint()
    stamps = [talk.stamp(checkpoint=checkpoint.pk)]
    comment = comments.add(checkpoint, "good", user=ada)
    stamps.append(talk.stamp(checkpoint=checkpoint.pk))
    comments.edit(comment, "better", user=ada)
    stamps.append(talk.stamp(checkpoint=checkpoint.pk))
    comments.remove(comment, user=ada)
    stamps.append(talk.stamp(checkpoint=checkpoint.pk))
    assert len(set(stamps)) == 4
    comments.add(checkpoint.run, "of the run", user=ada)
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert talk.stamp(checkpoint=checkpoint.pk) == stamps[-1]


def test_comments_of_one_thing_are_in_order() -> None:
    run, other = make.run(), make.run()
    words = [make.comment(run, text).text for text in ("one", "two")]
    make.comment(other, "three")
    assert [comment.text for comment in talk.comments(run=run.pk)] == words
