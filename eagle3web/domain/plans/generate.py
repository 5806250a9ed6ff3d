"""Generation: engines and budgets. Budgets may change while the run stands, its sampling may not."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.conf import settings

from eagle3web.domain.plans.configs import to_json, validate
from eagle3web.enums import RevisionState, Stage
from eagle3web.models import ControlMessage, DatasetRevision, Engine, Project, Run, TokenBudget
from pipeline.artifacts import Home
from pipeline.config import DatasetPlan, EngineRef, GenerateConfig, SamplingConfig, from_mapping
from pipeline.control import SetConcurrency
from pipeline.errors import ConfigError


def generate_config(
    project: Project,
    *,
    engines: Iterable[Engine],
    concurrency: int,
    order: str,
    retry_errors: bool = False,
    budgets: Iterable[TokenBudget] | None = None,
) -> dict[str, Any]:
    """The config of a generation run over the project's budgets (or the given ones), in their order.

    Each dataset enters with its latest ready revision, a disabled one too: the run then says that it skipped it. Raises
    ConfigError when there is no engine or no budget, or when a dataset that is switched on has nothing to generate from.
    """
    chosen = tuple(_engine_ref(engine) for engine in engines)
    if not chosen:
        raise ConfigError("no engine was chosen")
    rows = list(project.budgets.select_related("dataset").all()) if budgets is None else list(budgets)
    plans = tuple(plan for budget in rows if (plan := _dataset_plan(project, budget)) is not None)
    if not plans:
        raise ConfigError(f"{project} has no budget yet: there is nothing to generate")
    return validate(
        Stage.GENERATE,
        {
            "project": project.slug,
            "responses": str(Home(settings.EAGLE3_HOME).responses(project.slug)),
            "tokenizer": project.tokenizer,
            "chat_template": project.chat_template,
            "chat_template_kwargs": project.chat_template_kwargs,
            "engines": chosen,
            "concurrency": concurrency,
            "order": order,
            "retry_errors": retry_errors,
            "datasets": plans,
        },
    )


def with_changes(run: Run) -> dict[str, Any]:
    """The run's own config, with what people changed since it was made.

    Changed may be the budgets (tokens, samples, on or off; never the sampling, which names the records), the addresses of the
    engines, and the concurrency that somebody last asked for.
    """
    config = from_mapping(GenerateConfig, run.config)
    budgets = {budget.dataset.slug: budget for budget in run.project.budgets.select_related("dataset")}
    engines = {engine.name: engine for engine in Engine.objects.filter(name__in=[ref.name for ref in config.engines])}
    asked = ControlMessage.objects.filter(attempt__run=run, kind=SetConcurrency.kind).order_by("id").last()
    return to_json(
        replace(
            config,
            concurrency=asked.payload["n"] if asked else config.concurrency,
            engines=tuple(_engine_ref(engines[ref.name]) if ref.name in engines else ref for ref in config.engines),
            datasets=tuple(_with_budget(plan, budgets.get(plan.slug)) for plan in config.datasets),
        )
    )


def _dataset_plan(project: Project, budget: TokenBudget) -> DatasetPlan | None:
    revision = latest_revision(budget)
    if revision is None:
        if budget.enabled:
            raise ConfigError(f"{budget.dataset}: no revision of it is ready; import it, or switch its budget off")
        return None
    folder = Home(settings.EAGLE3_HOME).dataset(budget.dataset.slug, revision.revision)
    sampling = from_mapping(SamplingConfig, project.sampling | budget.sampling, f"sampling of {budget.dataset}")
    plan = DatasetPlan(
        slug=budget.dataset.slug,
        revision=revision.revision,
        prompts=str(folder / "prompts.jsonl"),
        prompts_count=revision.accepted,
        sampling=sampling,
    )
    return _with_budget(plan, budget)


def latest_revision(budget: TokenBudget) -> DatasetRevision | None:
    return budget.dataset.revisions.filter(state=RevisionState.READY).order_by("id").last()


def _with_budget(plan: DatasetPlan, budget: TokenBudget | None) -> DatasetPlan:
    """The plan with the budget of the moment; one whose budget was deleted keeps what it had."""
    if budget is None:
        return plan
    return replace(
        plan,
        budget=budget.tokens,
        max_samples=budget.max_samples,
        enabled=budget.enabled,
        budget_version=budget.version,
    )


def _engine_ref(engine: Engine) -> EngineRef:
    protocol: Any = engine.protocol
    return EngineRef(name=engine.name, url=engine.url, protocol=protocol, model=engine.model_name)
