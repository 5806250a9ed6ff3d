"""The pages' copy of the answers that generation stored, and what people think of them."""

from django.conf import settings
from django.db import models

from eagle3web.enums import FlagState


class Answer(models.Model):
    """One line of a response part, cut to what lists and searches need. The file keeps the whole."""

    project = models.ForeignKey("eagle3web.Project", on_delete=models.CASCADE, related_name="answers")
    dataset = models.CharField(max_length=80)
    key = models.CharField(max_length=64)
    """The prompt's key, as responses name it."""
    scope = models.CharField(max_length=16)
    """Revision and sampling in one word (pipeline.responses.record.Scope): an answer to another scope is another answer."""
    prompt_id = models.CharField(max_length=200, blank=True)
    prompt = models.TextField(blank=True)
    """The last user message, cut; untrusted."""
    text = models.TextField(blank=True)
    """The answer, cut; untrusted."""
    cut = models.BooleanField(default=False)
    """Whether prompt or text is longer in the file."""
    error = models.CharField(max_length=500, blank=True)
    """Why there is no answer; empty for answers."""
    finish_reason = models.CharField(max_length=10, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    tokens = models.PositiveIntegerField(default=0)
    repetition = models.FloatField(default=0)
    """Share of the answer's four-token sequences that occurred in it before, 0 to 1."""
    language = models.CharField(max_length=20, blank=True)
    """The script of most letters, such as Latin or Han; `code` where most lines look like code."""
    part = models.PositiveIntegerField(default=0)
    offset = models.BigIntegerField(default=0)
    size = models.PositiveIntegerField(default=0)
    """Where the line lies: part number, and bytes."""
    engine = models.CharField(max_length=80, blank=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=["project", "dataset", "key", "scope"], name="one_answer_a_prompt_and_scope")
        ]
        indexes = [
            models.Index(fields=["project", "dataset", "-id"]),
            models.Index(fields=["project", "dataset", "tokens"]),
            models.Index(fields=["project", "dataset", "finish_reason"]),
            models.Index(fields=["project", "dataset", "repetition"]),
            models.Index(fields=["project", "dataset", "language"]),
        ]

    def __str__(self) -> str:
        return f"{self.dataset} {self.key}"


class AnswerFile(models.Model):
    """How far one file of a project's responses has been copied into Answer rows."""

    project = models.ForeignKey("eagle3web.Project", on_delete=models.CASCADE, related_name="answer_files")
    dataset = models.CharField(max_length=80)
    name = models.CharField(max_length=80)
    """Such as part-00001.jsonl."""
    bytes_done = models.BigIntegerField(default=0)

    class Meta:
        ordering = ("project", "dataset", "name")
        constraints = [models.UniqueConstraint(fields=["project", "dataset", "name"], name="one_position_a_file")]

    def __str__(self) -> str:
        return f"{self.dataset}/{self.name}"


class AnswerFlag(models.Model):
    """Somebody finds an answer bad. Reviewed flags that stand as `excluded` are what training leaves out."""

    project = models.ForeignKey("eagle3web.Project", on_delete=models.CASCADE, related_name="flags")
    dataset = models.CharField(max_length=80)
    key = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=FlagState, default=FlagState.FLAGGED)
    reason = models.CharField(max_length=300, blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    reviewed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = [models.UniqueConstraint(fields=["project", "dataset", "key"], name="one_flag_an_answer")]
        indexes = [models.Index(fields=["project", "state"])]

    def __str__(self) -> str:
        return f"{self.dataset} {self.key}: {self.state}"
