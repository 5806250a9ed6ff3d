"""`python -m pipeline join-hidden SHARE… --out FOLDER`."""

import argparse
import sys
from pathlib import Path

from pipeline.errors import PipelineError
from pipeline.shard_join import join_shares


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Join the shares of one extraction (extract --part 1/4 … 4/4) in one folder, checked by manifest and hash. Training "
        "takes the shares as they are, too; joined, they are one extraction to copy and to name."
    )
    parser.add_argument(
        "shares", type=Path, nargs="+", metavar="SHARE", help="folders of hidden states, all shares of one extraction"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="a new folder; its manifest is written last")


def run(args: argparse.Namespace) -> int:
    try:
        manifest = join_shares(args.shares, args.out, on_shard=_tell)
    except (PipelineError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    documents, tokens, shards = manifest["documents"], manifest["tokens"], len(manifest["shards"])
    sys.stdout.write(f"{documents:,} documents, {tokens:,} tokens, {shards:,} shards in {args.out}\n")
    return 0


def _tell(shard: Path) -> None:
    sys.stderr.write(f"{shard.name}\n")
