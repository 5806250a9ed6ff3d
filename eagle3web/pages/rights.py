"""What a person may do on the pages."""

from django.contrib.auth.models import AnonymousUser

from eagle3web.models import User

LOOK = "view_run"
"""Who may see runs may see the pages."""
RIGHTS = (
    "view_run", "add_run", "change_run", "add_dataset", "change_dataset", "add_project", "change_tokenbudget", "add_engine",
    "change_engine", "change_host", "change_checkpoint", "add_answerflag", "change_answerflag", "change_retentionpolicy",
)  # fmt: skip

Rights = frozenset[str]


def rights(user: User | AnonymousUser) -> Rights:
    """The codenames of RIGHTS that the person has. Fragments are rendered once for all people with the same."""
    return frozenset(codename for codename in RIGHTS if user.has_perm(f"eagle3web.{codename}"))
