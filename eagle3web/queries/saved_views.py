"""Names that people gave to what a list's address says."""

from django.db.models import Q, QuerySet

from eagle3web.models import SavedView


def views_of(project_id: int, user_id: int, *, page: str = "runs") -> QuerySet[SavedView]:
    """The person's own, and those that others share."""
    rows = SavedView.objects.filter(Q(owner=user_id) | Q(shared=True), project=project_id, page=page)
    return rows.select_related("owner").order_by("name", "pk")[:100]
