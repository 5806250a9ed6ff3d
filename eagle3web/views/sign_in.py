"""How people come in and go out."""

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from eagle3web.domain.people import redeem_sign_in_link
from eagle3web.forms import SignInForm

sign_in = LoginView.as_view(
    template_name="sign_in/sign_in.html", authentication_form=SignInForm, redirect_authenticated_user=True
)
sign_out = LogoutView.as_view()


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
