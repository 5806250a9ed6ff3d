"""What people set for themselves, checked."""

from datetime import datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.contrib.auth.forms import PasswordChangeForm
from django.utils import timezone

from eagle3web.domain.notify_targets import URL_LIMIT, check_target
from eagle3web.enums import NotificationKind, TokenScope
from eagle3web.forms import RowChoices, dress
from eagle3web.models import NotificationChannel, Project

LONGEST_DAYS = 3650
MOST_CHANNELS = 20
"""Of one person: whoever ends a run writes a message for each of them."""


@cache
def zone_choices() -> list[tuple[str, Any]]:
    """IANA names by region, without those that only old programs use."""
    regions: dict[str, list[tuple[str, str]]] = {}
    for name in sorted(available_timezones()):
        region, _, place = name.partition("/")
        if place and region not in ("Etc", "SystemV", "US", "Brazil", "Canada", "Chile", "Mexico"):
            regions.setdefault(region, []).append((name, place.replace("_", " ")))
    return [("", "as my browser says"), ("UTC", "UTC"), *regions.items()]


class TimeZoneForm(forms.Form):
    time_zone = forms.ChoiceField(required=False, label="Time zone", help_text="Of every time that you are shown.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["time_zone"]
        if isinstance(field, forms.ChoiceField):
            field.choices = zone_choices()
        dress(self)


class PasswordForm(PasswordChangeForm):
    """The old one, and the new one twice."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["new_password1"].help_text = "At least 8 characters; no common one, not digits alone, not like your name."
        self.fields["new_password2"].label, self.fields["new_password2"].help_text = "New password, once more", ""
        dress(self)


class NewTokenForm(forms.Form):
    """A token for a program."""

    name = forms.CharField(max_length=100, help_text="What it is for, such as nightly-report.")
    scopes = forms.MultipleChoiceField(
        choices=TokenScope.choices,
        widget=forms.CheckboxSelectMultiple,
        label="Good for",
        initial=[TokenScope.READ],
        error_messages={"required": "Choose what the token is good for."},
    )
    days = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LONGEST_DAYS,
        initial=90,
        label="Days until it expires",
        help_text="Empty: never.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        dress(self)

    @property
    def expires(self) -> datetime | None:
        days = self.cleaned_data["days"]
        return None if days is None else timezone.now() + timedelta(days=days)


class ChannelForm(forms.ModelForm):  # type: ignore[type-arg]
    """Where to be told, and of what. The address is never shown again: left empty, the stored one stays."""

    url = forms.CharField(
        max_length=URL_LIMIT,
        required=False,
        label="Address",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "class": "form-control mono"}),
    )
    kinds = forms.MultipleChoiceField(
        choices=NotificationKind.choices, required=False, widget=forms.CheckboxSelectMultiple, label="Tell me when"
    )
    projects = RowChoices(
        queryset=Project.objects.order_by("name"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Of these projects",
    )

    class Meta:
        model = NotificationChannel
        fields = ("name", "url", "kinds", "projects", "own_runs_only", "enabled")
        labels = {"own_runs_only": "Only runs that I started", "enabled": "On"}
        help_texts = {"name": "How you call it, such as team-slack."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stored_url = self.instance.url
        self.initial.pop("url", None)
        stays = "Empty: the stored one stays."
        self.fields["url"].help_text = stays if self.stored_url else "Such as slack://TOKEN-A/TOKEN-B/TOKEN-C."
        dress(self)

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"].strip() or self.stored_url
        if not url:
            raise forms.ValidationError("Write an address, such as slack://TOKEN-A/TOKEN-B/TOKEN-C.")
        try:
            check_target(url)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
        return url

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        if self.instance.pk is None and self.instance.user.channels.count() >= MOST_CHANNELS:
            raise forms.ValidationError(f"You have {MOST_CHANNELS} channels already; change or remove one.")
        return found

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        others = NotificationChannel.objects.filter(user=self.instance.user_id, name=name).exclude(pk=self.instance.pk)
        if others.exists():
            raise forms.ValidationError("You have a channel of this name already.")
        return name
