"""Celery carries messages and nothing else: tasks last seconds, and what is true stands in the database."""

import logging
import os
from typing import Any

from celery import Celery
from celery.contrib.django.task import DjangoTask
from kombu.exceptions import OperationalError

from eagle3web import broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "eagle3web.settings")
log = logging.getLogger(__name__)


class Message(DjangoTask):  # type: ignore[type-arg]
    """A task whose message may be lost: a broker that is away delays the work until the next reconcile, and fails nobody."""

    def apply_async(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  (Celery's signature)
        try:
            return super().apply_async(*args, **kwargs)
        except OperationalError as error:
            log.warning("%s not sent (%s); reconcile will see to it", self.name, error)
            return None


broker.mend()
app = Celery("eagle3web", task_cls=Message)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["eagle3web"])
