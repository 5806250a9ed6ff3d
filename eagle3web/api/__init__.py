"""The HTTP API: thin operations over the domain, one module for each kind of thing."""

from eagle3web.api.health import healthz
from eagle3web.api.site import api

__all__ = ["api", "healthz"]
