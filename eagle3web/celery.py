"""Celery carries messages and nothing else: tasks last seconds, and what is true stands in the database."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "eagle3web.settings")

app = Celery("eagle3web")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["eagle3web"])
