"""A person's own page: time zone, password, API tokens, and where they are told of things. Everything here is one's own."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from eagle3web.domain import people
from eagle3web.models import ApiToken
from eagle3web.pages.me import me
from eagle3web.pages.questions import Point, Question
from eagle3web.pages.topics import topics
from eagle3web.person_forms import NewTokenForm, PasswordForm, TimeZoneForm
from eagle3web.views.access import person
from eagle3web.views.reviews import done


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    return _page(request)


@require_POST
def time_zone(request: HttpRequest) -> HttpResponse:
    form = TimeZoneForm(request.POST)
    if not form.is_valid():
        return _page(request, zone_form=form)
    people.set_time_zone(person(request), form.cleaned_data["time_zone"])
    messages.success(request, f"Times are shown {_in_zone(form.cleaned_data['time_zone'])}")
    return redirect("me")


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def password(request: HttpRequest) -> HttpResponse:
    """The session goes on under a new key; every other one of this person ends."""
    user = person(request)
    form = PasswordForm(user, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        people.change_password(user, form.cleaned_data["new_password1"])
        update_session_auth_hash(request, user)
        messages.success(request, "Your password is changed; you are signed out everywhere else")
        return redirect("me")
    context = {"form": form, "topics": topics("", request.session.get("project"))}
    return render(request, "me/password.html", context, status=422 if form.errors else 200)


@never_cache
@require_POST
def issue_token(request: HttpRequest) -> HttpResponse:
    """Answers with the token itself, this once: it is stored nowhere, so that no later page can show it."""
    user = person(request)
    form = NewTokenForm(request.POST)
    if not form.is_valid():
        return _page(request, token_form=form)
    values = form.cleaned_data
    token = people.issue_token(user, values["name"], form.expires, scopes=values["scopes"], by=user)
    return render(request, "me/token.html", {"token": token, "name": values["name"]})


@require_http_methods(["GET", "POST"])
def revoke_token(request: HttpRequest, token_id: int) -> HttpResponse:
    """GET asks, POST revokes one's own token; another's is not found."""
    token = get_object_or_404(ApiToken.objects.select_related("user"), pk=token_id, user=person(request))
    if request.method == "POST":
        people.revoke_token(token, by=person(request))
        return done_on_page(request, f"The token {token.name} is revoked")
    points = [
        Point("x", f"Whatever uses {token.prefix}… is refused from now on."),
        Point("info", "It cannot be brought back; a new token has another secret."),
    ]
    question = Question(title=f"Revoke {token.name}?", points=points, act="Revoke", refuse="Keep it", icon="x", dangerous=True)
    return ask(request, question)


def done_on_page(request: HttpRequest, said: str) -> HttpResponse:
    """Back to the person's page, which says so."""
    if request.headers.get("HX-Request"):
        messages.success(request, said)
        return HttpResponse(status=204, headers={"HX-Redirect": reverse("me")})
    return done(request, said, reverse("me"))


def ask(request: HttpRequest, question: Question) -> HttpResponse:
    template = "runs/_question.html" if request.headers.get("HX-Request") else "me/question.html"
    return render(request, template, {"question": question, "back": reverse("me")})


def _page(request: HttpRequest, **forms: Any) -> HttpResponse:
    user = person(request)
    context = me(user) | {
        "zone_form": forms.get("zone_form") or TimeZoneForm(initial={"time_zone": user.time_zone}),
        "token_form": forms.get("token_form") or NewTokenForm(),
    }
    context["topics"] = topics("", request.session.get("project"))
    return render(request, "me/me.html", context, status=422 if forms else 200)


def _in_zone(zone: str) -> str:
    return f"in {zone}" if zone else "in the zone of your browser"
