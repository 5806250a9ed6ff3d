"""`/healthz`: for load balancers and for whoever asks whether the system is up. Public, so it says nothing secret."""

from dataclasses import asdict

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from eagle3web.domain.health import check_health


@login_not_required
@require_safe
async def healthz(request: HttpRequest) -> JsonResponse:
    """200 while database, broker and channel layer answer within a second, else 503; `down` names what does not work."""
    health = await check_health()
    body = {
        "status": health.status,
        "down": health.down,
        **{name: asdict(part) for name, part in health.parts.items()},
        "workers": [asdict(worker) for worker in health.workers],
        "engines": [asdict(engine) for engine in health.engines],
    }
    return JsonResponse(body, status=200 if health.up else 503, headers={"Cache-Control": "no-store"})
