"""The demo: one project for a small target model, eight sets of real prompts, small budgets, one run that goes on where
the last one ended."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eagle3web.domain import budgets, plans, runs
from eagle3web.enums import DatasetState, EngineState, RunStatus, Stage
from eagle3web.models import Attempt, Dataset, Engine, Project, Run, TokenBudget, User

PROJECT = "smollm2-demo"
ENGINE = "embedded"
MAX_NEW_TOKENS = 200
CONCURRENCY = 16
NEW_BUDGET = 2000
"""Completion tokens for each dataset, unless somebody says otherwise."""


def demo_user() -> User:
    """The person whom the one-time link signs in: an administrator without a password."""
    user, made = User.objects.get_or_create(username="demo", defaults={"is_staff": True, "is_superuser": True})
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def demo_engine(url: str) -> Engine:
    """The embedded engine's row, at today's address."""
    engine, _ = Engine.objects.update_or_create(
        name=ENGINE, defaults={"url": url, "enabled": True, "state": EngineState.UNKNOWN, "reason": "", "checked_at": None}
    )
    return engine


def demo_project(*, tokenizer: Path, budget: int | None, user: User) -> Project:
    """The project, with a budget for each demo dataset. With `budget`, all of them get that many completion tokens; without,
    those that are there stay as somebody set them.
    """
    project, _ = Project.objects.update_or_create(
        slug=PROJECT,
        defaults={
            "name": "SmolLM2-135M drafter",
            "target_model": "SmolLM2-135M-Instruct",
            "tokenizer": str(tokenizer),
            "sampling": {"temperature": 0.0, "max_new_tokens": MAX_NEW_TOKENS},
        },
    )
    for position, dataset in enumerate(Dataset.objects.filter(slug__regex=r"^B[1-8]_").order_by("slug"), start=1):
        row, made = TokenBudget.objects.get_or_create(
            project=project, dataset=dataset, defaults={"tokens": budget or NEW_BUDGET, "position": position}
        )
        if not made and budget is not None and row.tokens != budget:
            budgets.change_budget(row.pk, user=user, expected_version=row.version, tokens=budget)
    return project


def demo_run(*, engine: Engine, user: User) -> Run:
    """The run to follow: the live one, the last one resumed, or a new one when the last one is finished."""
    project = Project.objects.get(slug=PROJECT)
    last = project.runs.filter(stage=Stage.GENERATE).first()
    if last is not None and last.status in RunStatus.LIVE:
        return last
    if last is not None and last.status in RunStatus.RESUMABLE and runs.resume(last, user=user):
        last.refresh_from_db()
        return last
    config = plans.generate_config(project, engines=[engine], concurrency=CONCURRENCY, order="sequential")
    return runs.create_run(project, stage=Stage.GENERATE, config=config, user=user, title="Demo generation", tags=["demo"])


def summary(run: Run, *, started: datetime, times: dict[str, float]) -> dict[str, Any]:
    """What var/demo-summary.json holds: one row a dataset, how it ended, how long it took, with which versions."""
    attempt = Attempt.objects.filter(run=run).order_by("-number").first()
    rows = [] if attempt is None else list(attempt.datasets.order_by("position", "id"))
    return {
        "run": run.pk,
        "status": run.status,
        "reason": "" if attempt is None else attempt.reason,
        "attempt": None if attempt is None else attempt.number,
        "datasets": [
            {
                "slug": row.dataset,
                "prompts": row.total,
                "budget": row.budget,
                "tokens": row.tokens,
                "answers": row.done,
                "errors": row.errors,
                "truncated": row.truncated,
                "longest_answer": row.longest,
                "state": f"{row.state}: {row.reason}" if row.reason else row.state,
            }
            for row in rows
        ],
        "times": {"started": started.isoformat(), "ended": datetime.now(UTC).isoformat(), **times},
        "versions": {} if attempt is None else {**attempt.versions, "git": attempt.git_sha},
    }


def failures(run: Run) -> list[str]:
    """Why the demo did not do its job; empty when it did."""
    attempt = Attempt.objects.filter(run=run).order_by("-number").first()
    if run.status != RunStatus.FINISHED:
        return [f"run {run.pk} is {run.status}" + (f": {attempt.reason}" if attempt and attempt.reason else "")]
    done = {DatasetState.FINISHED, DatasetState.SKIPPED}
    rows = [] if attempt is None else attempt.datasets.all()
    wrong = [f"{row.dataset} is {row.state}" for row in rows if row.state not in done]
    return wrong or ([] if rows else ["no dataset was worked on"])


def write_summary(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n")
