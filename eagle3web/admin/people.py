"""People with their roles, API tokens, and the audit trail. For superusers."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group
from django.http import HttpRequest, HttpResponse

from eagle3web.admin.consequences import of_person
from eagle3web.admin.readonly import ReadOnlyAdmin, pretty
from eagle3web.domain.audit import record
from eagle3web.domain.people import issue_token, revoke_token
from eagle3web.domain.roles import admit_to_admin
from eagle3web.enums import TokenScope
from eagle3web.models import ApiToken, AuditEntry, User

admin.site.unregister(Group)


@admin.register(Group)
class RoleAdmin(GroupAdmin):
    """Roles are shown, not edited: what they may do stands in eagle3web.domain.roles."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return False


@admin.register(User)
class PersonAdmin(UserAdmin):
    """Who is in, in which roles. Access to this admin follows from the roles."""

    list_display = ("username", "roles", "is_superuser", "is_active", "last_login")
    list_filter = ("groups", "is_superuser", "is_active")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("About", {"fields": ("first_name", "last_name", "email", "time_zone")}),
        ("May", {"fields": ("is_active", "groups", "is_superuser")}),
        ("Seen", {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields = ("last_login", "date_joined")

    @admin.display(description="roles")
    def roles(self, user: User) -> str:
        return ", ".join(group.name for group in user.groups.all())

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:  # noqa: ANN401  (Django's nested tuples)
        """The form says what deactivating this person stops, and what goes on."""
        found = super().get_fieldsets(request, obj)
        if obj is None:
            return found
        return [(name, options | {"description": of_person(obj)} if name == "May" else options) for name, options in found]

    def get_queryset(self, request: HttpRequest) -> Any:  # noqa: ANN401  (a queryset of the concrete user)
        return super().get_queryset(request).prefetch_related("groups")

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:  # noqa: ANN401
        super().save_related(request, form, formsets, change)
        user: User = form.instance
        admit_to_admin(user)
        roles = sorted(user.groups.values_list("name", flat=True))
        detail = {"username": user.username, "roles": roles, "superuser": user.is_superuser, "active": user.is_active}
        if change and "is_active" in form.changed_data and not user.is_active:
            messages.warning(request, of_person(user))
        record(cast(User, request.user), "person.change" if change else "person.create", user, **detail)


class TokenForm(forms.ModelForm):
    scopes = forms.MultipleChoiceField(
        choices=TokenScope.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None: all that its owner may.",
    )

    class Meta:
        model = ApiToken
        fields = ("user", "name", "scopes", "expires_at")
        help_texts = {"name": "What it is for, such as nightly-report.", "expires_at": "Empty: never."}


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin):
    """Issued and revoked; never changed, and shown only once."""

    form = TokenForm
    list_display = ("name", "user", "prefix", "scopes", "created_at", "last_used_at", "expires_at")
    list_filter = ("user",)
    search_fields = ("name", "prefix", "user__username")
    list_select_related = ("user",)
    autocomplete_fields = ("user",)
    ordering = ("-pk",)

    def has_change_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: ApiToken, form: forms.ModelForm, change: bool) -> None:
        by = cast(User, request.user)
        token = issue_token(obj.user, obj.name, obj.expires_at, scopes=form.cleaned_data["scopes"], by=by)
        obj.pk = ApiToken.objects.get(prefix=token[:8], user=obj.user, name=obj.name).pk
        messages.warning(request, f"The token is {token} — copy it now, it is not shown again.")

    def response_add(self, request: HttpRequest, obj: ApiToken, post_url_continue: str | None = None) -> HttpResponse:
        return self.response_post_save_add(request, obj)

    def delete_model(self, request: HttpRequest, obj: ApiToken) -> None:
        revoke_token(obj, by=cast(User, request.user))

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:  # noqa: ANN401  (a queryset)
        for token in queryset:
            self.delete_model(request, token)


@admin.register(AuditEntry)
class AuditAdmin(ReadOnlyAdmin):
    list_display = ("at", "user", "verb", "target", "detail_shown")
    list_filter = ("verb", "at")
    search_fields = ("target", "verb", "user__username")
    list_select_related = ("user",)
    date_hierarchy = "at"
    fields = ("at", "user", "verb", "target", "detail_shown")

    @admin.display(description="detail")
    def detail_shown(self, entry: AuditEntry) -> str:
        return pretty(entry.detail)
