"""The planner: what-ifs that change nothing, and saving what came of them."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from eagle3web.domain.budgets import BudgetChange, BudgetChanges, BudgetConflict, change_budgets
from eagle3web.models import Project
from eagle3web.pages.plan import changes_of, plan_context
from eagle3web.pages.rights import rights
from eagle3web.pages.topics import topics
from eagle3web.pages.typed import whole
from eagle3web.views.access import allowed, looking, person


@require_safe
@looking
def show(request: HttpRequest, slug: str) -> HttpResponse:
    """The whole state is in the address. A slider that moves asks for the numbers alone."""
    project = get_object_or_404(Project, slug=slug)
    context = plan_context(project, request.GET, rights(person(request)))
    if request.headers.get("HX-Request"):
        return render(request, "plan/_numbers.html", context | {"oob": True})
    context["topics"] = topics("", project.pk)
    return render(request, "plan/plan.html", context)


@require_http_methods(["GET", "POST"])
@allowed("view_run", "change_tokenbudget")
def save(request: HttpRequest, slug: str) -> HttpResponse:
    """GET asks, with old → new of each budget that the address changes; POST saves all of them or none."""
    project = get_object_or_404(Project, slug=slug)
    refusal, status = "", 200
    if request.method == "POST":
        try:
            changed = change_budgets(read_edits(request.POST, project), user=person(request))
        except BudgetConflict as error:
            refusal, status = f"{error} meanwhile. Close this and look at the plan again.", 409
        except ValidationError as error:
            refusal, status = "; ".join(error.messages), 422
        else:
            words = "1 budget is" if len(changed) == 1 else f"{len(changed)} budgets are"
            messages.success(request, f"{words} changed")
            place = f"{reverse('plan', args=[slug])}?{request.GET.urlencode()}"
            if request.headers.get("HX-Request"):
                return HttpResponse(status=204, headers={"HX-Redirect": place})
            return redirect(place)
    context = {"project": project, "edits": changes_of(project, request.GET), "refusal": refusal}
    context["back"] = f"{reverse('plan', args=[slug])}?{request.GET.urlencode()}"
    template = "plan/_save.html" if request.headers.get("HX-Request") else "plan/save.html"
    return render(request, template, context | {"topics": topics("", project.pk)}, status=status)


def read_edits(posted: QueryDict, project: Project) -> list[BudgetChange]:
    """`budget`, `version`, `tokens`, `enabled`, each as often as there are changes. Raises ValidationError."""
    columns = [posted.getlist(name) for name in ("budget", "version", "tokens", "enabled")]
    if len({len(column) for column in columns}) != 1:
        raise ValidationError("The form is incomplete; nothing was changed.")
    own = set(project.budgets.values_list("pk", flat=True))
    edits = []
    for budget, version, tokens, enabled in zip(*columns, strict=True):
        pk, seen = whole(budget), whole(version)
        if pk not in own or pk is None or seen is None or (tokens and whole(tokens) is None):
            raise ValidationError("The form makes no sense; nothing was changed.")
        changes = BudgetChanges(tokens=whole(tokens) if tokens else None, enabled=enabled == "1")
        edits.append(BudgetChange(pk, seen, changes))
    return edits
