"""A person's notification channels: made, changed, tried out, taken away. Another's are not found."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from eagle3web.domain import channels, deliveries
from eagle3web.domain.notify_targets import schemes
from eagle3web.models import NotificationChannel
from eagle3web.pages.questions import Point, Question
from eagle3web.pages.topics import topics
from eagle3web.person_forms import ChannelForm
from eagle3web.views.access import person
from eagle3web.views.me import ask, done_on_page


@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    return _form(request, NotificationChannel(user=person(request)))


@require_http_methods(["GET", "POST"])
def change(request: HttpRequest, channel_id: int) -> HttpResponse:
    return _form(request, _mine(request, channel_id))


@require_POST
def test(request: HttpRequest, channel_id: int) -> HttpResponse:
    channel = _mine(request, channel_id)
    try:
        deliveries.send_test(channel)
    except deliveries.NotSentError as error:
        messages.error(request, f"The test did not arrive at {channel.name}: {error}")
    else:
        messages.success(request, f"A test was sent to {channel.name}")
    return redirect("me")


@require_http_methods(["GET", "POST"])
def remove(request: HttpRequest, channel_id: int) -> HttpResponse:
    channel = _mine(request, channel_id)
    if request.method == "POST":
        channels.remove_channel(channel, user=person(request))
        return done_on_page(request, f"{channel.name} is removed")
    points = [
        Point("bell", "Nothing is sent there any more, not even what still waits."),
        Point("info", "Its address is deleted. Switching it off keeps it."),
    ]
    title = f"Remove {channel.name}?"
    question = Question(title=title, points=points, act="Remove", refuse="Keep it", icon="x", dangerous=True)
    return ask(request, question)


def _form(request: HttpRequest, channel: NotificationChannel) -> HttpResponse:
    form = ChannelForm(request.POST if request.method == "POST" else None, instance=channel)
    if request.method == "POST" and form.is_valid():
        kept = form.save(commit=False)
        channels.save_channel(kept, projects=form.cleaned_data["projects"], user=person(request))
        messages.success(request, f"{kept.name} is saved")
        return redirect("me")
    name = NotificationChannel.objects.filter(pk=channel.pk).values_list("name", flat=True).first()
    context = {
        "channel": {"name": name or ""},
        "form": form,
        "one_by_one": [form["own_runs_only"], form["enabled"]],
        "schemes": schemes(),
        "hosts": settings.EAGLE3_NOTIFY_HOSTS,
        "topics": topics("", request.session.get("project")),
    }
    return render(request, "me/channel.html", context, status=422 if form.errors else 200)


def _mine(request: HttpRequest, channel_id: int) -> NotificationChannel:
    return get_object_or_404(NotificationChannel, pk=channel_id, user=person(request))
