"""The answers that a run's datasets stand for, as later stages ask for them."""

from collections.abc import Iterable, Mapping
from typing import Any

from eagle3web.models import Run
from pipeline.answer_sets import AnswerSet
from pipeline.config import GenerateConfig, from_mapping
from pipeline.errors import ConfigError
from pipeline.responses.record import sampling_name


def answer_sets(source: Run) -> tuple[AnswerSet, ...]:
    """What a generation run asked for, dataset by dataset. Raises ConfigError when that is nothing."""
    config = from_mapping(GenerateConfig, source.config)
    found = tuple(
        AnswerSet(
            dataset=plan.slug,
            revision=plan.revision,
            sampling=sampling_name(
                plan.sampling, chat_template=config.chat_template, chat_template_kwargs=config.chat_template_kwargs
            ),
        )
        for plan in config.datasets
        if plan.enabled
    )
    if not found:
        raise ConfigError(f"{source} has no dataset that is switched on: there are no answers to take")
    return found


def revisions_of(datasets: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Dataset slug → revision hash, from a config's datasets or prompts; what an input says of itself."""
    return {str(row.get("dataset") or row.get("slug")): str(row["revision"]) for row in datasets}
