"""Engines and hosts: health of each, and a form to register an engine."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from eagle3web.domain.registry import register_engine
from eagle3web.forms import EngineForm
from eagle3web.pages.engines import EnginesPage
from eagle3web.pages.rights import rights
from eagle3web.pages.topics import topics
from eagle3web.views.access import allowed, looking, person
from eagle3web.views.hosts import chosen_span


@require_safe
@looking
def show(request: HttpRequest) -> HttpResponse:
    page = EnginesPage(rights(person(request)))
    shown = page.context() | page.details(chosen_span(request))
    return render(request, "engines/engines.html", shown | {"topics": topics("engines", request.session.get("project"))})


@require_http_methods(["GET", "POST"])
@allowed("view_run", "add_engine")
def register(request: HttpRequest) -> HttpResponse:
    form = EngineForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        values = dict(form.cleaned_data)
        name = values.pop("name")
        try:
            register_engine(name, user=person(request), **values)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, f"{name} is registered; it is asked for its health within seconds")
            return redirect("engines")
    return render(request, "engines/register.html", {"form": form}, status=422 if form.errors else 200)
