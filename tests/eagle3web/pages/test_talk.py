import pytest

from eagle3web.pages.talk import SHOWN, comments_of, place_of
from tests.support import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


def test_buttons_are_those_of_the_person() -> None:
    ada, ben, root = make.user("ada"), make.user("ben"), make.user("root", is_superuser=True)
    run = make.run()
    make.comment(run, author=ada)

    def buttons(user: object) -> tuple[bool, bool]:
        (shown,) = comments_of(run, user)["comments"]  # type: ignore[arg-type]
        return shown.may_edit, shown.may_remove

    assert [buttons(user) for user in (ada, ben, root)] == [(True, True), (False, False), (False, True)]


def test_the_newest_are_shown_and_the_earlier_ones_are_a_step_away() -> None:
    run, ada = make.run(), make.user("ada")
    keys = [make.comment(run, str(number)).pk for number in range(SHOWN + 3)]
    newest = comments_of(run, ada)
    assert [shown.comment.pk for shown in newest["comments"]] == keys[3:]
    earlier = comments_of(run, ada, before=newest["comments_before"])
    assert [shown.comment.pk for shown in earlier["comments"]] == keys[:3]
    assert (earlier["comments_before"], earlier["comments_are_earlier"]) == (None, True)


def test_places() -> None:
    checkpoint = make.checkpoint()
    assert place_of(checkpoint) == f"/checkpoints/{checkpoint.pk}/#comments-card"
    assert place_of(checkpoint.run) == f"/runs/{checkpoint.run_id}/#comments-card"
