"""`python -m pipeline COMMAND …`: every stage and tool of the pipeline, without the web.

A command's module is imported when it is asked for, so that none waits for what another one needs.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from pipeline import early_stop
from pipeline.artifacts import AttemptFolder

COMMANDS = {
    "validate": ("pipeline.validate_cli", "say which rows of a file of prompts cannot be used, and why"),
    "generate": ("pipeline.generation.cli", "generate answers to prompts until each dataset has its budget of tokens"),
    "extract": ("pipeline.extraction.cli", "let the target read answers, and keep its hidden states for training"),
    "join-hidden": ("pipeline.shard_join_cli", "join the shares of an extraction that several workers made"),
    "train": ("pipeline.training.cli", "train an EAGLE-3 drafter on a target's hidden states"),
    "benchmark": ("pipeline.benchmark.cli", "measure plain decoding, prompt lookup and a drafter on held-out prompts"),
    "serve": ("pipeline.serve.cli", "start, watch and end an SGLang server"),
    "export-responses": ("pipeline.responses.export_cli", "write answers as conversations for other frameworks"),
    "export": ("pipeline.export_cli", "write a checkpoint as SGLang loads it, or verify any EAGLE-3 folder (--check)"),
    "engine": ("pipeline.serving.embedded.cli", "serve a model with SGLang's API, without SGLang"),
    "remote": ("pipeline.remote.cli", "list, start, follow and steer runs of a dashboard over its API"),
    "prepare-demo-model": ("pipeline.prepare_model_cli", "convert the demo's target model"),
}
"""Command → the module with its `add_arguments(parser)` and `run(args) -> int`, and what it does."""
STAGES = frozenset({"generate", "extract", "train", "benchmark", "serve"})
"""Commands that save their work when they are asked to stop."""


def main(argv: Sequence[str]) -> int:
    if not argv or argv[0] not in COMMANDS:
        _parser().parse_args(argv or ["--help"])
    name, *rest = argv
    module, parser = command(name)
    args = parser.parse_args(rest)
    folder = AttemptFolder(Path(rest[0])) if name in STAGES and rest else None
    if folder is not None and os.environ.get("EAGLE3_ARTIFACTS") and folder.config.is_file():
        exchange = importlib.import_module("pipeline.artifact_exchange")
        code: int = exchange.exchanging(name, folder, lambda: module.run(args))
    else:
        code = module.run(args)
    return code


def command(name: str) -> tuple[ModuleType, argparse.ArgumentParser]:
    """The module that carries a command out, and the parser of its arguments."""
    module_name, text = COMMANDS[name]
    module = importlib.import_module(module_name)
    # What it does in one sentence, where the module has no more to say.
    parser = argparse.ArgumentParser(prog=f"python -m pipeline {name}", description=f"{text[0].upper()}{text[1:]}.")
    module.add_arguments(parser)
    return module, parser


def _parser() -> argparse.ArgumentParser:
    """For help, and for words that are no command."""
    parser = argparse.ArgumentParser(prog="python -m pipeline", description="Stages and tools of eagle3web, without the web.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, (_, text) in COMMANDS.items():
        commands.add_parser(name, help=text)
    return parser


if __name__ == "__main__":
    if STAGES.intersection(sys.argv[1:2]):
        early_stop.listen()
    # Progress of several threads of tokenizers' own helps nobody here, and their warning about forks would end in the log.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    sys.exit(main(sys.argv[1:]))
