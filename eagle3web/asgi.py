"""Where HTTP and WebSockets come in."""

import os
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "eagle3web.settings")
http = get_asgi_application()

from eagle3web.consumers import LiveConsumer  # noqa: E402  (models can be imported only after the line above)

live: Any = LiveConsumer.as_asgi()
sockets: list[Any] = [path("ws/live/", live)]

application = ProtocolTypeRouter(
    {
        "http": http,
        # A page of another site cannot open a socket with this site's cookies.
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(sockets))),
    }
)
