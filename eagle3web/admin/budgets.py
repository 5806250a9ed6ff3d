"""Token budgets, edited in the list. Of two people who edit the same row the second one gets a conflict, never an overwrite."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, QuerySet, Subquery
from django.forms import BaseModelFormSet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.html import format_html
from simple_history.admin import SimpleHistoryAdmin

from eagle3web.admin.fields import CountField, VersionField
from eagle3web.domain.budgets import CHANGEABLE, BudgetConflict, change_budget, create_budget
from eagle3web.enums import AttemptStatus, RunStatus, Stage
from eagle3web.formats import UNKNOWN, count
from eagle3web.models import DatasetProgress, Run, TokenBudget, User
from eagle3web.models.project import MAX_SAMPLES, MAX_TOKENS


class BudgetForm(forms.ModelForm):
    """What a person edits, with the version that they saw.

    Each field carries its first value along (`show_hidden_initial`): a row counts as edited when its editor changed it, not
    when somebody else did in the meantime.
    """

    tokens = CountField(
        required=False, max_value=MAX_TOKENS, help_text="Completion tokens to reach, such as 10 M; empty means all prompts."
    )
    max_samples = CountField(required=False, max_value=MAX_SAMPLES, help_text="Answers at most; empty means no limit.")
    version = VersionField(required=False)

    class Meta:
        model = TokenBudget
        fields = ("project", "dataset", "tokens", "max_samples", "position", "enabled", "sampling", "version")
        help_texts = {
            "position": "Datasets are worked on in this order.",
            "sampling": "What differs from the project's sampling, as JSON. Runs that exist keep theirs.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in CHANGEABLE & self.fields.keys():
            self.fields[name].show_hidden_initial = True

    @property
    def edits(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in self.changed_data if name in CHANGEABLE}


@admin.register(TokenBudget)
class TokenBudgetAdmin(SimpleHistoryAdmin):  # type: ignore[misc]  # django-simple-history has no types
    form = BudgetForm
    list_display = (
        "dataset", "project", "tokens", "max_samples", "position", "enabled", "version", "in_use", "changes",
    )  # fmt: skip
    list_editable = ("tokens", "max_samples", "position", "enabled", "version")
    list_filter = ("project",)
    search_fields = ("dataset__slug", "project__name", "project__slug")
    list_select_related = ("project", "dataset")
    autocomplete_fields = ("project", "dataset")
    history_list_display = ("version",)
    object_history_list_template = "admin/eagle3web/tokenbudget/history_list.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[TokenBudget]:
        live = Run.objects.filter(project=OuterRef("project"), stage=Stage.GENERATE, status__in=RunStatus.LIVE)
        heard = DatasetProgress.objects.filter(
            attempt__run__project=OuterRef("project"),
            attempt__status__in=AttemptStatus.LIVE,
            dataset=OuterRef("dataset__slug"),
        )
        rows: QuerySet[TokenBudget] = super().get_queryset(request)
        return rows.annotate(
            live_run=Subquery(live.order_by("-pk").values("pk")[:1]),
            acknowledged_version=Subquery(heard.order_by("-attempt_id").values("budget_version")[:1]),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: TokenBudget | None = None) -> tuple[str, ...]:
        return () if obj is None else ("project", "dataset")

    def get_changelist_form(self, request: HttpRequest, **kwargs: object) -> type[BudgetForm]:
        return BudgetForm

    @admin.display(description="in use")
    def in_use(self, budget: TokenBudget) -> str:
        """The live run, and the version that it acknowledged beside the one that was asked for."""
        run: int | None = budget.live_run  # type: ignore[attr-defined]
        version: int | None = budget.acknowledged_version  # type: ignore[attr-defined]
        if run is None:
            return UNKNOWN
        if version is None:
            return f"run {run} is using this budget"
        return f"run {run} uses v{version}" + ("" if version == budget.version else f"; v{budget.version} is requested")

    @admin.display(description="history")
    def changes(self, budget: TokenBudget) -> str:
        return format_html('<a href="{}">history</a>', reverse("admin:eagle3web_tokenbudget_history", args=[budget.pk]))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Save each edited row by itself, so that a conflict in one leaves the others saved."""
        if request.method == "POST" and "_save" in request.POST:
            if not self.has_change_permission(request):
                raise PermissionDenied
            kind = self.get_changelist_formset(request)
            rows = self._get_list_editable_queryset(request, kind.get_default_prefix())
            formset: BaseModelFormSet = kind(request.POST, queryset=rows)
            if formset.is_valid():
                self._save_rows(request, formset)
                return HttpResponseRedirect(request.get_full_path())
        response: HttpResponse = super().changelist_view(request, extra_context)
        return response

    def _save_rows(self, request: HttpRequest, formset: BaseModelFormSet) -> None:
        saved = 0
        for form in cast(list[BudgetForm], formset.forms):
            if not form.has_changed():
                continue
            try:
                self.save_model(request, form.instance, form, change=True)
            except BudgetConflict as conflict:
                messages.error(request, conflict_text(conflict, form.edits))
                continue
            self.log_change(request, form.instance, self.construct_change_message(request, form, None))
            saved += 1
        if saved:
            messages.success(request, f"{saved} budget{'s' if saved > 1 else ''} changed. A live run hears of it at once.")

    def save_model(self, request: HttpRequest, obj: TokenBudget, form: BudgetForm, change: bool) -> None:
        """Everything goes through the domain. Raises BudgetConflict."""
        if change:
            change_budget(obj.pk, user=cast(User, request.user), expected_version=form.cleaned_data["version"], **form.edits)
            return
        made = create_budget(obj.project, obj.dataset, user=cast(User, request.user), **form.edits)
        obj.pk = made.pk

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response: HttpResponse = super().changeform_view(request, *args, **kwargs)
        except BudgetConflict as conflict:
            messages.error(request, conflict_text(conflict, {}))
            return HttpResponseRedirect(request.get_full_path())
        return response

    def revert_disabled(self, request: HttpRequest, obj: TokenBudget | None = None) -> bool:
        return True

    def get_urls(self) -> list[URLPattern]:
        # Without django-simple-history's page that reverts to an old version: it saves past the domain.
        urls: list[URLPattern] = admin.ModelAdmin.get_urls(self)
        return urls


def conflict_text(conflict: BudgetConflict, mine: dict[str, Any]) -> str:
    """Who changed the row, to what, when, and which of the reader's values were not saved."""
    theirs = conflict.theirs
    when = timezone.localtime(conflict.when).strftime("%H:%M:%S %Z")
    lost = "".join(f" Your {name.replace('_', ' ')} {_say(value)} was not saved." for name, value in mine.items())
    return (
        f"{theirs.dataset.slug}: {conflict.who} changed this budget at {when}, while you were editing it. It is now "
        f"version {theirs.version}: tokens {_say(theirs.tokens)}, max samples {_say(theirs.max_samples)}, "
        f"position {theirs.position}, {'on' if theirs.enabled else 'off'}.{lost or ' Your edit was not saved.'}"
    )


def _say(value: object) -> str:
    if value is None:
        return "without limit"
    if isinstance(value, bool):
        return "on" if value else "off"
    return count(value) if isinstance(value, int) else str(value)
