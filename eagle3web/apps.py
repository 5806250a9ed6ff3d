"""The one Django app."""

from django.apps import AppConfig
from django.core import checks
from django.db.models.signals import post_migrate


class Eagle3WebConfig(AppConfig):
    name = "eagle3web"
    verbose_name = "eagle3web"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from eagle3web.checks import check_installation  # noqa: PLC0415  (reads models, which are not there before `ready`)
        from eagle3web.domain.roles import ensure_groups  # noqa: PLC0415

        checks.register(check_installation)
        post_migrate.connect(ensure_groups, sender=self, dispatch_uid="eagle3web.ensure_groups")
