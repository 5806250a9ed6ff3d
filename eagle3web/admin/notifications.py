"""Where people are told of things, without the addresses' secrets, and what was sent."""

from django.contrib import admin

from eagle3web.admin.readonly import LargeTableAdmin, ReadOnlyAdmin
from eagle3web.models import Notification, NotificationChannel


@admin.register(NotificationChannel)
class NotificationChannelAdmin(ReadOnlyAdmin):
    list_display = ("name", "user", "service", "enabled", "last_sent_at", "last_error")
    list_filter = ("enabled",)
    search_fields = ("name", "user__username")
    list_select_related = ("user",)
    fields = ("name", "user", "service", "kinds", "projects", "own_runs_only", "enabled", "last_sent_at", "last_error")

    def service(self, channel: NotificationChannel) -> str:
        return channel.url.partition("://")[0]


@admin.register(Notification)
class NotificationAdmin(LargeTableAdmin):
    list_display = ("subject", "kind", "channel", "created_at", "tries", "sent_at", "error")
    list_filter = ("kind",)
    search_fields = ("subject", "channel__user__username")
    list_select_related = ("channel__user",)
