import json

import pytest
from django.test import Client
from django.utils import timezone

from eagle3web.models import Attempt, ControlMessage, Run
from tests.support import factories

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def attempt() -> Attempt:
    attempt = factories.attempt()
    factories.progress(attempt, done=1728, tokens=4_200_000, in_flight=128, in_flight_tokens=310_000)
    return attempt


def test_stop_asks_first_with_what_happens_and_what_is_kept(operator: Client, attempt: Attempt) -> None:
    html = operator.get(f"/runs/{attempt.run_id}/stop/", headers=HTMX).content.decode()
    assert "<html" not in html
    assert "128 answers in flight (310.0 k tokens) are cut off, not written." in html
    assert "1 728 answers stay, 4.20 M tokens" in html
    assert "attempt 2 goes on from here" in html
    assert ControlMessage.objects.count() == 0


def test_stop_is_a_page_of_its_own_without_a_script(operator: Client, attempt: Attempt) -> None:
    html = operator.get(f"/runs/{attempt.run_id}/stop/").content.decode()
    assert "<html" in html
    assert "Keep running" in html
    answer = operator.post(f"/runs/{attempt.run_id}/stop/")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/runs/{attempt.run_id}/")


def test_stop_asks_the_process_and_tells_the_page(operator: Client, attempt: Attempt) -> None:
    answer = operator.post(f"/runs/{attempt.run_id}/stop/", headers=HTMX)
    assert answer.status_code == 204
    assert json.loads(answer.headers["HX-Trigger"]) == {"done": {"title": f"r{attempt.run_id} is asked to stop"}}
    assert ControlMessage.objects.get().kind == "stop"
    again = operator.post(f"/runs/{attempt.run_id}/stop/", headers=HTMX)
    assert "already" in again.headers["HX-Trigger"]


@pytest.mark.parametrize(("verb", "kind"), [("pause", "pause"), ("unpause", "resume")])
def test_pause_and_go_on_leave_a_message(operator: Client, attempt: Attempt, verb: str, kind: str) -> None:
    assert operator.post(f"/runs/{attempt.run_id}/{verb}/", headers=HTMX).status_code == 204
    assert ControlMessage.objects.get().kind == kind


def test_what_is_not_allowed_now_says_why_and_changes_nothing(operator: Client) -> None:
    attempt = factories.attempt(status="finished")
    answer = operator.post(f"/runs/{attempt.run_id}/pause/", headers=HTMX)
    assert answer.status_code == 409
    assert "is finished; only a running run can be steered" in answer.content.decode()
    assert ControlMessage.objects.count() == 0


def test_resume_queues_the_run_and_leads_to_it(operator: Client) -> None:
    attempt = factories.attempt(status="failed", reason="killed by signal 9")
    answer = operator.post(f"/runs/{attempt.run_id}/resume/", headers=HTMX)
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (204, f"/runs/{attempt.run_id}/")
    assert Run.objects.get().status == "queued"


def test_settled_run_needs_nobody_and_is_not_settled_again(operator: Client) -> None:
    run = factories.attempt(status="failed", reason="killed by signal 9", ended_at=timezone.now()).run
    overview, page = f"/projects/{run.project.slug}/", f"/runs/{run.pk}/"
    assert "attempt 1 failed" in operator.get(overview).content.decode()
    assert "Settle…" in operator.get(page).content.decode()
    assert operator.post(f"{page}settle/", headers=HTMX).status_code == 204
    assert "attempt 1 failed" not in operator.get(overview).content.decode()
    assert "Settle…" not in operator.get(page).content.decode()


def test_run_that_ended_with_errors_is_settled_and_others_that_finished_are_not(operator: Client) -> None:
    run = factories.attempt(status="finished", ended_at=timezone.now()).run
    page = f"/runs/{run.pk}/"
    assert "Settle…" not in operator.get(page).content.decode()
    factories.progress(run.attempts.get(), done=0, errors=300)
    assert "finished with errors" in operator.get(f"/projects/{run.project.slug}/").content.decode()
    assert "Settle…" in operator.get(page).content.decode()
    assert "can be resumed" not in operator.get(f"{page}settle/", headers=HTMX).content.decode()
    assert operator.post(f"{page}settle/", headers=HTMX).status_code == 204
    assert "finished with errors" not in operator.get(f"/projects/{run.project.slug}/").content.decode()
    assert "Settle…" not in operator.get(page).content.decode()


def test_concurrency_starts_with_the_present_number_and_refuses_nonsense(operator: Client, attempt: Attempt) -> None:
    path = f"/runs/{attempt.run_id}/concurrency/"
    assert 'value="8"' in operator.get(path, headers=HTMX).content.decode()
    refused = operator.post(path, {"concurrency": "2o48"}, headers=HTMX)
    assert refused.status_code == 422
    assert "whole number" in refused.content.decode()
    assert operator.post(path, {"concurrency": "64"}, headers=HTMX).status_code == 204
    assert ControlMessage.objects.get().payload == {"n": 64}


def test_drafter_of_a_server_is_swapped_and_asked_for_before(operator: Client) -> None:
    attempt = factories.attempt(factories.run(stage="serve"))
    checkpoint = factories.checkpoint(factories.attempt(factories.run(attempt.run.project, stage="train")), step=400)
    path = f"/runs/{attempt.run_id}/drafter/"
    html = operator.get(path, headers=HTMX).content.decode()
    assert "drained, ended, and started again" in html
    assert f"r{checkpoint.run_id} step 400" in html
    answer = operator.post(path, {"checkpoint": checkpoint.pk}, headers=HTMX)
    assert answer.status_code == 204
    assert ControlMessage.objects.get().payload == {"drafter": checkpoint.path, "name": f"r{checkpoint.run_id} step 400"}
    assert operator.post(path, {"checkpoint": ""}, headers=HTMX).status_code == 204
    assert operator.post(path, {"checkpoint": 10**6}, headers=HTMX).status_code == 422


def test_drafter_of_what_serves_nothing_is_refused(operator: Client, attempt: Attempt) -> None:
    answer = operator.post(f"/runs/{attempt.run_id}/drafter/", headers=HTMX)
    assert answer.status_code == 409
    assert "serves nothing" in answer.content.decode()


def test_server_is_not_paused(operator: Client) -> None:
    attempt = factories.attempt(factories.run(stage="serve"))
    assert operator.post(f"/runs/{attempt.run_id}/pause/", headers=HTMX).status_code == 409
    assert (ControlMessage.objects.count(), Run.objects.get().paused) == (0, False)


def test_get_never_changes_anything(operator: Client, attempt: Attempt) -> None:
    for verb in ("stop", "pause", "unpause", "resume", "settle", "concurrency", "clone"):
        assert operator.get(f"/runs/{attempt.run_id}/{verb}/").status_code == 200
    assert (ControlMessage.objects.count(), Run.objects.count()) == (0, 1)


def test_viewer_is_refused(viewer: Client, attempt: Attempt) -> None:
    for verb in ("stop", "pause", "unpause", "resume", "settle", "concurrency", "clone"):
        assert viewer.get(f"/runs/{attempt.run_id}/{verb}/").status_code == 403
        assert viewer.post(f"/runs/{attempt.run_id}/{verb}/").status_code == 403
