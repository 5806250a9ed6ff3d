"""The site's icon, where browsers look for it by themselves: on pages that name none, such as pop-ups of the admin."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.views.decorators.http import require_safe


@login_not_required
@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    return redirect(static("icon.svg"))
