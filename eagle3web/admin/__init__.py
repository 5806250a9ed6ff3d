"""Django's admin: budgets and people are edited here; every other table can be looked into."""

from django.contrib import admin
from django.contrib.auth.decorators import login_required

from eagle3web.admin import (
    answers,
    budgets,
    datasets,
    drafters,
    engines,
    notifications,
    people,
    projects,
    retention,
    runs,
    talk,
)

__all__ = [
    "answers",
    "budgets",
    "datasets",
    "drafters",
    "engines",
    "notifications",
    "people",
    "projects",
    "retention",
    "runs",
    "talk",
]

admin.site.site_header = admin.site.site_title = "eagle3web"
admin.site.index_title = "Tables"
# One way in: whoever is not signed in is sent to the site's own page, and the admin's form only says "you may not".
admin.site.login = login_required(admin.site.login)  # type: ignore[method-assign]
