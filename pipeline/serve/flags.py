"""`python -m pipeline serve` for people at a shell: flags → a config and a folder, as the dashboard would make them."""

import argparse
from pathlib import Path
from typing import get_args

from pipeline.artifacts import AttemptFolder
from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError
from pipeline.flag_types import shape
from pipeline.serve.config import RestartPolicy, ServeConfig, Speculation
from pipeline.serve.extra import parse_extra
from pipeline.stage_cli import add_folder_argument, add_supervision_flags, new_attempt

EPILOG = """\
examples:
  python -m pipeline serve --target models/smollm2 --port 30000
  python -m pipeline serve --target models/big --tensor-parallel 8 --kv-cache-dtype fp8_e4m3 --memory-fraction 0.85
  python -m pipeline serve --target models/smollm2 --drafter checkpoints/step-000441 --shape 3/1/4
  python -m pipeline serve --target models/smollm2 --extra="--page-size 16 --disable-radix-cache"

SGLang runs from .venv-sglang, which `make sglang` makes, or from the environment that EAGLE3_SGLANG_PYTHON or --python names.
Ctrl-C drains and ends it. Exit status: 1 failed, 2 wrong arguments or config, 3 ended on request (SIGTERM, Ctrl-C).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Start an SGLang server, watch it, start it again when it fails, and end it to the last process."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_folder_argument(parser)
    add = parser.add_argument_group("a run by flags, without a folder").add_argument
    add("--target", type=Path, metavar="FOLDER", help="transformers model")
    add("--drafter", type=Path, metavar="FOLDER", help="checkpoint to draft with")
    add("--lookup", action="store_true", help="draft by prompt lookup (SGLang's NGRAM; GPUs only)")
    add("--shape", type=shape, default=DraftShape(), metavar="STEPS/TOPK/TOKENS", help="how far drafts look (default: 3/1/4)")
    add("--states", type=Path, metavar="FOLDER", help="leave the hidden states of prompts here, for extract --server")
    add("--layers", type=int, nargs="+", default=[], metavar="N", help="whose states those are (default: 2 L//2 L-3)")
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=int, default=30000, help="0 takes a free one (default: %(default)s)")
    add("--device", choices=("auto", "cuda", "cpu"), default="auto", help="(default: %(default)s)")
    add("--tensor-parallel", type=int, default=1, metavar="N", help="GPUs that share the model (default: %(default)s)")
    add("--dtype", choices=("auto", "float32", "float16", "bfloat16"), default="auto", help="(default: %(default)s)")
    add("--kv-cache-dtype", choices=("auto", "bfloat16", "fp8_e4m3", "fp8_e5m2"), default="auto", help="(default: %(default)s)")
    add("--memory-fraction", type=float, metavar="X", help="of the device, for weights and KV cache")
    add("--context-length", type=int, metavar="N", help="longest prompt + answer")
    add("--max-running", type=int, metavar="N", help="requests that are worked on at once")
    add("--max-queued", type=int, metavar="N", help="requests that may wait; more are refused")
    add("--max-total-tokens", type=int, metavar="N", help="size of the KV cache")
    add("--hierarchical-cache", action="store_true", help="KV cache in the host's memory behind the device's")
    add("--hierarchical-ratio", type=float, metavar="X", help="its size over the device's")
    add("--trust-remote-code", action="store_true", help="let SGLang run code that the model's folder brings")
    add("--extra", default="", metavar="'--NAME VALUE …'", help="more of SGLang's arguments, of those that are allowed")
    add("--restart", choices=("never", "on-failure"), default="on-failure", help="(default: %(default)s)")
    add("--drain-seconds", type=float, default=30.0, metavar="X", help="for running requests at the end (default: 30)")
    add("--python", default="", metavar="PATH", help="interpreter of SGLang's environment")
    add("--out", type=Path, default=Path("serve"), metavar="FOLDER", help="where attempts are kept (default: serve)")
    add_supervision_flags(parser)


def make_attempt(args: argparse.Namespace) -> AttemptFolder:
    """Write the config into the next attempt's folder below --out. Raises ConfigError for flags that do not make a run."""
    if not args.target:
        raise ConfigError("a run without a RUN_FOLDER needs --target")
    if args.drafter and args.lookup:
        raise ConfigError("--drafter and --lookup: a server drafts in one way")
    return new_attempt(args.out, config_of(args))


def config_of(args: argparse.Namespace) -> ServeConfig:
    """The config that the flags describe."""
    none, drafter, lookup = get_args(Speculation)
    return ServeConfig(
        project=args.out.resolve().name,
        target=str(args.target),
        drafter=str(args.drafter) if args.drafter else "",
        speculation=drafter if args.drafter else lookup if args.lookup else none,
        shape=args.shape,
        states=str(args.states.resolve()) if args.states else "",
        feature_layers=tuple(args.layers),
        host=args.host,
        port=args.port,
        device=args.device,
        tensor_parallel=args.tensor_parallel,
        dtype=args.dtype,
        kv_cache_dtype=args.kv_cache_dtype,
        memory_fraction=args.memory_fraction,
        context_length=args.context_length,
        max_running=args.max_running,
        max_queued=args.max_queued,
        max_total_tokens=args.max_total_tokens,
        hierarchical_cache=args.hierarchical_cache,
        hierarchical_ratio=args.hierarchical_ratio,
        trust_remote_code=args.trust_remote_code,
        extra=parse_extra(args.extra),
        python=args.python,
        restart=RestartPolicy(when=args.restart),
        drain_s=args.drain_seconds,
    )
