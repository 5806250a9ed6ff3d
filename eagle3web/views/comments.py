"""Comments on runs and checkpoints. With htmx they change in their place; without a script each step is a page."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from eagle3web.domain import comments
from eagle3web.models import Checkpoint, Comment, Run, User
from eagle3web.pages.questions import Point, Question
from eagle3web.pages.talk import comments_of, place_of, shown_comment
from eagle3web.pages.typed import whole
from eagle3web.talk_forms import CommentForm
from eagle3web.views.access import looking, person


@require_http_methods(["GET", "POST"])
@looking
def of_run(request: HttpRequest, run_id: int) -> HttpResponse:
    return _list_or_add(request, get_object_or_404(Run.objects.select_related("project"), pk=run_id))


@require_http_methods(["GET", "POST"])
@looking
def of_checkpoint(request: HttpRequest, checkpoint_id: int) -> HttpResponse:
    row = get_object_or_404(Checkpoint.objects.select_related("project", "run"), pk=checkpoint_id)
    return _list_or_add(request, row)


@require_http_methods(["GET", "POST"])
@looking
def edit(request: HttpRequest, comment_id: int) -> HttpResponse:
    """GET shows it as a form, `?as=shown` as it stands; POST saves it. 403 for another's."""
    comment = _find(comment_id)
    user = person(request)
    if request.GET.get("as") == "shown":
        return render(request, "talk/_comment.html", {"shown": shown_comment(comment, user)})
    if not comments.may_edit(comment, user):
        raise PermissionDenied
    data = request.POST if request.method == "POST" else None
    form = CommentForm(data, initial={"text": comment.text}, prefix=f"c{comment.pk}")
    if request.method == "POST" and form.is_valid():
        comments.edit(comment, form.cleaned_data["text"], user=user)
        if request.headers.get("HX-Request"):
            return render(request, "talk/_comment.html", {"shown": shown_comment(comment, user)})
        return redirect(place_of(_about(comment)))
    context = {"comment": comment, "form": form, "back": place_of(_about(comment)), "project": comments.run_of(comment).project}
    template = "talk/_edit.html" if request.headers.get("HX-Request") else "talk/edit.html"
    return render(request, template, context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
@looking
def remove(request: HttpRequest, comment_id: int) -> HttpResponse:
    """GET asks, POST empties it. 403 for another's, unless a superuser asks."""
    comment = _find(comment_id)
    if request.method == "POST":
        comments.remove(comment, user=person(request))
        if request.headers.get("HX-Request"):
            trigger = '{"done": {"title": "The comment is removed"}, "comments-changed": {}}'
            return HttpResponse(status=204, headers={"HX-Trigger": trigger})
        messages.success(request, "The comment is removed")
        return redirect(place_of(_about(comment)))
    if not comments.may_remove(comment, person(request)):
        raise PermissionDenied
    points = [
        Point("x", "Its text is deleted, and cannot be brought back."),
        Point("info", f"That {comment.author or 'somebody'} wrote here stays."),
    ]
    question = Question(title="Remove the comment?", points=points, act="Remove", refuse="Keep it", icon="x", dangerous=True)
    about = _about(comment)
    context: dict[str, Any] = {"question": question, "back": place_of(about), "about": about}
    context["project"] = comments.run_of(comment).project
    template = "runs/_question.html" if request.headers.get("HX-Request") else "talk/question.html"
    return render(request, template, context)


def talk_of(about: Run | Checkpoint, user: User, form: CommentForm | None = None) -> dict[str, Any]:
    """What `talk/_comments.html` needs, on the page of the run or the checkpoint. Two queries."""
    return comments_of(about, user) | {"comment_form": form or CommentForm()}


def _list_or_add(request: HttpRequest, about: Run | Checkpoint) -> HttpResponse:
    scripted = bool(request.headers.get("HX-Request"))
    if request.method == "GET":
        if not scripted:
            return redirect(place_of(about))
        before = whole(request.GET.get("before", ""))
        return render(request, "talk/_list.html", comments_of(about, person(request), before=before))
    form = CommentForm(request.POST)
    if form.is_valid():
        comments.add(about, form.cleaned_data["text"], user=person(request))
        if not scripted:
            return redirect(place_of(about))
        return render(request, "talk/_comments.html", talk_of(about, person(request)))
    if not scripted:
        messages.error(request, str(form.errors["text"][0]))
        return redirect(place_of(about))
    return render(request, "talk/_comments.html", talk_of(about, person(request), form), status=422)


def _find(comment_id: int) -> Comment:
    rows = Comment.objects.select_related("author", "run__project", "checkpoint__run__project")
    return get_object_or_404(rows, pk=comment_id)


def _about(comment: Comment) -> Run | Checkpoint:
    return comment.checkpoint if comment.checkpoint is not None else comments.run_of(comment)
