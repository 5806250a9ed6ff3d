"""The page of a run, and of each of its attempts."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from eagle3web.domain.clock import database_now
from eagle3web.models import Attempt, Run
from eagle3web.pages.configs import differences, flat
from eagle3web.pages.rights import rights
from eagle3web.pages.run import RunPage
from eagle3web.pages.topics import topics
from eagle3web.queries.run_list import starred
from eagle3web.views.access import looking, person
from eagle3web.views.comments import talk_of


@require_safe
@looking
def newest_attempt(request: HttpRequest, run_id: int) -> HttpResponse:
    """The run's newest attempt; a run that waits for its first one says what it waits for."""
    newest = Attempt.objects.filter(run=run_id).order_by("-number").values_list("number", flat=True).first()
    return show(request, run_id, newest or 0, follows_newest=True)


@require_safe
@looking
def one_attempt(request: HttpRequest, run_id: int, number: int) -> HttpResponse:
    return show(request, run_id, number)


def show(request: HttpRequest, run_id: int, number: int, *, follows_newest: bool = False) -> HttpResponse:
    """One attempt's page; `follows_newest` goes on to the next attempt when there is one."""
    try:
        page = RunPage(run_id, number, rights(person(request)))
    except Run.DoesNotExist as error:
        raise Http404(f"There is no run {run_id}.") from error
    context = page.context(database_now())
    attempt = context["attempt"]
    if attempt is None and number:
        raise Http404(f"Run {run_id} has no attempt {number}.")
    if attempt is not None:
        context |= page.details(attempt)
        context["config_keys"] = list(flat(context["config"]))
    context |= {"unfinished": ("", 0), "follows_newest": follows_newest}
    context |= talk_of(context["run"], person(request))
    original = context["run"].cloned_from
    context["clone_changes"] = differences(original.config, context["run"].config) if original else []
    context["starred"] = bool(starred(person(request).pk, [run_id]))
    context["topics"] = topics(f"run/{run_id}/{number}", context["project"].pk)
    return render(request, "runs/run.html", context)
