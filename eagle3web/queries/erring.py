"""Datasets whose prompts gave too many errors, and runs that ended with such: no failure of the process, yet worth a look."""

from datetime import datetime

from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet, Subquery

from eagle3web.enums import RunStatus, Stage
from eagle3web.models import Attempt, DatasetProgress, Run

ERROR_SHARE = 0.02
"""Errors above this share of what was asked need a look."""
FEW_ANSWERS = 50
"""Of fewer, one error is a large share, and only errors alone count."""
SHOWN = 50


def erring(rows: QuerySet[DatasetProgress]) -> QuerySet[DatasetProgress]:
    """Those with too many errors, or with nothing else; not where people switched the dataset off."""
    too_many = Q(asked__gte=FEW_ANSWERS, errors__gt=F("asked") * ERROR_SHARE)
    found = rows.annotate(asked=F("done") + F("errors")).filter(too_many | Q(done=0, errors__gt=0))
    return found.exclude(reason="disabled")


def _erred() -> Exists:
    """Of a run: its last attempt has too many errors."""
    last = Attempt.objects.filter(run=OuterRef("attempt__run")).order_by("-number").values("pk")[:1]
    return Exists(erring(DatasetProgress.objects.filter(attempt__run=OuterRef("pk"), attempt=Subquery(last))))


NEEDS_LOOK = Q(status__in=RunStatus.BROKEN) | Q(_erred(), status__in=RunStatus.UNBROKEN)
"""Of runs: failed, lost, or ended with too many errors. What people settle."""


def needs_look(run: Run) -> bool:
    """Whether it is a run that people settle. One query at most."""
    if run.status in RunStatus.UNBROKEN:
        return Run.objects.filter(NEEDS_LOOK, pk=run.pk).exists()
    return run.status in RunStatus.BROKEN


def unasked_since(project_id: int, since: datetime) -> list[DatasetProgress]:
    """Datasets with too many errors in runs that ended since then: the last word on each, the newest run first. One query.

    Whoever settles a run knows its errors: they are not told again of later runs that passed the same prompts over.
    """
    rows = DatasetProgress.objects.filter(attempt__run__project=project_id, attempt__run__stage=Stage.GENERATE)
    recent = rows.filter(Q(attempt__ended_at__gt=since) | Q(attempt__ended_at=None))
    last = recent.order_by().values("dataset").annotate(last=Max("pk")).values("last")
    known = rows.filter(dataset=OuterRef("dataset"), attempt__run__settled_at__isnull=False)
    known = known.filter(errors__gte=OuterRef("errors"), done__lte=OuterRef("done"))
    ended = DatasetProgress.objects.filter(pk__in=last, attempt__run__status__in=RunStatus.UNBROKEN)
    found = erring(ended).exclude(Exists(known)).select_related("attempt__run")
    return list(found.defer("attempt__config", "attempt__versions").order_by("-attempt_id", "position")[:SHOWN])
