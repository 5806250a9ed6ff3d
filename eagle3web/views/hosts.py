"""One host, with the charts of the time that the address names; and whether it takes work."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from eagle3web.domain import hosts
from eagle3web.forms import DrainForm
from eagle3web.models import Host
from eagle3web.pages.host_questions import drain_question, undrain_question
from eagle3web.pages.hosts import HostPage
from eagle3web.pages.questions import Question
from eagle3web.pages.rights import rights
from eagle3web.pages.topics import topics
from eagle3web.queries.machines import SPANS, Span
from eagle3web.views.access import allowed, looking, person
from eagle3web.views.reviews import done


@require_safe
@looking
def show(request: HttpRequest, name: str) -> HttpResponse:
    host = get_object_or_404(Host.objects.only("pk"), name=name)
    page = HostPage(host.pk, rights(person(request)))
    context = page.context()
    context |= page.details(context["shown"], chosen_span(request))
    return render(request, "hosts/host.html", context | {"topics": topics(f"host/{host.pk}", request.session.get("project"))})


@require_http_methods(["GET", "POST"])
@allowed("view_run", "change_host")
def drain(request: HttpRequest, name: str) -> HttpResponse:
    """Give it no new attempt."""
    host = get_object_or_404(Host, name=name)
    form = DrainForm(request.POST if request.method == "POST" else None)
    if request.method == "GET" or not form.is_valid():
        return _ask(request, host, drain_question(host), form)
    drained = hosts.drain(host, user=person(request), reason=form.cleaned_data["reason"])
    said = "gets no new attempt" if drained else "was drained already"
    return done(request, f"{host} {said}", reverse("host", args=[host.name]))


@require_http_methods(["GET", "POST"])
@allowed("view_run", "change_host")
def undrain(request: HttpRequest, name: str) -> HttpResponse:
    """Let it take attempts again."""
    host = get_object_or_404(Host, name=name)
    if request.method == "GET":
        return _ask(request, host, undrain_question(host))
    said = "takes work again" if hosts.undrain(host, user=person(request)) else "takes work already"
    return done(request, f"{host} {said}", reverse("host", args=[host.name]))


def _ask(request: HttpRequest, host: Host, question: Question, form: DrainForm | None = None) -> HttpResponse:
    context = {"host": host, "question": question, "form": form, "back": reverse("host", args=[host.name])}
    template = "runs/_question.html" if request.headers.get("HX-Request") else "hosts/question.html"
    return render(request, template, context, status=422 if form is not None and form.errors else 200)


def chosen_span(request: HttpRequest) -> Span:
    """Of `?span=`; the last hour for anything else."""
    return SPANS.get(request.GET.get("span", ""), SPANS["1h"])
