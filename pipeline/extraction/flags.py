"""`python -m pipeline extract` for people at a shell: flags → a config and a folder, as the dashboard would make them."""

import argparse
from pathlib import Path

from pipeline.answer_sets import AnswerSet
from pipeline.artifacts import AttemptFolder
from pipeline.errors import ConfigError
from pipeline.extraction.config import ExtractConfig
from pipeline.responses.index import part_paths
from pipeline.responses.manifest import read_manifest
from pipeline.responses.scan import scan_parts
from pipeline.stage_cli import add_folder_argument, add_supervision_flags, new_attempt

EPILOG = """\
examples:
  python -m pipeline extract --responses out/responses --target models/smollm2 --out hidden
  python -m pipeline extract --responses out/responses --dataset B1_glaive --dataset B2_code@1f0c9d2e --target m --out hidden
  python -m pipeline extract var/runs/8/attempts/1        (an attempt's folder with its config.json)
  python -m pipeline extract --part 2/4 --device cuda:1 --responses out/responses --target m --out hidden-2

A second call with the same --out goes on after the last finished shard.
Exit status: 0 finished, 1 failed, 2 wrong arguments or config, 3 stopped on request (SIGTERM, Ctrl-C).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Let the target model read answers, and keep its hidden states for training."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_folder_argument(parser)
    group = parser.add_argument_group("a run by flags, without a folder")
    add = group.add_argument
    add("--responses", type=Path, metavar="FOLDER", help="folder that holds one folder of answers for each dataset")
    add("--dataset", action="append", metavar="SLUG[@REVISION]", help="only this one; may be repeated (default: all)")
    add("--target", type=Path, metavar="FOLDER", help="transformers model that generated the answers")
    add("--out", type=Path, metavar="FOLDER", help="where shards go; attempts are kept in FOLDER/attempts")
    add("--layers", type=int, nargs="+", default=[], metavar="N", help="hidden_states[N] as features (default: 2 L//2 L-3)")
    add("--storage-dtype", choices=("bfloat16", "float16", "float32"), default="bfloat16", help="(default: %(default)s)")
    add("--compute-dtype", choices=("auto", "bfloat16", "float32"), default="auto", help="(default: %(default)s)")
    add("--device", default="auto", help="auto, cpu, cuda, cuda:N, or map for several GPUs (default: %(default)s)")
    add("--batch-tokens", type=int, default=4096, metavar="N", help="read at once, padding included (default: %(default)s)")
    add("--max-length", type=int, default=4096, metavar="N", help="longest prompt + answer (default: %(default)s)")
    add("--server", default="", metavar="URL", help="an SGLang server that holds the target (see serve --states)")
    add("--states", type=Path, metavar="FOLDER", help="where that server leaves hidden states")
    add("--part", type=_part, default=(1, 1), metavar="N/OF", help="one share of the answers, for several GPUs or hosts")
    add_supervision_flags(parser)


def make_attempt(args: argparse.Namespace) -> AttemptFolder:
    """Write the config into the next attempt's folder below --out. Raises ConfigError for flags that do not make a run."""
    missing = [f"--{name}" for name in ("responses", "target", "out") if not getattr(args, name)]
    if missing:
        raise ConfigError(f"a run without a RUN_FOLDER needs {', '.join(missing)}")
    config = ExtractConfig(
        project=args.out.resolve().name,
        responses=str(args.responses),
        datasets=_datasets(args.responses, args.dataset),
        hidden=str(args.out),
        target=str(args.target),
        feature_layers=tuple(args.layers),
        storage_dtype=args.storage_dtype,
        compute_dtype=args.compute_dtype,
        device=args.device,
        server=args.server,
        states=str(args.states or ""),
        batch_tokens=args.batch_tokens,
        max_length=args.max_length,
        part=args.part[0],
        parts=args.part[1],
    )
    return new_attempt(args.out, config)


def _part(text: str) -> tuple[int, int]:
    """`2/4` → (2, 4)."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"{text} is not N/OF, such as 2/4")
    return int(part), int(parts)


def _datasets(responses: Path, wanted: list[str] | None) -> tuple[AnswerSet, ...]:
    if wanted is None:
        wanted = [store.name for store in sorted(responses.glob("*")) if part_paths(store)]
        if not wanted:
            raise ConfigError(f"{responses}: no dataset here (no folder with part-*.jsonl)")
    return tuple(_chosen(responses, *name.partition("@")[::2]) for name in wanted)


def _chosen(responses: Path, dataset: str, revision: str) -> AnswerSet:
    store = responses / dataset
    if not part_paths(store):
        raise ConfigError(f"{store}: no answers here (no part-*.jsonl)")
    revisions = [revision] if revision else _revisions(store)
    if len(revisions) != 1:
        names = ", ".join(f"{dataset}@{found}" for found in revisions)
        raise ConfigError(f"{store} holds answers of {len(revisions)} revisions: choose one ({names})")
    return AnswerSet(dataset=dataset, revision=revisions[0])


def _revisions(store: Path) -> list[str]:
    """As the manifest tells, or where a run has not ended yet, the answers themselves."""
    if scopes := read_manifest(store)["scopes"]:
        return sorted({scope["revision"] for scope in scopes})
    return sorted({line.response.revision for line in scan_parts(store) if line.response is not None})
