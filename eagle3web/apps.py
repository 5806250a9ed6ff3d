"""The one Django app."""

from django.apps import AppConfig


class Eagle3WebConfig(AppConfig):
    name = "eagle3web"
    verbose_name = "eagle3web"
    default_auto_field = "django.db.models.BigAutoField"
