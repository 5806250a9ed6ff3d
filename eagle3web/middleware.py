"""What happens to every request: how often somebody may ask, what a browser may do with an answer, and the reader's zone."""

import hashlib
import math
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.db import DataError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django.views.defaults import page_not_found

from eagle3web.models import User
from eagle3web.rates import Rate

ADMIN, API, SIGN_IN = "/admin/", "/api/", "/sign-in/"
ADDRESS_TIMES = 10
"""Of one token's rate: what one address may ask, since a team may sit behind one."""
PERMISSIONS = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"
"""What no page here needs, so that nothing that got into one could use it."""


class HeadersMiddleware(MiddlewareMixin):
    """What Django's own middleware does not say. Pages show what their reader may see: they are not for anybody's cache."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        if not response.headers.get("Cache-Control"):
            response.headers["Cache-Control"] = "private, no-cache"
        return response


class RateMiddleware(MiddlewareMixin):
    """Answers 429 with Retry-After to who calls the API too often, by token or person and by address, and to who tries to sign
    in too often from one address, whatever names they try. Judged before the token is looked up."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._callers = Rate(settings.EAGLE3_API_RATE)
        self._addresses = Rate(settings.EAGLE3_API_RATE * ADDRESS_TIMES)
        self._sign_ins = Rate(settings.EAGLE3_SIGN_IN_RATE)

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponse | None:
        address = str(request.META.get("REMOTE_ADDR", ""))
        if request.path_info.startswith(API):
            wait = self._addresses.wait_s(address) or self._callers.wait_s(_caller(request, address))
            return _too_often_for_a_program(wait) if wait else None
        if request.path_info.startswith(SIGN_IN) and request.method == "POST" and (wait := self._sign_ins.wait_s(address)):
            until = timezone.now() + timedelta(seconds=wait)
            return _retry(render(request, "sign_in/locked_out.html", {"until": until, "many": True}, status=429), wait)
        return None


class AdminNumbersMiddleware(MiddlewareMixin):
    """A number in an address of Django's admin that no column can hold finds nothing: 404, where Django would answer 500."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        too_large = isinstance(exception, (OverflowError, DataError))
        return page_not_found(request, exception) if too_large and request.path_info.startswith(ADMIN) else None


def _caller(request: HttpRequest, address: str) -> str:
    """Who calls, before anybody knows whether the token is one; never the token itself."""
    if told := request.headers.get("Authorization"):
        return f"token {hashlib.sha256(told.encode(errors='surrogateescape')).hexdigest()}"
    return f"person {request.user.pk}" if request.user.is_authenticated else f"address {address}"


def _too_often_for_a_program(wait: float) -> HttpResponse:
    said = f"Too many requests; the next one is taken in {math.ceil(wait)} s."
    return _retry(JsonResponse({"detail": said}, status=429), wait)


def _retry(response: HttpResponse, wait: float) -> HttpResponse:
    response.headers["Retry-After"] = str(math.ceil(wait))
    return response


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
