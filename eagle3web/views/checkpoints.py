"""Checkpoints: the list, one of them, promotion, and its files as an archive."""

from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from eagle3web.domain import checkpoints
from eagle3web.domain.archives import Archive
from eagle3web.domain.runs import NotAllowedNow
from eagle3web.models import Checkpoint, Project
from eagle3web.pages.checkpoint_list import EVERYTHING, CheckpointsPage, review_links
from eagle3web.pages.checkpoint_questions import promotion, promotion_anyway
from eagle3web.pages.checkpoints import CheckpointPage
from eagle3web.pages.configs import flat
from eagle3web.pages.lineage import lineage_of
from eagle3web.pages.rights import rights
from eagle3web.pages.topics import topics
from eagle3web.queries.checkpoint_list import Wanted, is_order, is_review
from eagle3web.talk_forms import AnywayForm
from eagle3web.views.access import allowed, looking, person
from eagle3web.views.comments import talk_of
from eagle3web.views.reviews import done


@require_safe
@looking
def show_all(request: HttpRequest, slug: str) -> HttpResponse:
    """`?sort=-accept`, `?review=approved`, `?deleted=1` (with those whose files are gone), `?page=2`. Live without them."""
    project = get_object_or_404(Project.objects.only("pk"), slug=slug)
    wanted = _wanted(request)
    page = CheckpointsPage(project.pk, rights(person(request)))
    context = page.context(request.GET.get("page", "1"), wanted)
    context["reviews"] = review_links(wanted)
    first = context["page"].number == 1 and wanted == EVERYTHING
    context["topics"] = topics(f"checkpoints/{project.pk}" if first else "", project.pk)
    return render(request, "checkpoints/checkpoints.html", context)


def _wanted(request: HttpRequest) -> Wanted:
    """What the address asks for; a word that is none asks for nothing."""
    sort, review = request.GET.get("sort", ""), request.GET.get("review", "")
    return Wanted(
        sort=sort if is_order(sort) else "",
        review=review if is_review(review) else "",
        deleted=request.GET.get("deleted") == "1",
    )


@require_safe
@looking
def show(request: HttpRequest, checkpoint_id: int) -> HttpResponse:
    try:
        page = CheckpointPage(checkpoint_id, rights(person(request)))
    except Checkpoint.DoesNotExist as error:
        raise Http404(f"There is no checkpoint {checkpoint_id}.") from error
    context = page.context()
    row = context["checkpoint"]
    context |= {
        "card": checkpoints.card_of(row),
        "manifest_keys": list(flat(row.manifest)),
        "lineage": lineage_of(row.run_id, checkpoint_id=row.pk),
        "topics": topics(f"checkpoint/{row.pk}", row.project_id),
    }
    context |= talk_of(row, person(request))
    return render(request, "checkpoints/checkpoint.html", context)


@require_http_methods(["GET", "POST"])
@allowed("view_run", "change_checkpoint")
def promote(request: HttpRequest, checkpoint_id: int) -> HttpResponse:
    """GET asks, with what it replaces; POST makes it the project's drafter. What nobody approved is asked for once more."""
    row = get_object_or_404(Checkpoint.objects.select_related("project", "run"), pk=checkpoint_id)
    question, refusal, form, status = promotion(row), "", None, 200
    if request.method == "POST":
        anyway = request.POST.get("anyway") == "True"
        try:
            changed = checkpoints.promote(row, user=person(request), anyway=anyway)
        except checkpoints.NotApprovedError:
            question, form = promotion_anyway(row), AnywayForm(initial={"anyway": True})
        except NotAllowedNow as error:
            refusal, status = str(error), 409
        else:
            said = f"{row} is {'promoted' if changed else 'promoted already'}"
            return done(request, said, reverse("checkpoint", args=[row.pk]))
    context = {"project": row.project, "checkpoint": row, "back": reverse("checkpoint", args=[row.pk])}
    context |= {"question": question, "refusal": refusal, "form": form}
    template = "runs/_question.html" if request.headers.get("HX-Request") else "checkpoints/question.html"
    return render(request, template, context, status=status)


@require_safe
@looking
def download(request: HttpRequest, checkpoint_id: int) -> HttpResponseBase:
    """The exported files as one tar archive, streamed: weights of gigabytes never stand in memory."""
    row = get_object_or_404(Checkpoint.objects.select_related("project", "attempt"), pk=checkpoint_id)
    try:
        archive = Archive.of(checkpoints.folder_of(row), name=f"{row.project.slug}-r{row.run_id}-step-{row.step}")
    except checkpoints.FilesAwayError as error:
        raise Http404(str(error)) from error
    return StreamingHttpResponse(
        archive.from_loop() if isinstance(request, ASGIRequest) else archive.chunks(),
        content_type="application/x-tar",
        headers={
            "Content-Disposition": f'attachment; filename="{archive.name}.tar"',
            "Content-Length": str(archive.size),
            "X-Content-Type-Options": "nosniff",
        },
    )
