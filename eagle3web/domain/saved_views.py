"""Names for what a list's address says: filters, order, columns."""

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from eagle3web.domain import audit
from eagle3web.models import Project, SavedView, User

OWN_VIEWS = 50
"""Of one person in one project, at most."""


def save(project: Project, *, name: str, query: str, shared: bool, user: User, page: str = "runs") -> SavedView:
    """Keep the query string under a name; an own view of that name is replaced. Raises ValidationError."""
    title = " ".join(name.split())
    if not title or len(title) > 80 or not title.isprintable():
        raise ValidationError({"name": "A name has 1 to 80 characters, and no control signs."})
    if len(query) > 1000:
        raise ValidationError({"name": "This view has too many filters to be saved."})
    with transaction.atomic():
        own = SavedView.objects.filter(project=project, owner=user, page=page)
        if own.exclude(name=title).count() >= OWN_VIEWS:
            raise ValidationError({"name": f"You have {OWN_VIEWS} views in this project; delete one first."})
        fields = {"query": query, "shared": shared}
        view, _created = SavedView.objects.update_or_create(fields, project=project, owner=user, page=page, name=title)
        audit.record(user, "view.save", view, name=title, shared=shared, project=project.slug)
    return view


def delete(view: SavedView, *, user: User) -> None:
    """Forget a view, for all who see it. Raises PermissionDenied for somebody else's."""
    if view.owner_id != user.pk and not user.is_superuser:
        raise PermissionDenied
    with transaction.atomic():
        audit.record(user, "view.delete", view, name=view.name, shared=view.shared)
        view.delete()
