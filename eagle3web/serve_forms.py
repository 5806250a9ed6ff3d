"""What people choose for a server: SGLang's arguments, as fields that say what they mean."""

from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.db.models import QuerySet

from eagle3web.domain.serving import drafter_folder
from eagle3web.forms import dress
from eagle3web.models import Checkpoint, Project, Run
from eagle3web.stage_forms import NAMING, OFFERED, StageForm
from eagle3web.text import visible
from pipeline.config import to_mapping
from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError
from pipeline.serve.extra import parse_extra

NAME = RegexValidator(r"^[A-Za-z0-9._-]*$", "Letters, digits, dot, dash and underscore.")
HOST = RegexValidator(r"^([A-Za-z0-9:][A-Za-z0-9.:_-]*)?$", "Write an address or a name, such as 0.0.0.0 or gpu-07.")
MANY = 2**31 - 1
"""What SGLang takes as a number of tokens or requests."""
LEFT = [("auto", "as SGLang chooses")]


class CheckpointChoice(forms.ModelChoiceField):  # type: ignore[type-arg]  # only mypy knows a parameter
    def label_from_instance(self, obj: Checkpoint) -> str:
        marks = [word for word, is_so in (("promoted", obj.promoted), ("best", obj.best)) if is_so]
        return f"r{obj.run_id} step {obj.step}" + (f" ({', '.join(marks)})" if marks else "")


def newest_checkpoints(project: Project) -> QuerySet[Checkpoint]:
    """The project's newest ones with files, and the promoted one."""
    rows = Checkpoint.objects.filter(project=project, removed_at=None).order_by("-pk")
    wanted = list(rows.values_list("pk", flat=True)[:OFFERED]) + list(rows.filter(promoted=True).values_list("pk", flat=True))
    return Checkpoint.objects.filter(pk__in=wanted).order_by("-pk")


class ServeForm(StageForm):
    checkpoint = CheckpointChoice(
        queryset=Checkpoint.objects.none(), required=False, label="Drafter", empty_label="none", help_text="EAGLE-3."
    )
    lookup = forms.ChoiceField(
        required=False,
        label="Without a drafter",
        choices=[("", "plain decoding"), ("yes", "prompt lookup (SGLang's NGRAM, on GPUs)")],
    )
    shape = forms.CharField(
        initial="3/1/4", max_length=20, label="Draft shape", help_text="steps/topk/draft tokens, as SGLang names them."
    )
    states = forms.ChoiceField(
        required=False,
        label="Leaves behind",
        choices=[("", "nothing"), ("yes", "hidden states of prompts, for extractions on its host; then it does not draft")],
    )
    engine = forms.CharField(
        required=False,
        max_length=80,
        validators=[NAME],
        label="Name of the engine",
        help_text="Runs choose it by this. Empty: r and the run's number.",
    )
    listen = forms.CharField(
        initial="127.0.0.1",
        max_length=100,
        validators=[HOST],
        label="Listens on",
        help_text="0.0.0.0 for all addresses of its host.",
    )
    reached_as = forms.CharField(
        required=False,
        max_length=200,
        validators=[HOST],
        label="Reached as",
        help_text="By other hosts. Empty: the address above, or its host's name.",
    )
    port = forms.IntegerField(initial=30000, min_value=0, max_value=65535, help_text="0 takes a free one.")
    device = forms.ChoiceField(choices=[("auto", "GPU where there is one"), ("cuda", "GPU"), ("cpu", "CPU")])
    tensor_parallel = forms.IntegerField(initial=1, min_value=1, max_value=1024, help_text="GPUs that share the model.")
    dtype = forms.ChoiceField(choices=[*LEFT, ("bfloat16", "bfloat16"), ("float16", "float16"), ("float32", "float32")])
    kv_cache_dtype = forms.ChoiceField(
        label="KV cache in", choices=[*LEFT, ("bfloat16", "bfloat16"), ("fp8_e4m3", "fp8 e4m3"), ("fp8_e5m2", "fp8 e5m2")]
    )
    memory_fraction = forms.FloatField(
        required=False, min_value=0.01, max_value=0.99, help_text="Of the device, for weights and KV cache."
    )
    max_total_tokens = forms.IntegerField(required=False, min_value=1, max_value=MANY, label="KV cache, in tokens")
    hierarchical_cache = forms.ChoiceField(
        required=False,
        choices=[("", "on the device alone"), ("yes", "and in the host's memory behind it")],
        label="KV cache lies",
    )
    hierarchical_ratio = forms.FloatField(
        required=False, min_value=0.01, max_value=1000, label="Host's part", help_text="Its size over the device's."
    )
    context_length = forms.IntegerField(required=False, min_value=1, max_value=MANY, help_text="Longest prompt + answer.")
    max_running = forms.IntegerField(required=False, min_value=1, max_value=MANY, label="Requests at once")
    max_queued = forms.IntegerField(
        required=False, min_value=1, max_value=MANY, label="Requests that may wait", help_text="More are refused."
    )
    extra = forms.CharField(
        required=False,
        max_length=1000,
        label="More arguments",
        help_text="Such as --page-size 16 --disable-radix-cache. Only those that run no code and touch no files.",
    )
    restart = forms.ChoiceField(
        label="When it fails", choices=[("on-failure", "start it again, later each time"), ("never", "end the run")]
    )
    most = forms.IntegerField(initial=5, min_value=0, max_value=1000, label="Failures in a row at most")
    drain_s = forms.FloatField(
        initial=30, min_value=0, max_value=3600, label="Seconds to drain", help_text="For running requests, before it ends."
    )
    groups = (
        ("What is served", ("checkpoint", "lookup", "shape", "states", "dtype")),
        ("Where it answers", ("engine", "listen", "port", "reached_as")),
        ("Device and memory", (
            "device", "tensor_parallel", "memory_fraction", "kv_cache_dtype", "max_total_tokens", "hierarchical_cache",
            "hierarchical_ratio",
        )),
        ("Requests", ("context_length", "max_running", "max_queued", "extra")),
        ("Failures, and the end", ("restart", "most", "drain_s")),
        ("Name and place", NAMING),
    )  # fmt: skip

    def offer(self, project: Project) -> None:
        field = self.fields["checkpoint"]
        if isinstance(field, forms.ModelChoiceField):
            field.queryset = newest_checkpoints(project)

    def clean_shape(self) -> dict[str, Any]:
        try:
            return to_mapping(DraftShape.parse(self.cleaned_data["shape"]))
        except ConfigError as error:
            raise forms.ValidationError(f"{visible(str(error))}.") from error

    def clean_extra(self) -> dict[str, Any]:
        try:
            return parse_extra(self.cleaned_data["extra"])
        except ConfigError as error:
            raise forms.ValidationError(f"{visible(str(error))}.") from error

    def serving(self) -> dict[str, Any]:
        """Keys of ServeConfig."""
        chosen = self.cleaned_data
        same = (
            "engine", "reached_as", "port", "device", "tensor_parallel", "dtype", "kv_cache_dtype", "memory_fraction",
            "max_total_tokens", "hierarchical_ratio", "context_length", "max_running", "max_queued", "extra", "shape",
            "drain_s",
        )  # fmt: skip
        return {name: chosen[name] for name in same} | {
            "host": chosen["listen"],
            "states": chosen["states"],
            "hierarchical_cache": bool(chosen["hierarchical_cache"]),
            "speculation": "lookup" if chosen["lookup"] and not chosen["checkpoint"] else "none",
            "restart": {"when": chosen["restart"], "most": chosen["most"]},
        }


class DrafterForm(forms.Form):
    """With what a running server is to draft."""

    checkpoint = CheckpointChoice(
        queryset=Checkpoint.objects.none(), required=False, label="Draft with", empty_label="nothing: plain decoding"
    )

    def __init__(self, *args: Any, run: Run, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["checkpoint"]
        if isinstance(field, forms.ModelChoiceField):
            field.queryset = newest_checkpoints(run.project)
            # What it has, so that nobody takes it away by leaving the choice alone.
            field.initial = field.queryset.filter(path=drafter_folder(run)).first()
        dress(self)
