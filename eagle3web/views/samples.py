"""Sample answers of an attempt, for the drawer."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from eagle3web.models import Attempt
from eagle3web.pages.samples import shown_sample
from eagle3web.queries.samples import sampled_datasets, samples_of
from eagle3web.views.access import looking


@require_safe
@looking
def show(request: HttpRequest, run_id: int, number: int) -> HttpResponse:
    """The newest samples; `?dataset=SLUG` of one dataset, `?before=SEQ` older ones."""
    attempt = get_object_or_404(Attempt.objects.only("pk", "number", "run_id"), run=run_id, number=number)
    text = request.GET.get("before", "")
    before = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None
    dataset = request.GET.get("dataset", "")[:80]
    rows, more = samples_of(attempt.pk, dataset=dataset, before=before)
    context = {
        "attempt": attempt,
        "samples": [shown_sample(row) for row in rows],
        "older": rows[-1].seq if rows and more else None,
        "datasets": sampled_datasets(attempt.pk),
        "dataset": dataset,
    }
    return render(request, "runs/_samples.html", context)
