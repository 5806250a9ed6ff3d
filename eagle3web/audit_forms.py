"""What is looked for in the audit trail, as the page's address says it."""

from datetime import datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone

from eagle3web.forms import dress
from eagle3web.queries.audit import SYSTEM, AuditFilter


class AuditForm(forms.Form):
    """Days are those of the reader's zone."""

    person = forms.ChoiceField(required=False)
    verb = forms.ChoiceField(required=False)
    thing = forms.CharField(required=False, max_length=200)
    since = forms.DateField(required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(required=False, widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, *args: Any, people: list[str], verbs: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._choose("person", [("", "anybody"), (SYSTEM, "the system"), *((name, name) for name in people)])
        nouns = sorted({verb.partition(".")[0] for verb in verbs})
        of_noun = [(noun, [(noun, f"{noun}: all"), *((v, v) for v in verbs if v.startswith(f"{noun}."))]) for noun in nouns]
        self._choose("verb", [("", "anything"), *of_noun])
        dress(self)

    def _choose(self, name: str, choices: list[Any]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = choices

    @property
    def wanted(self) -> AuditFilter:
        """The filter, once the form is valid."""
        found = self.cleaned_data
        since, until = found["since"], found["until"]
        return AuditFilter(
            person=found["person"],
            verb=found["verb"],
            thing=found["thing"].strip(),
            since=_start_of(since) if since else None,
            until=_start_of(until + timedelta(days=1)) if until else None,
        )


def _start_of(day: Any) -> datetime:  # noqa: ANN401  (a date)
    return timezone.make_aware(datetime.combine(day, time.min))
