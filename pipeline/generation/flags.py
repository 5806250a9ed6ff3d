"""`python -m pipeline generate` for people at a shell: flags → a config and a folder, as the dashboard would make them."""

import argparse
from pathlib import Path

from pipeline.artifacts import AttemptFolder
from pipeline.config import DatasetPlan, EngineRef, GenerateConfig, SamplingConfig
from pipeline.datasets.named_prompts import named_prompts
from pipeline.errors import ConfigError
from pipeline.stage_cli import add_folder_argument, add_supervision_flags, new_attempt

DEFAULTS = SamplingConfig()
EPILOG = """\
examples:
  python -m pipeline generate --prompts B1_glaive.jsonl B2_code.parquet --engine http://127.0.0.1:30000 \\
      --tokenizer models/smollm2 --token-budget 100000 --out out
  python -m pipeline generate var/runs/7/attempts/2        (an attempt's folder with its config.json)

A second call with the same --out goes on where the first one ended.
Exit status: 0 finished, 1 failed, 2 wrong arguments or config, 3 stopped on request (SIGTERM, Ctrl-C).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Generate answers to prompts with inference servers, until each dataset has its budget of tokens."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_folder_argument(parser)
    _add_run_flags(parser.add_argument_group("a run by flags, without a folder"))
    _add_sampling_flags(parser.add_argument_group("sampling"))
    add_supervision_flags(parser)


def _add_run_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--prompts", nargs="+", metavar="FILE", help="datasets, in order; [NAME=]FILE in any format of `validate`"
    )
    group.add_argument("--engine", nargs="+", metavar="URL", help="inference servers")
    group.add_argument("--protocol", choices=("sglang", "openai"), default="sglang", help="what they speak (default: sglang)")
    group.add_argument("--model", default="", help="model name to ask for (openai protocol)")
    group.add_argument("--tokenizer", type=Path, metavar="FOLDER", help="folder with tokenizer.json and the chat template")
    group.add_argument("--chat-template", type=Path, metavar="FILE", help="Jinja file that replaces the tokenizer's own")
    group.add_argument("--thinking", choices=("on", "off"), help="enable_thinking of the chat template")
    group.add_argument(
        "--token-budget", type=int, metavar="N", help="completion tokens for each dataset (default: all prompts)"
    )
    group.add_argument("--max-samples", type=int, metavar="N", help="answers for each dataset (default: all prompts)")
    group.add_argument("--concurrency", type=int, default=8, metavar="N", help="requests in flight (default: 8)")
    group.add_argument(
        "--order", choices=("sequential", "interleaved"), default="sequential", help="how datasets share the slots"
    )
    group.add_argument("--context-length", type=int, metavar="N", help="longest prompt + answer (default: as engines tell)")
    group.add_argument("--request-timeout", type=float, default=3600.0, metavar="S", help="longest wait for an answer (3600)")
    group.add_argument("--retry-errors", action="store_true", help="ask prompts again that gave an error before")
    group.add_argument("--out", type=Path, default=Path("out"), metavar="FOLDER", help="where everything goes (default: out)")


def _add_sampling_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--temperature", type=float, default=DEFAULTS.temperature, help="0 is greedy (default: %(default)s)")
    group.add_argument("--top-p", type=float, default=DEFAULTS.top_p, help="(default: %(default)s)")
    group.add_argument("--top-k", type=int, default=DEFAULTS.top_k, help="-1 keeps all tokens (default: %(default)s)")
    group.add_argument("--min-p", type=float, default=DEFAULTS.min_p, help="(default: %(default)s)")
    group.add_argument("--max-new-tokens", type=int, default=DEFAULTS.max_new_tokens, help="(default: %(default)s)")
    group.add_argument("--seed", type=int, default=DEFAULTS.seed, help="each record's own is made from it (default: 0)")


def make_attempt(args: argparse.Namespace) -> AttemptFolder:
    """Import the prompts, and write the config into the next attempt's folder below --out.

    Raises ConfigError for flags that are missing or contradict each other, DataError and OSError for unusable files.
    """
    missing = [f"--{name}" for name in ("prompts", "engine", "tokenizer") if not getattr(args, name)]
    if missing:
        raise ConfigError(f"a run without a RUN_FOLDER needs {', '.join(missing)}")
    return new_attempt(args.out, config_of(args))


def config_of(args: argparse.Namespace) -> GenerateConfig:
    """The config that the flags describe."""
    sampling = SamplingConfig(
        temperature=args.temperature,
        top_p=args.top_p,
        top_k=args.top_k,
        min_p=args.min_p,
        max_new_tokens=args.max_new_tokens,
        seed=args.seed,
    )
    return GenerateConfig(
        project=args.out.resolve().name,
        responses=str(args.out / "responses"),
        tokenizer=str(args.tokenizer),
        chat_template=args.chat_template.read_text() if args.chat_template else "",
        chat_template_kwargs={"enable_thinking": args.thinking == "on"} if args.thinking else {},
        context_length=args.context_length,
        engines=tuple(
            EngineRef(name=f"engine{n}", url=url, protocol=args.protocol, model=args.model)
            for n, url in enumerate(args.engine, start=1)
        ),
        concurrency=args.concurrency,
        order=args.order,
        request_timeout_s=args.request_timeout,
        retry_errors=args.retry_errors,
        datasets=tuple(_plan(given, args, sampling) for given in args.prompts),
    )


def _plan(given: str, args: argparse.Namespace, sampling: SamplingConfig) -> DatasetPlan:
    found = named_prompts(given, home=args.out)
    return DatasetPlan(
        slug=found.slug,
        revision=found.revision,
        prompts=str(found.prompts),
        prompts_count=found.count,
        budget=args.token_budget,
        max_samples=args.max_samples,
        sampling=sampling,
    )
