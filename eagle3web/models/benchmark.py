"""What benchmarks found: rows of results, and answers with their accepted drafts."""

from django.db import models


class BenchmarkRow(models.Model):
    """One mode over one dataset (or all of them, ``""``), over all repetitions. Medians, with the lowest and the highest."""

    attempt = models.ForeignKey("eagle3web.Attempt", on_delete=models.CASCADE, related_name="benchmark_rows")
    dataset = models.CharField(max_length=80, blank=True)
    mode = models.CharField(max_length=10)
    """plain (the baseline), lookup, drafter."""
    shape = models.CharField(max_length=40, blank=True)
    """steps/topk/draft_tokens; empty for plain."""
    concurrency = models.PositiveIntegerField()
    requests = models.PositiveIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    tokens_per_s = models.FloatField()
    tokens_per_s_low = models.FloatField()
    tokens_per_s_high = models.FloatField()
    first_token_s = models.FloatField(null=True)
    inter_token_s = models.FloatField(null=True)
    speedup = models.FloatField(null=True)
    """Against the plain row of the same dataset and concurrency; None for plain."""
    speedup_low = models.FloatField(null=True)
    speedup_high = models.FloatField(null=True)
    accept_length = models.FloatField(null=True)
    """Tokens over verifications, pooled over requests, bonus token included."""
    acceptance = models.JSONField(default=list)
    """Share of drafts accepted at each position, given that it was reached."""
    identical = models.PositiveIntegerField(null=True)
    """Requests whose tokens equal the plain ones."""
    checkpoint = models.ForeignKey(
        "eagle3web.Checkpoint", on_delete=models.SET_NULL, null=True, blank=True, related_name="benchmark_rows"
    )
    """The drafter that was measured, where it is one of ours."""

    class Meta:
        ordering = ("attempt", "id")
        constraints = [
            models.UniqueConstraint(
                fields=["attempt", "dataset", "mode", "shape", "concurrency"], name="one_result_a_combination"
            )
        ]

    def __str__(self) -> str:
        return f"{self.attempt} {self.mode} {self.dataset or 'all'}"


class DraftedAnswer(models.Model):
    """One answer, token by token, with how deep in its draft each accepted token stood."""

    attempt = models.ForeignKey("eagle3web.Attempt", on_delete=models.CASCADE, related_name="drafted_answers")
    dataset = models.CharField(max_length=80)
    prompt_id = models.CharField(max_length=200)
    prompt = models.TextField(blank=True)
    mode = models.CharField(max_length=10)
    """drafter, or lookup."""
    shape = models.CharField(max_length=40, blank=True)
    pieces = models.JSONField(default=list)
    """Text of each token; untrusted."""
    depths = models.JSONField(default=list)
    """For each piece: 0 for a token that the target wrote, k for an accepted draft at position k."""

    class Meta:
        ordering = ("attempt", "id")
        constraints = [
            models.UniqueConstraint(
                fields=["attempt", "dataset", "prompt_id", "mode", "shape"], name="one_drafted_answer_a_prompt"
            )
        ]

    def __str__(self) -> str:
        return f"{self.attempt} {self.dataset} {self.prompt_id}"
