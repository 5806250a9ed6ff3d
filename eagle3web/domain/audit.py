"""The audit trail: who did what to what."""

from django.db import models

from eagle3web.models import AuditEntry, User


def record(user: User | None, verb: str, target: models.Model | str, **detail: object) -> AuditEntry:
    """Write one entry; call it in the transaction of the change, so that neither stands without the other.

    `user` is None when the system acted by itself. `verb` is `noun.verb`, such as `run.stop`; `target` is a row, named by
    its kind and key (`run 142`), or words. `detail` must be JSON: old and new values, never prompts, answers or tokens.
    """
    name = target if isinstance(target, str) else f"{target._meta.verbose_name} {target.pk}"
    return AuditEntry.objects.create(user=user, verb=verb, target=name[:200], detail=detail)
