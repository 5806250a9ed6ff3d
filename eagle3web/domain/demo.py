"""The demo: one project for a small target model, eight sets of real prompts, small budgets, and one chain of runs that goes
on where the last one ended."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from eagle3web.domain import budgets, chains, plans, runs
from eagle3web.domain.chains import Chain
from eagle3web.domain.presets import PRESETS
from eagle3web.enums import EngineState, RunStatus, Stage
from eagle3web.models import Attempt, Dataset, Engine, Project, Run, TokenBudget, User
from eagle3web.queries.standing import standings
from pipeline.artifacts import Home, read_json

PROJECT = "smollm2-demo"
ENGINE = "embedded"
TAG = "demo"

# Sized for two slow CPU cores (200 tokens/s of generation, 20 of plain decoding): about seven minutes of generation, five of
# training and five of measuring.
MAX_NEW_TOKENS = 200
"""Of an answer."""
CONCURRENCY = 32
"""Requests in flight: the embedded engine's throughput grows with its batch up to here."""
NEW_BUDGET = 10_000
"""Completion tokens for each dataset, unless somebody says otherwise."""
TOKENS_PER_MINUTE = 16_000
"""Generated tokens that deserve a minute of training; more minutes on the same answers overfit."""
MINUTES = (0.25, 8.0)
"""Of training, at least and at most."""
TOKENS_PER_PROMPT = 35_000
"""Generated tokens for each prompt of a dataset that is measured: what is little trained is measured briefly."""
PROMPTS = (1, 4)
"""Measured of each dataset, at least and at most."""
MEASURED_TOKENS = (8, 64)
"""Of a measured answer at most, by the generated tokens over TOKENS_PER_MEASURED."""
TOKENS_PER_MEASURED = 250
SHAPE = {"steps": 3, "topk": 1, "draft_tokens": 4, "confidence": 0.2}
"""A chain that ends where the drafter does not trust it: with a little trained one 1.17 times as fast as plain decoding, and
1.01 times without that end (accept lengths 1.44 and 1.45; both in one benchmark)."""
REPETITIONS = (2, 3)
"""Of each measurement: below and from MANY_TOKENS on. Two are the least that show a spread."""
MANY_TOKENS = 100_000
CAPTURED = 0.8
"""Share of the answers that must have their states for training on these; with less, all are extracted anew."""


def demo_user() -> User:
    """The person whom the one-time link signs in: an administrator without a password."""
    user, made = User.objects.get_or_create(username="demo", defaults={"is_staff": True, "is_superuser": True})
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def demo_engine(url: str, *, capture: Path) -> Engine:
    """The embedded engine's row, at today's address, with the folder in which it keeps hidden states."""
    unknown = {"state": EngineState.UNKNOWN, "reason": "", "checked_at": None}
    engine, _ = Engine.objects.update_or_create(
        name=ENGINE, defaults={"url": url, "enabled": True, "info": {"capture": str(capture)}} | unknown
    )
    return engine


def capture_folder() -> Path:
    """Where the demo's engine keeps the hidden states of its answers, so that no second pass over them is needed."""
    return Home(settings.EAGLE3_HOME).captured(PROJECT)


def demo_project(*, model: Path, budget: int | None, user: User) -> Project:
    """The project, with a budget for each demo dataset. With `budget`, all of them get that many completion tokens; without,
    those that are there stay as somebody set them.
    """
    project, _ = Project.objects.update_or_create(
        slug=PROJECT,
        defaults={
            "name": "SmolLM2-135M drafter",
            "target_model": "SmolLM2-135M-Instruct",
            "tokenizer": str(model),
            "target_path": str(model),
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


def demo_chain(*, engine: Engine, user: User) -> list[Run]:
    """The runs to follow: those of the last chain, resumed where they were cut short, or a new chain.

    A chain that is finished, or whose answers are, is left as it is while the budgets ask for nothing else.
    """
    project = Project.objects.get(slug=PROJECT)
    last = last_chain(project)
    if last and (last[0].status != RunStatus.FINISHED or not _asks_for_more(project, last[0], engine)):
        for run in last:
            if run.status in RunStatus.RESUMABLE:
                runs.resume(run, user=user)
        return last
    return chains.start_chain(project, planned(project, engine), user=user, title="Demo", tags=[TAG])


def last_chain(project: Project) -> list[Run]:
    """The runs that the newest demo generation leads to, in order; nothing before the first chain."""
    generations = project.runs.filter(stage=Stage.GENERATE).order_by("-pk")
    found = [run for run in generations if TAG in run.tags][:1]
    while found and (following := found[-1].outputs.select_related("run").order_by("pk").first()) is not None:
        found.append(following.run)
    return found if found and found[-1].stage == Stage.BENCHMARK else []


def planned(project: Project, engine: Engine) -> Chain:
    """What a new chain does, sized by the project's budgets."""
    total = sum(NEW_BUDGET if tokens is None else tokens for tokens in _budgets(project))
    prompts, measured = (
        int(_between(total // each, *limits))
        for each, limits in ((TOKENS_PER_PROMPT, PROMPTS), (TOKENS_PER_MEASURED, MEASURED_TOKENS))
    )
    return Chain(
        engines=[engine],
        concurrency=CONCURRENCY,
        features="captured" if _are_captured(project, Path(engine.info["capture"])) else "extract",
        train=PRESETS["cpu"].with_changes(max_minutes=round(_between(total / TOKENS_PER_MINUTE, *MINUTES), 2)),
        benchmark={
            "shapes": [SHAPE],
            "prompts_per_dataset": prompts,
            "repetitions": REPETITIONS[total >= MANY_TOKENS],
            "sampling": {"max_new_tokens": measured},
        },
    )


def _are_captured(project: Project, folder: Path) -> bool:
    """Whether the states of the answers so far were kept, most of them: what an engine has not yet written ends with it."""
    answers = sum(row.progress.done for row in standings(project.pk) if row.progress is not None)
    kept = sum(len(read_json(index)["documents"]) for index in folder.glob("shard-*.json"))
    return kept >= answers * CAPTURED


def _budgets(project: Project) -> list[int | None]:
    return list(project.budgets.filter(enabled=True).values_list("tokens", flat=True))


def _between(value: float, low: float, high: float) -> float:
    return min(high, max(low, value))


def _asks_for_more(project: Project, generate: Run, engine: Engine) -> bool:
    """Whether the project's budgets ask for other answers than the run's newest attempt was asked for."""
    attempt = Attempt.objects.filter(run=generate).order_by("-number").first()
    now = plans.generate_config(project, engines=[engine], concurrency=CONCURRENCY, order="sequential")
    return attempt is None or _asked(attempt.config) != _asked(now)


def _asked(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{key: value for key, value in plan.items() if key != "budget_version"} for plan in config["datasets"]]
