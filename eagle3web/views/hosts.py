"""One host, with the charts of the time that the address names."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from eagle3web.models import Host
from eagle3web.pages.hosts import HostPage
from eagle3web.pages.rights import rights
from eagle3web.pages.topics import topics
from eagle3web.queries.machines import SPANS, Span
from eagle3web.views.access import looking, person


@require_safe
@looking
def show(request: HttpRequest, name: str) -> HttpResponse:
    host = get_object_or_404(Host.objects.only("pk"), name=name)
    page = HostPage(host.pk, rights(person(request)))
    context = page.context()
    context |= page.details(context["shown"], chosen_span(request))
    return render(request, "hosts/host.html", context | {"topics": topics(f"host/{host.pk}", request.session.get("project"))})


def chosen_span(request: HttpRequest) -> Span:
    """Of `?span=`; the last hour for anything else."""
    return SPANS.get(request.GET.get("span", ""), SPANS["1h"])
