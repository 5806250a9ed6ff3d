"""Times that the server writes are in the reader's zone."""

from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin

from eagle3web.models import User


class TimeZoneMiddleware(MiddlewareMixin):
    """Activates the zone that a signed-in person chose, for their request; else the site's own one stands."""

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        timezone.deactivate()
        if (zone := chosen_zone(request)) is not None:
            timezone.activate(zone)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        timezone.deactivate()
        return response


def chosen_zone(request: HttpRequest) -> ZoneInfo | None:
    """None for somebody who chose none, and for a zone that this machine does not know (any more)."""
    user = request.user
    if not isinstance(user, User) or not user.time_zone:
        return None
    try:
        return ZoneInfo(user.time_zone)
    except (ZoneInfoNotFoundError, ValueError):
        return None
