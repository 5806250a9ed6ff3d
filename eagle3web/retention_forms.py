"""Rules of what may be thrown away, checked."""

from typing import Any

from django import forms

from eagle3web.enums import Prunable
from eagle3web.forms import dress
from eagle3web.models.retention import MAX_DAYS, MAX_KEPT


class RuleForm(forms.Form):
    """How long one kind of thing is kept."""

    days = forms.IntegerField(
        min_value=1, max_value=MAX_DAYS, label="Days", help_text="Since an attempt ended, or a checkpoint was saved."
    )
    keep_last = forms.IntegerField(min_value=0, max_value=MAX_KEPT, label="Always keep the last")
    enabled = forms.BooleanField(required=False, label="Switched on", help_text="Once a night, what is older is removed.")

    def __init__(self, *args: Any, kind: Prunable, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["keep_last"].help_text = {
            Prunable.SHARDS: "Extractions of a project that stay, however old.",
            Prunable.CHECKPOINTS: "Checkpoints of each run that stay, however old; the best one counts first.",
            Prunable.LOGS: "Attempts of each run whose logs stay, however old; the last one always stays.",
        }.get(kind, "Attempts of each run that stay as they are, however old.")
        dress(self)
