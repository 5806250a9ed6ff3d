"""What people type in, checked."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm

from eagle3web.models import Dataset, Engine, Run
from eagle3web.models.dataset import SLUG
from eagle3web.models.tags import validate_tags
from eagle3web.text import visible

LONGEST_KEY = 18
"""Digits that fit into a database's 64 bits."""


def dress(form: forms.BaseForm) -> None:
    """Give every field the look of app.css, and say to readers which ones are wrong."""
    for name, field in form.fields.items():
        widget = field.widget
        if isinstance(widget, (forms.CheckboxInput, forms.CheckboxSelectMultiple, forms.RadioSelect)):
            look = "form-check-input"
        else:
            look = "form-select" if isinstance(widget, forms.Select) else "form-control"
        widget.attrs.setdefault("class", look)
        if form.is_bound and name in form.errors:
            widget.attrs["aria-invalid"] = "true"


class RowChoices(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """Rows by their keys; a number that no key can be is an unknown choice like any other."""

    def clean(self, value: Any) -> Any:  # noqa: ANN401  (Django's signature)
        for key in value or ():
            if str(key).isdigit() and len(str(key)) > LONGEST_KEY:
                raise forms.ValidationError(self.error_messages["invalid_choice"], code="invalid_choice", params={"value": key})
        return super().clean(value)


class SignInForm(AuthenticationForm):
    """Name and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        dress(self)


class ConcurrencyForm(forms.Form):
    """How many requests a run keeps in flight."""

    concurrency = forms.IntegerField(min_value=1, max_value=100_000, label="Requests in flight, over all engines")

    def __init__(self, *args: Any, run: Run, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["concurrency"].initial = run.config.get("concurrency")
        dress(self)


class EngineForm(forms.ModelForm):  # type: ignore[type-arg]
    """A server to register."""

    class Meta:
        model = Engine
        fields = ("name", "url", "protocol", "model_name")
        labels = {"url": "Address", "model_name": "Model name"}
        help_texts = {
            "name": "How people call it; letters, digits, dot, dash and underscore.",
            "url": "Such as http://gpu-07:30000, as the GPU hosts reach it.",
            "model_name": "Only the OpenAI-compatible protocol asks for it.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        dress(self)


class RunForm(forms.Form):
    """A generation run over the project's budgets."""

    engines = RowChoices(
        queryset=Engine.objects.filter(enabled=True),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "A run needs at least one engine."},
    )
    concurrency = forms.IntegerField(
        min_value=1,
        max_value=65_536,
        initial=8,
        label="Requests in flight",
        help_text="Over all engines together; it can be changed while the run works.",
    )
    order = forms.ChoiceField(
        choices=[("sequential", "One dataset after the other"), ("interleaved", "All datasets by turns")],
        widget=forms.RadioSelect,
        initial="sequential",
        help_text="Either way there is no wait between datasets: the next one fills the places that long answers leave free.",
    )
    retry_errors = forms.BooleanField(
        required=False,
        label="Retry errors",
        help_text="Ask prompts again that gave an error in an earlier run; otherwise they count as asked.",
    )
    title = forms.CharField(max_length=200, required=False, help_text="What it is for; found by the search.")
    tags = forms.CharField(max_length=200, required=False, help_text="Words, separated by commas.")
    host = forms.ChoiceField(required=False, label="Runs on", help_text="The GPU host whose worker starts it.")
    host_tags = forms.CharField(
        max_length=400,
        required=False,
        label="Only hosts with",
        help_text="Tags that the host must have, all of them, such as h200, nvme.",
    )

    def __init__(self, *args: Any, hosts: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["host"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [("", "any host")] + [(host, visible(host)) for host in hosts]
        dress(self)

    def clean_tags(self) -> list[str]:
        return [tag.strip()[:40] for tag in self.cleaned_data["tags"].split(",") if tag.strip()][:20]

    def clean_host_tags(self) -> list[str]:
        found = list(dict.fromkeys(tag.strip().lower() for tag in self.cleaned_data["host_tags"].split(",") if tag.strip()))
        validate_tags(found)
        return found


class DrainForm(forms.Form):
    """Why a host gets no more work."""

    reason = forms.CharField(max_length=200, required=False, label="Why (not needed)")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        dress(self)


class ImportForm(forms.Form):
    """A file of prompts: uploaded, or below the import folder of the server."""

    slug = forms.CharField(
        max_length=80,
        validators=[SLUG],
        label="Name of the dataset",
        help_text="A new one, or one that gets a new revision. Letters, digits, dot, dash and underscore.",
    )
    upload = forms.FileField(required=False, label="File")
    kept = forms.CharField(required=False, widget=forms.HiddenInput)
    """Token of a file that came with an earlier try."""
    path = forms.CharField(
        max_length=500,
        required=False,
        label="Path below the import folder",
        widget=forms.TextInput(attrs={"list": "importable"}),
    )
    title = forms.CharField(max_length=200, required=False)
    licence = forms.CharField(max_length=100, required=False)
    source = forms.CharField(max_length=300, required=False, help_text="Where the prompts come from.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        dress(self)

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        if not found.get("kept") and "upload" not in self.errors and bool(found.get("upload")) == bool(found.get("path")):
            raise forms.ValidationError("Choose a file, or write a path; one of them.")
        return found


class DatasetForm(forms.ModelForm):  # type: ignore[type-arg]
    """What people say about a dataset."""

    class Meta:
        model = Dataset
        fields = ("title", "licence", "source", "notes")
        widgets = {"notes": forms.Textarea(attrs={"rows": 5})}
        help_texts = {"source": "Where the prompts come from.", "notes": "What others should know before they use it."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        dress(self)
