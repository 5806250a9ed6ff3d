"""What people choose for a pipeline, or for one of its later stages."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.db.models import Q, QuerySet
from django.forms import BoundField

from eagle3web.domain.chains import Naming
from eagle3web.domain.clones import CLONED, preset_of, settings_of
from eagle3web.domain.plans.devices import ANY_DEVICE
from eagle3web.domain.plans.serve import FOR_EXTRACTION
from eagle3web.domain.presets import PRESETS
from eagle3web.enums import EngineProtocol, Stage
from eagle3web.forms import RowChoices, RunForm, dress
from eagle3web.models import Engine, Project, Run
from eagle3web.text import visible
from pipeline.config import to_mapping
from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError

DEVICES = 16
OFFERED = 50
"""Newest runs to choose from."""
Groups = tuple[tuple[str, tuple[str, ...]], ...]
"""Headings, each with the names of its fields."""


def run_label(run: Run) -> str:
    """Such as `r12 generate, night run (running)`."""
    title = f", {visible(run.title)}" if run.title else ""
    return f"{run}{title} ({run.status})"


class RunChoice(forms.ModelChoiceField):  # type: ignore[type-arg]  # only mypy knows a parameter
    def label_from_instance(self, obj: Run) -> str:
        return run_label(obj)


class RunChoices(RowChoices):
    def label_from_instance(self, obj: Run) -> str:
        return run_label(obj)


class StageForm(forms.Form):
    """Which host and devices, and how people will find the run again."""

    groups: ClassVar[Groups] = ()
    offers: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Name of a field → the stages whose runs it offers."""
    devices = forms.CharField(
        required=False,
        max_length=200,
        help_text="Held alone while it works, such as cuda:0, or cuda:* for any free one; several with commas. "
        "Empty: whatever the host has.",
    )
    title = forms.CharField(max_length=200, required=False, help_text="What it is for; found by the search.")
    tags = forms.CharField(max_length=200, required=False, help_text="Words, separated by commas.")
    host = forms.ChoiceField(required=False, label="Runs on", help_text="The host whose worker starts it.")
    host_tags = RunForm.base_fields["host_tags"]

    def __init__(self, *args: Any, project: Project, hosts: list[str], cloned: Run | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        self.cloned = cloned
        """The run that this one is to be like."""
        host = self.fields["host"]
        if isinstance(host, forms.ChoiceField):
            host.choices = [("", "any host")] + [(name, visible(name)) for name in hosts]
        for name, stages in self.offers.items():
            field = self.fields[name]
            if isinstance(field, forms.ModelChoiceField):
                field.queryset = newest(project, *stages, besides=cloned)
        self.offer(project)
        preset = self.fields.get("preset")
        if cloned and isinstance(preset, forms.ChoiceField):
            own = preset_of(cloned)
            preset.choices = [(CLONED, f"{own.label}: {own.says}"), *TRAINING_PRESETS]
        dress(self)

    def offer(self, project: Project) -> None:
        """Fill choices that only the project knows; called before anything is checked."""

    @property
    def sections(self) -> list[tuple[str, list[BoundField]]]:
        """Headings and bound fields, as the page shows them."""
        return [(heading, [self[name] for name in names]) for heading, names in self.groups]

    clean_tags = RunForm.clean_tags
    clean_host_tags = RunForm.clean_host_tags

    def clean_devices(self) -> list[str]:
        found = [name.strip() for name in self.cleaned_data["devices"].split(",") if name.strip()]
        if any(not re.fullmatch(r"cpu|cuda(:(\d{1,2}|\*))?", name) for name in found) or len(found) > DEVICES:
            raise forms.ValidationError("Write devices such as cuda:0, cuda:1, or cuda:* for any free one.")
        named = dict.fromkeys(name for name in found if name != ANY_DEVICE)
        return [*named, *(name for name in found if name == ANY_DEVICE)]

    def naming(self) -> Naming:
        chosen = self.cleaned_data
        named = Naming(title=chosen["title"], tags=chosen["tags"], host=chosen["host"], devices=chosen["devices"])
        named |= Naming(host_tags=chosen["host_tags"])
        return named | Naming(cloned_from=self.cloned) if self.cloned else named

    def kept(self) -> dict[str, Any]:
        """Settings of the run that is cloned, as far as the form does not speak of them; what it says comes over these."""
        return settings_of(self.cloned) if self.cloned else {}


TRAINING_PRESETS = [(name, f"{preset.label}: {preset.says}") for name, preset in PRESETS.items()]


class TrainingFields(forms.Form):
    """A preset, and what differs from it."""

    cloned: Run | None = None
    preset = forms.ChoiceField(
        label="Start from",
        choices=TRAINING_PRESETS,
        widget=forms.RadioSelect,
        initial="gpu",
    )
    draft_vocab_size = forms.IntegerField(
        required=False, min_value=1, max_value=10**6, label="Draft vocabulary", help_text="Tokens that a draft may use."
    )
    steps = forms.IntegerField(
        required=False, min_value=1, max_value=16, label="Steps K", help_text="Of the training-time test."
    )
    epochs = forms.IntegerField(required=False, min_value=1, max_value=1000)
    max_minutes = forms.FloatField(
        required=False, min_value=0, max_value=10**5, label="Minutes at most", help_text="0: only the epochs end it."
    )
    learning_rate = forms.FloatField(required=False, min_value=1e-8, max_value=1)
    tokens_per_batch = forms.IntegerField(required=False, min_value=8, max_value=10**7, label="Tokens a batch")

    def training(self) -> dict[str, Any]:
        """Keys of TrainConfig."""
        chosen = self.cleaned_data
        names = ("draft_vocab_size", "steps", "epochs", "max_minutes", "learning_rate", "tokens_per_batch")
        like = preset_of(self.cloned) if self.cloned and chosen["preset"] == CLONED else PRESETS[chosen["preset"]]
        return like.with_changes(**{name: chosen[name] for name in names})


class MeasuringFields(forms.Form):
    """What is measured, and how often."""

    shapes = forms.CharField(
        initial="3/1/4",
        max_length=200,
        label="Draft shapes",
        help_text="steps/topk/draft tokens, as SGLang names them; several with commas. A fourth number, such as 3/1/4/0.3, "
        "ends chains that the drafter holds for less likely (embedded engine).",
    )
    measured_concurrency = forms.CharField(
        initial="1", max_length=100, label="Requests at once", help_text="Several with commas: each is measured."
    )
    prompts_per_dataset = forms.IntegerField(initial=8, min_value=1, max_value=10_000, label="Prompts a dataset")
    max_new_tokens = forms.IntegerField(initial=128, min_value=1, max_value=100_000, label="Tokens an answer at most")
    repetitions = forms.IntegerField(initial=3, min_value=1, max_value=100)

    def clean_shapes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for word in _words(self.cleaned_data["shapes"]):
            try:
                shape = to_mapping(DraftShape.parse(word))
            except ConfigError as error:
                raise forms.ValidationError(f"“{visible(word)}” will not do: {visible(str(error))}.") from error
            if shape not in found:
                found.append(shape)
        return found

    def clean_measured_concurrency(self) -> list[int]:
        words = _words(self.cleaned_data["measured_concurrency"])
        if not all(word.isascii() and word.isdigit() and 0 < int(word) <= 1024 for word in words):
            raise forms.ValidationError("Write numbers from 1 to 1024, such as 1, 8.")
        return list(dict.fromkeys(int(word) for word in words))

    def measuring(self) -> dict[str, Any]:
        """Keys of BenchmarkConfig."""
        chosen = self.cleaned_data
        return {
            "shapes": chosen["shapes"],
            "concurrency": chosen["measured_concurrency"],
            "prompts_per_dataset": chosen["prompts_per_dataset"],
            "repetitions": chosen["repetitions"],
            "sampling": {"max_new_tokens": chosen["max_new_tokens"]},
        }


class StorageFields(forms.Form):
    storage_dtype = forms.ChoiceField(
        label="Stored as",
        choices=[("bfloat16", "bfloat16"), ("float16", "float16"), ("float32", "float32, twice the size")],
    )


MOST_PARTS = 64
SGLANG_ENGINES = Engine.objects.filter(enabled=True, protocol=EngineProtocol.SGLANG)
TRAINING = ("preset", "draft_vocab_size", "steps", "epochs", "max_minutes", "learning_rate", "tokens_per_batch")
MEASURING = ("shapes", "measured_concurrency", "prompts_per_dataset", "max_new_tokens", "repetitions")
NAMING = ("title", "tags", "host", "host_tags", "devices")


class PipelineForm(StageForm, StorageFields, TrainingFields, MeasuringFields):
    """The whole chain."""

    engines = RunForm.base_fields["engines"]
    concurrency = RunForm.base_fields["concurrency"]
    order = RunForm.base_fields["order"]
    retry_errors = RunForm.base_fields["retry_errors"]
    features = forms.ChoiceField(
        label="Way to hidden states",
        choices=[
            ("extract", "Extract them to disk first: read once, trained on as often as you like"),
            ("online", "Online: the target computes them while it trains, and nothing is stored"),
            ("captured", "Captured while generating: only by embedded engines that were started with --capture"),
        ],
        widget=forms.RadioSelect,
        initial="extract",
    )
    groups = (
        ("Generate answers", ("engines", "concurrency", "order", "retry_errors")),
        ("Hidden states", ("features", "storage_dtype")),
        ("Train", TRAINING),
        ("Measure", MEASURING),
        ("Name and place", NAMING),
    )


class ExtractForm(StageForm, StorageFields):
    source = RunChoice(queryset=Run.objects.none(), label="Answers of", empty_label=None)
    parts = forms.IntegerField(
        label="Shared by",
        required=False,
        min_value=1,
        max_value=MOST_PARTS,
        initial=1,
        help_text="Runs that read a share of the answers each, on a GPU or a host of its own. Training takes all of them.",
    )
    server = RunChoice(
        queryset=Run.objects.none(),
        required=False,
        label="Read by",
        empty_label="transformers, in the run's own process",
        help_text="Or by an SGLang server on the same host that leaves hidden states: for models too large for transformers.",
    )
    groups = (("Extract hidden states", ("source", "storage_dtype", "parts", "server")), ("Name and place", NAMING))
    offers = {"source": (Stage.GENERATE,)}

    def offer(self, project: Project) -> None:
        field = self.fields["server"]
        if isinstance(field, forms.ModelChoiceField):
            field.queryset = newest(project, Stage.SERVE).filter(config__states=FOR_EXTRACTION)

    def clean_parts(self) -> int:
        parts: int | None = self.cleaned_data["parts"]
        return parts or 1


class TrainForm(StageForm, TrainingFields):
    sources = RunChoices(
        queryset=Run.objects.none(),
        label="Train on",
        widget=forms.CheckboxSelectMultiple,
        help_text="Extractions, or one generation: then the target reads its answers while it trains.",
        error_messages={"required": "Choose what to train on."},
    )
    groups = (("Train a drafter", ("sources", *TRAINING)), ("Name and place", NAMING))
    offers = {
        "sources": (
            Stage.EXTRACT,
            Stage.GENERATE,
        )
    }


class BenchmarkForm(StageForm, MeasuringFields):
    served_plain = forms.ModelChoiceField(
        queryset=SGLANG_ENGINES,
        required=False,
        label="Plain decoding by",
        empty_label="an embedded engine",
        help_text="An SGLang server without drafts, as the baseline.",
    )
    served_drafter = forms.ModelChoiceField(
        queryset=SGLANG_ENGINES,
        required=False,
        label="Drafts by",
        empty_label="an embedded engine",
        help_text="The server that drafts with this checkpoint. Either both are servers, or none is.",
    )
    source = RunChoice(queryset=Run.objects.none(), label="Drafter of", empty_label=None)
    step = forms.IntegerField(
        required=False, min_value=0, max_value=2**62, help_text="Of the checkpoint; empty takes the best one."
    )
    groups = (
        ("Measure a drafter", ("source", "step", *MEASURING)),
        ("Engines", ("served_plain", "served_drafter")),
        ("Name and place", NAMING),
    )
    offers = {"source": (Stage.TRAIN,)}

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        if bool(found.get("served_plain")) != bool(found.get("served_drafter")):
            raise forms.ValidationError("A speedup compares two of a kind: choose both servers, or none.")
        return found

    def measuring(self) -> dict[str, Any]:
        chosen = self.cleaned_data
        modes = {"plain": chosen["served_plain"], "drafter": chosen["served_drafter"]}
        served = [
            {"mode": mode, "engine": {"name": engine.name, "url": engine.url}} for mode, engine in modes.items() if engine
        ]
        return super().measuring() | {"served": served}


def newest(project: Project, *stages: str, besides: Run | None = None) -> QuerySet[Run]:
    """The project's newest runs of these stages, unfinished ones too: a run waits for those that it is made of.

    `besides` adds what that run is made of, however old.
    """
    runs = Run.objects.filter(project=project, stage__in=stages).order_by("-pk")
    wanted = Q(pk__in=list(runs.values_list("pk", flat=True)[:OFFERED]))
    if besides is not None:
        wanted |= Q(outputs__run=besides, stage__in=stages)
    return Run.objects.filter(wanted).distinct() if besides is not None else Run.objects.filter(wanted)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
