"""What a benchmark reads, checked before an engine is loaded for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.artifacts import read_json, sha256_file
from pipeline.benchmark.config import BenchmarkConfig
from pipeline.benchmark.prompts import Prompt, choose
from pipeline.checkpoint_check import check_folder
from pipeline.checkpoint_lineage import other_target
from pipeline.drafter_config import text_config
from pipeline.errors import DataError
from pipeline.tensor_files import weight_files
from pipeline.tokens import PromptTokenizer

Prompts = dict[str, list[Prompt]]
"""By dataset, in the config's order."""


@dataclass(frozen=True, kw_only=True)
class Inputs:
    prompts: Prompts
    tokenizer: PromptTokenizer
    drafter: dict[str, str]
    """name, path and sha256 of its weights; empty when the served engines have it and we do not."""

    def prompts_within(self, context_length: int | None, *, answer: int, warn: Callable[[str], None]) -> Prompts:
        """Those that leave room for `answer` tokens in this context. Raises DataError when none does."""
        if context_length is None:
            return self.prompts
        room = context_length - answer
        fitting: Prompts = {}
        for dataset, prompts in self.prompts.items():
            fitting[dataset] = [prompt for prompt in prompts if len(prompt.ids) <= room]
            if left_out := len(prompts) - len(fitting[dataset]):
                warn(f"{dataset}: {left_out} prompts are longer than the {room:,} tokens that the engines leave for one")
        fitting = {dataset: prompts for dataset, prompts in fitting.items() if prompts}
        if not fitting:
            raise DataError(
                f"no prompt fits into the engines' context of {context_length:,} tokens beside {answer:,} of answer"
            )
        return fitting


def read_inputs(config: BenchmarkConfig, *, warn: Callable[[str], None]) -> Inputs:
    """Prompts, tokenizer and drafter.

    Raises DataError for a drafter that is none of this target, a broken tokenizer, or when no prompt is held out.
    """
    target = _target_config(config)
    drafter = _drafter(config, target)
    if drafter and (text := other_target(Path(config.drafter), Path(config.target))):
        warn(f"the drafter was {text}")
    tokenizer = PromptTokenizer.load(Path(config.target), config.chat_template, config.chat_template_kwargs)
    context = text_config(target).get("max_position_embeddings") if target else None
    prompts: Prompts = {}
    for plan in config.prompts:

        def warn_of(text: str, dataset: str = plan.dataset) -> None:
            warn(f"{dataset}: {text}")

        chosen = choose(
            plan,
            tokenizer,
            share=config.held_out_share,
            count=config.prompts_per_dataset,
            seed=config.seed,
            longest=context - config.sampling.max_new_tokens if isinstance(context, int) else None,
            warn=warn_of,
        )
        if chosen:
            prompts[plan.dataset] = chosen
    if not prompts:
        raise DataError(
            f"no prompt is left to measure: of the share of {config.held_out_share:g} that was held out from training, the "
            "datasets have none, or all were refused; the warnings before this say which"
        )
    return Inputs(prompts=prompts, tokenizer=tokenizer, drafter=drafter)


def _target_config(config: BenchmarkConfig) -> Mapping[str, Any] | None:
    """config.json of the target; beside engines that run already, its tokenizer is enough."""
    path = Path(config.target) / "config.json"
    if config.served and not path.exists():
        return None
    try:
        found: dict[str, Any] = read_json(path)
    except (OSError, ValueError) as error:
        raise DataError(f"{config.target}: no readable config.json of a target model: {error}") from error
    return found


def _drafter(config: BenchmarkConfig, target: Mapping[str, Any] | None) -> dict[str, str]:
    """Its names, once it is known to be sound. Raises DataError that names file and tensor at fault."""
    folder = Path(config.drafter)
    if not config.drafter or (config.served and not folder.is_dir()):
        return {}
    faults = [str(finding) for finding in check_folder(folder, target=target) if finding.severity == "error"]
    if faults:
        raise DataError(f"{folder} is no drafter for {config.target}: " + "; ".join(faults))
    hashes = [sha256_file(file) for file in weight_files(folder)]
    return {"name": config.drafter_name or folder.name, "path": str(folder), "sha256": "+".join(hashes)}
