"""Which runs a list shows, as its address says: a link shows the same rows to everybody."""

from datetime import date
from typing import Any

import django_filters
from django import forms
from django.db.models import QuerySet

from eagle3web.days import POSSIBLE, start_of
from eagle3web.enums import RunStatus, Stage
from eagle3web.models import Run
from eagle3web.queries import run_list
from eagle3web.text import visible

STATES = (
    ("live", "live"), ("queued", "queued"), ("running", "running"), ("finished", "finished"), ("stopped", "stopped"),
    ("failed", "failed"), ("lost", "lost"),
)  # fmt: skip


class RunFilter(django_filters.FilterSet):  # type: ignore[misc]  # django-filter has no types
    q = django_filters.CharFilter(method="search", label="Search")
    state = django_filters.ChoiceFilter(choices=STATES, method="in_state", empty_label="any state", label="State")
    stage = django_filters.ChoiceFilter(choices=(), empty_label="any stage", label="Stage")
    author = django_filters.ChoiceFilter(field_name="author_id", choices=(), empty_label="anyone", label="Author")
    tag = django_filters.ChoiceFilter(choices=(), method="with_tag", empty_label="any tag", label="Tag")
    since = django_filters.DateFilter(
        method="created_since",
        label="Since",
        validators=POSSIBLE,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    starred = django_filters.BooleanFilter(method="with_star", label="Starred", widget=forms.CheckboxInput)

    def __init__(self, *args: Any, project_id: int, user_id: int, **kwargs: Any) -> None:
        super().__init__(*args, queryset=run_list.runs_of(project_id), **kwargs)
        self.user_id = user_id
        self.tags = run_list.tags_of(project_id)
        self.filters["author"].extra["choices"] = [(str(pk), visible(name)) for pk, name in run_list.authors(project_id)]

        # Stages that there are, and the one in the address: a link stays valid when its runs are not there yet.
        known = {*run_list.stages(project_id), self.data.get("stage")}
        self.filters["stage"].extra["choices"] = [choice for choice in Stage.choices if choice[0] in known]
        asked = self.data.get("tag", "")
        offered = [*self.tags, *([asked] if asked and asked not in self.tags else [])]
        self.filters["tag"].extra["choices"] = [(tag, visible(tag)) for tag in offered]

    def search(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        """By number (`r142`), title, tag, notes, config hash or author."""
        return runs.filter(run_list.saying(value.strip()[:100]))

    def in_state(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return runs.filter(status__in=RunStatus.LIVE if value == "live" else [value])

    def with_tag(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return runs.filter(run_list.tagged(value))

    def created_since(self, runs: QuerySet[Run], name: str, value: date) -> QuerySet[Run]:
        return runs.filter(created_at__gte=start_of(value))

    def with_star(self, runs: QuerySet[Run], name: str, value: bool) -> QuerySet[Run]:
        return runs.filter(stars__user=self.user_id) if value else runs
