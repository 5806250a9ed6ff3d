"""Retention: the rules, what they would remove now, and removing it."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from eagle3web import tasks
from eagle3web.domain import pruning
from eagle3web.domain.retention import drop_policy, set_policy
from eagle3web.enums import Prunable
from eagle3web.formats import count
from eagle3web.models import Project, RetentionPolicy
from eagle3web.pages import retention
from eagle3web.pages.questions import Question
from eagle3web.pages.rights import rights
from eagle3web.pages.topics import topics
from eagle3web.retention_forms import RuleForm
from eagle3web.views.access import allowed, looking, person

CHANGE = "change_retentionpolicy"


@require_safe
@looking
def show(request: HttpRequest) -> HttpResponse:
    context = retention.retention(rights(person(request)))
    context["projects"] = Project.objects.order_by("name").only("slug", "name")
    context["topics"] = topics("", request.session.get("project"))
    return render(request, "retention/retention.html", context)


@require_safe
@looking
def preview(request: HttpRequest) -> HttpResponse:
    """The part of the page that takes longer: what would go now."""
    return render(request, "retention/_preview.html", {"preview": retention.preview(), "may": rights(person(request))})


@require_http_methods(["GET", "POST"])
@allowed("view_run", CHANGE)
def rule(request: HttpRequest, kind: str) -> HttpResponse:
    """Make or change a rule: of all projects, or with `?project=SLUG` of one."""
    if kind not in Prunable.values:
        raise Http404(f"There is no kind {kind}.")
    slug = request.GET.get("project", "").replace("\0", "")
    project = get_object_or_404(Project, slug=slug) if slug else None
    stands = RetentionPolicy.objects.filter(kind=kind, project=project).first()
    form = RuleForm(request.POST or None, kind=Prunable(kind), initial=_values(stands))
    if request.method == "POST" and form.is_valid():
        try:
            set_policy(Prunable(kind), project=project, user=person(request), **form.cleaned_data)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            return _done(request, f"The rule for {kind} is saved; nothing was removed yet")
    context = {
        "form": form,
        "kind": Prunable(kind),
        "of_project": project,
        "topics": topics("", request.session.get("project")),
    }
    return render(request, "retention/rule.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
@allowed("view_run", CHANGE)
def drop(request: HttpRequest, policy_id: int) -> HttpResponse:
    """GET asks; POST forgets a project's own rule."""
    policy = get_object_or_404(RetentionPolicy.objects.exclude(project=None).select_related("project"), pk=policy_id)
    if request.method == "POST":
        drop_policy(policy, user=person(request))
        return _done(request, f"The rule of all projects applies to {policy.kind} of {policy.project}")
    return _ask(request, retention.drop_question(policy))


@require_http_methods(["GET", "POST"])
@allowed("view_run", CHANGE)
def prune(request: HttpRequest) -> HttpResponse:
    """GET asks, with what and how much; POST gives it up, and the workers delete it."""
    if request.method == "GET":
        return _ask(request, retention.prune_question(retention.preview()))
    gone = pruning.prune_all(user=person(request))
    tasks.remove_everywhere()
    return _done(request, f"{count(len(gone))} {'thing is' if len(gone) == 1 else 'things are'} being removed")


def _ask(request: HttpRequest, question: Question) -> HttpResponse:
    template = "runs/_question.html" if request.headers.get("HX-Request") else "retention/question.html"
    return render(request, template, {"question": question, "back": reverse("retention")})


def _done(request: HttpRequest, said: str) -> HttpResponse:
    """Back to the page, which says so."""
    messages.success(request, said)
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Redirect": reverse("retention")})
    return redirect("retention")


def _values(policy: RetentionPolicy | None) -> dict[str, int | bool]:
    made = policy or RetentionPolicy()
    return {"days": made.days, "keep_last": made.keep_last, "enabled": made.enabled}
