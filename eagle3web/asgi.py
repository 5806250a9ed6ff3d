"""Where HTTP and WebSockets come in."""

import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "eagle3web.settings")

application = ProtocolTypeRouter({"http": get_asgi_application()})
