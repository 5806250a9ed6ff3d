"""The dashboard: Django, Channels and Celery around the programs of pipeline/."""

from eagle3web.celery import app as celery_app

__all__ = ["celery_app"]
