"""Celery carries messages and nothing else: tasks last seconds, and what is true stands in the database.

How long a message is worth anything is judged by the database's clock, by whoever sends it and by whoever receives it: a host
whose own clock is minutes ahead would throw every message away as too old.
"""

import logging
import os
from datetime import timedelta
from typing import Any, Literal

from celery import Celery
from celery.contrib.django.task import DjangoTask
from celery.worker.request import Request
from celery.worker.state import revoked as revoked_messages
from kombu.exceptions import OperationalError

from eagle3web import broker
from eagle3web.domain.clock import shared_clock

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "eagle3web.settings")
# `manage.py start` and the lint check the site; a worker that starts again need not build all pages first.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")
log = logging.getLogger(__name__)


class Received(Request):
    def maybe_expire(self) -> Literal[True] | None:
        """Whether the message came too late to be worth anything; it is not carried out then."""
        if self.expires and shared_clock.now() > self.expires:
            revoked_messages.add(self.id)
            return True
        return None


class Message(DjangoTask):  # type: ignore[type-arg]
    """A task whose message may be lost: a broker that is away delays the work until the next reconcile, and fails nobody."""

    Request = "eagle3web.celery:Received"

    def apply_async(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  (Celery's signature)
        if isinstance(kwargs.get("expires"), int | float):
            kwargs["expires"] = shared_clock.now() + timedelta(seconds=kwargs["expires"])
        try:
            return super().apply_async(*args, **kwargs)
        except OperationalError as error:
            log.warning("%s not sent (%s); reconcile will see to it", self.name, error)
            return None


broker.mend()
app = Celery("eagle3web", task_cls=Message)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["eagle3web"])
