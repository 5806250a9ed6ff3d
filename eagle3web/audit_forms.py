"""What is looked for in the audit trail, as the page's address says it."""

from datetime import timedelta
from typing import Any

from django import forms

from eagle3web.days import POSSIBLE, start_of
from eagle3web.forms import dress
from eagle3web.queries.audit import SYSTEM, AuditFilter


class AuditForm(forms.Form):
    """Days are those of the reader's zone."""

    person = forms.ChoiceField(required=False)
    verb = forms.ChoiceField(required=False)
    thing = forms.CharField(required=False, max_length=200)
    since = forms.DateField(required=False, validators=POSSIBLE, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(required=False, validators=POSSIBLE, widget=forms.DateInput(attrs={"type": "date"}))

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
            since=start_of(since) if since else None,
            until=start_of(until + timedelta(days=1)) if until else None,
        )
