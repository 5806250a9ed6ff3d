"""Projects, with their budgets one click away."""

from collections.abc import Sequence
from typing import cast

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from eagle3web.domain.projects import TRUSTING, change_project, create_project
from eagle3web.models import Project, User


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin):
    list_display = ("name", "slug", "target_model", "budgets_link", "created_at", "created_by")
    search_fields = ("name", "slug", "target_model")
    list_select_related = ("created_by",)
    fields = (
        "slug", "name", "target_model", "tokenizer", "target_path", "allow_remote_code", "chat_template",
        "chat_template_kwargs", "sampling", "host_tags",
    )  # fmt: skip
    prepopulated_fields = {"slug": ("name",)}

    @admin.display(description="budgets")
    def budgets_link(self, project: Project) -> str:
        return format_html(
            '<a href="{}?project__id__exact={}">budgets</a>', reverse("admin:eagle3web_tokenbudget_changelist"), project.pk
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Project | None = None) -> tuple[str, ...]:
        # Folders on every host carry the slug.
        fixed = () if obj is None else ("slug",)
        return fixed if request.user.has_perm(TRUSTING) else (*fixed, "allow_remote_code")

    def get_prepopulated_fields(self, request: HttpRequest, obj: Project | None = None) -> dict[str, Sequence[str]]:
        return {"slug": ("name",)} if obj is None else {}

    def save_model(self, request: HttpRequest, obj: Project, form: forms.ModelForm, change: bool) -> None:
        user = cast(User, request.user)
        values = {name: form.cleaned_data[name] for name in form.changed_data}
        if change:
            change_project(Project.objects.get(pk=obj.pk), user=user, **values)
        else:
            obj.pk = create_project(values.pop("slug"), user=user, **values).pk
