"""Form fields for what people write in the admin."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import format_html
from django.utils.safestring import SafeString

from eagle3web.domain.counts import parse_count
from eagle3web.formats import count


class CountField(forms.IntegerField):
    """A whole number as people write it: `10 M`, `10 000 000`; shown in groups of three."""

    widget = forms.TextInput

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        return {"inputmode": "decimal", "autocomplete": "off", "size": 11}

    def to_python(self, value: object) -> int | None:
        if value in self.empty_values:
            return None
        try:
            return parse_count(str(value))
        except ValueError as error:
            raise ValidationError(str(error)) from error

    def prepare_value(self, value: object) -> object:
        return count(value) if isinstance(value, int) else value


class _VersionInput(forms.HiddenInput):
    """Carries the version that the page was made from, and shows it."""

    def render(self, name: str, value: object, attrs: Any = None, renderer: Any = None) -> SafeString:  # noqa: ANN401
        return format_html("v{} {}", "?" if value is None else str(value), super().render(name, value, attrs, renderer))


class VersionField(forms.IntegerField):
    """The version that an editor saw. It is compared with the current one and never edited, so it never counts as a change."""

    widget = _VersionInput

    def has_changed(self, initial: object, data: object) -> bool:
        return False
