"""What people write about runs and checkpoints, checked."""

from typing import Any

from django import forms

from eagle3web.domain.comments import TEXT_LIMIT
from eagle3web.domain.reviews import NOTE_LIMIT
from eagle3web.forms import dress


class NoteForm(forms.Form):
    """A word about a checkpoint."""

    note = forms.CharField(
        max_length=NOTE_LIMIT, required=False, widget=forms.Textarea(attrs={"rows": 3}), error_messages={"required": "Say why."}
    )

    def __init__(self, *args: Any, needed: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["note"].required = needed
        self.fields["note"].label = "Why" if needed else "Note (not needed)"
        dress(self)


class AnywayForm(forms.Form):
    """Carries that somebody was told what is missing, and goes on."""

    anyway = forms.BooleanField(required=False, widget=forms.HiddenInput)


class CommentForm(forms.Form):
    """A remark in Markdown."""

    text = forms.CharField(
        max_length=TEXT_LIMIT,
        label="Comment",
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": "Markdown: **bold**, `code`, lists, links"}),
        error_messages={"required": "Write something first."},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        dress(self)
