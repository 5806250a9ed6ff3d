"""`python -m pipeline benchmark` for people at a shell: flags → a config and a folder, as the dashboard would make them."""

import argparse
from pathlib import Path

from pipeline.artifacts import AttemptFolder
from pipeline.benchmark.config import BenchmarkConfig, Mode, PromptSet, ServedMode
from pipeline.config import EngineRef, SamplingConfig
from pipeline.datasets.named_prompts import named_prompts
from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError
from pipeline.flag_types import shape
from pipeline.stage_cli import add_folder_argument, add_supervision_flags, new_attempt

EPILOG = """\
examples:
  python -m pipeline benchmark --target models/smollm2 --drafter checkpoints/step-000500 \\
      --prompts B1_glaive.jsonl B2_code.parquet --shape 3/1/4 4/4/12 --concurrency 1,4 --out measured
  python -m pipeline benchmark --target models/llama --prompts p.jsonl --out measured \\
      --plain http://gpu1:30000 --lookup http://gpu1:30001 --served-drafter http://gpu1:30002
  python -m pipeline benchmark var/runs/9/attempts/1      (an attempt's folder with its config.json)

Only prompts that training kept aside are measured (--held-out-share, 1 takes all). A second call with the same --out goes on
where the first one ended. Exit status: 0 finished, 1 failed, 2 wrong arguments or config, 3 stopped (SIGTERM, Ctrl-C).
"""
MODES: tuple[Mode, ...] = ("plain", "lookup", "drafter")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Measure plain decoding, prompt lookup and a drafter on the same held-out prompts."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_folder_argument(parser)
    _add_run_flags(parser.add_argument_group("a run by flags, without a folder"))
    served = parser.add_argument_group("engines that run already, instead of embedded ones")
    served.add_argument("--plain", metavar="URL", help="SGLang server without a drafter: the baseline")
    served.add_argument("--lookup", metavar="URL", help="SGLang server with --speculative-algorithm NGRAM")
    served.add_argument("--served-drafter", metavar="URL", help="SGLang server with the drafter")
    parser.add_argument("--json", action="store_true", help="print the result as JSON instead of a table")
    add_supervision_flags(parser)


def _add_run_flags(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--target", type=Path, metavar="FOLDER", help="transformers model with its tokenizer")
    add("--drafter", type=Path, metavar="FOLDER", help="checkpoint to measure")
    add("--prompts", nargs="+", metavar="FILE", help="datasets; [NAME=]FILE in any format of `validate`")
    add("--prompts-per-dataset", type=int, default=8, metavar="N", help="(default: %(default)s)")
    add("--held-out-share", type=float, default=0.05, metavar="X", help="as in training (default: %(default)s)")
    add(
        "--shape",
        type=shape,
        nargs="+",
        default=[DraftShape()],
        metavar="STEPS/TOPK/TOKENS",
        help="how far drafts look; /CONFIDENCE behind it ends chains that are less likely (default: 3/1/4)",
    )
    add("--concurrency", type=numbers, default=(1,), metavar="N,…", help="requests at once (default: 1)")
    add("--repetitions", type=int, default=3, metavar="N", help="(default: %(default)s)")
    add("--warmup-prompts", type=int, default=2, metavar="N", help="for each engine, not counted (default: %(default)s)")
    add("--max-new-tokens", type=int, default=128, metavar="N", help="longest answer (default: %(default)s)")
    add("--temperature", type=float, default=0.0, help="0 is greedy (default: %(default)s)")
    add("--ignore-eos", action="store_true", help="make all answers equally long")
    add("--chat-template", type=Path, metavar="FILE", help="Jinja file that replaces the tokenizer's own")
    add("--thinking", choices=("on", "off"), help="enable_thinking of the chat template")
    add("--dtype", choices=("float32", "bfloat16"), default="float32", help="of embedded engines (default: %(default)s)")
    add("--device", default="auto", help="of embedded engines: auto, cpu, cuda (default: %(default)s)")
    add("--seed", type=int, default=0, help="another one measures other prompts (default: %(default)s)")
    add("--out", type=Path, default=Path("benchmark"), metavar="FOLDER", help="where everything goes (default: benchmark)")


def numbers(text: str) -> tuple[int, ...]:
    """`1,4,16`."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is not a list of numbers, such as 1,4") from error


def make_attempt(args: argparse.Namespace) -> AttemptFolder:
    """Import the prompts, and write the config into the next attempt's folder below --out.

    Raises ConfigError for flags that are missing or contradict each other, DataError and OSError for unusable files.
    """
    missing = [f"--{name}" for name in ("target", "prompts") if not getattr(args, name)]
    if missing:
        raise ConfigError(f"a run without a RUN_FOLDER needs {', '.join(missing)}")
    return new_attempt(args.out, config_of(args))


def config_of(args: argparse.Namespace) -> BenchmarkConfig:
    """The config that the flags describe."""
    return BenchmarkConfig(
        project=args.out.resolve().name,
        output=str(args.out / "output"),
        target=str(args.target),
        drafter=str(args.drafter) if args.drafter else "",
        prompts=tuple(_prompt_set(given, args.out) for given in args.prompts),
        held_out_share=args.held_out_share,
        prompts_per_dataset=args.prompts_per_dataset,
        chat_template=args.chat_template.read_text() if args.chat_template else "",
        chat_template_kwargs={"enable_thinking": args.thinking == "on"} if args.thinking else {},
        shapes=tuple(args.shape),
        concurrency=args.concurrency,
        sampling=SamplingConfig(
            temperature=args.temperature, max_new_tokens=args.max_new_tokens, ignore_eos=args.ignore_eos, seed=args.seed
        ),
        repetitions=args.repetitions,
        warmup_prompts=args.warmup_prompts,
        dtype=args.dtype,
        device=args.device,
        served=tuple(_served(args)),
        seed=args.seed,
    )


def _served(args: argparse.Namespace) -> list[ServedMode]:
    urls = (args.plain, args.lookup, args.served_drafter)
    return [ServedMode(mode=mode, engine=EngineRef(name=mode, url=url)) for mode, url in zip(MODES, urls, strict=True) if url]


def _prompt_set(given: str, out: Path) -> PromptSet:
    found = named_prompts(given, home=out)
    return PromptSet(dataset=found.slug, revision=found.revision, prompts=str(found.prompts))
