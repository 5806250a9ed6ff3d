"""Engines are registered here; what they say about themselves is the system's. Hosts and leases are shown."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest

from eagle3web.admin.consequences import of_engine
from eagle3web.admin.readonly import LargeTableAdmin, ReadOnlyAdmin
from eagle3web.domain.registry import change_engine, register_engine
from eagle3web.models import Engine, EngineSample, Host, HostSample, Lease, User

PEOPLES = ("name", "url", "protocol", "model_name", "enabled")
SYSTEMS = (
    "state", "reason", "state_since", "checked_at", "info", "running", "waiting", "tokens_per_s", "accept_length", "created_at",
)  # fmt: skip


@admin.register(Engine)
class EngineAdmin(admin.ModelAdmin):
    list_display = ("name", "url", "protocol", "enabled", "state", "reason", "running", "waiting", "tokens_per_s", "checked_at")
    list_filter = ("state", "enabled", "protocol")
    search_fields = ("name", "url")

    def get_fieldsets(self, request: HttpRequest, obj: Engine | None = None) -> Any:  # noqa: ANN401  (Django's nested tuples)
        """The form says who is using the engine, before anybody switches it off."""
        said = {"description": of_engine(obj)} if obj is not None else {}
        return ((None, {"fields": PEOPLES, **said}), ("As it says itself", {"fields": SYSTEMS}))

    def save_model(self, request: HttpRequest, obj: Engine, form: forms.ModelForm, change: bool) -> None:
        values = {name: form.cleaned_data[name] for name in form.changed_data}
        user = cast(User, request.user)
        if change:
            before = Engine.objects.get(pk=obj.pk)
            said = of_engine(before)
            change_engine(before, user=user, **values)
            if values.keys() & {"enabled", "url"}:
                messages.warning(request, said)
        else:
            obj.pk = register_engine(values.pop("name"), user=user, **values).pk

    def get_readonly_fields(self, request: HttpRequest, obj: Engine | None = None) -> tuple[str, ...]:
        # Runs name their engines.
        return SYSTEMS if obj is None else ("name", *SYSTEMS)


@admin.register(Host)
class HostAdmin(ReadOnlyAdmin):
    list_display = ("name", "seen_at", "boot_id", "sample")
    search_fields = ("name",)


@admin.register(Lease)
class LeaseAdmin(ReadOnlyAdmin):
    list_display = ("host", "device", "attempt", "taken_at")
    list_filter = ("host",)
    list_select_related = ("attempt",)


@admin.register(HostSample)
class HostSampleAdmin(LargeTableAdmin):
    list_display = ("host", "at", "cpu_percent", "memory_used", "disk_free")
    list_filter = ("host",)
    search_fields = ("host__name",)
    list_select_related = ("host",)


@admin.register(EngineSample)
class EngineSampleAdmin(LargeTableAdmin):
    list_display = ("engine", "at", "running", "waiting", "tokens_per_s", "accept_length")
    list_filter = ("engine",)
    search_fields = ("engine__name",)
    list_select_related = ("engine",)
