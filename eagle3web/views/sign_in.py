"""How people come in and go out."""

from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from eagle3web.domain.people import redeem_sign_in_link
from eagle3web.forms import SignInForm

sign_in = LoginView.as_view(
    template_name="sign_in/sign_in.html", authentication_form=SignInForm, redirect_authenticated_user=True
)
sign_out = LogoutView.as_view()


def locked_out(request: HttpRequest, response: HttpResponse | None, credentials: dict[str, Any] | None) -> HttpResponse:
    """Too many wrong passwords: what django-axes shows, with the moment from which on it takes another try."""
    username = (credentials or {}).get("username") or request.POST.get("username", "")
    here = AccessAttempt.objects.filter(username=username, ip_address=getattr(request, "axes_ip_address", None))
    last = here.order_by("-attempt_time").values_list("attempt_time", flat=True).first()
    until = (last or timezone.now()) + settings.AXES_COOLOFF_TIME
    return render(request, "sign_in/locked_out.html", {"until": until}, status=429)


@never_cache
@login_not_required
@require_http_methods(["GET", "POST"])
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in with a one-time link. Following it only asks: programs that look into links would use it up."""
    if request.method == "GET":
        return render(request, "sign_in/link.html")
    user = redeem_sign_in_link(token)
    if user is None:
        return render(request, "sign_in/link_refused.html", status=410)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("overview")
