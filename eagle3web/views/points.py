"""Points of an attempt's charts, for who zooms in."""

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from eagle3web.enums import Stage
from eagle3web.models import Attempt
from eagle3web.pages.stages import PARTS
from eagle3web.views.access import looking

LINES = 40


@require_safe
@looking
def show(request: HttpRequest, run_id: int, number: int) -> HttpResponse:
    """`?lines=loss,accuracy/0&from=100&to=900`: steps, or milliseconds, as the stage's charts count."""
    attempt = get_object_or_404(Attempt.objects.select_related("run").only("number", "run__stage"), run=run_id, number=number)
    lines = request.GET.get("lines", "").split(",")[:LINES]
    try:
        low, high = (round(float(request.GET.get(name, default))) for name, default in (("from", "0"), ("to", "1e13")))
    except (ValueError, OverflowError):
        return HttpResponseBadRequest("from and to are numbers")
    part = PARTS.get(attempt.run.stage, PARTS[Stage.GENERATE])
    found = part.points_within(attempt, lines, *(min(max(0, value), 10**13) for value in (low, high)))
    drawn = {line: {"x": [x for x, _ in own], "y": [y for _, y in own]} for line, own in found.lines.items()}
    return JsonResponse(
        {"lines": drawn, "total": found.total, "drawn": max((len(own) for own in found.lines.values()), default=0)}
    )
