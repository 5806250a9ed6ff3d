"""`python -m pipeline export-responses FOLDER OUT`: answers for other frameworks."""

import argparse
import sys
from pathlib import Path

from pipeline.errors import PipelineError
from pipeline.responses.export import export_conversations
from pipeline.responses.index import part_paths


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write a dataset's answers as JSON Lines with `conversations` (role, content), the format that SpecForge and "
        "speculators read. Answers that were cut at max_new_tokens are left out."
    )
    parser.add_argument("folder", type=Path, help="folder with part-*.jsonl, such as var/projects/demo/responses/B1_glaive")
    parser.add_argument("out", type=Path, help="file to write; it appears when it is complete")
    parser.add_argument("--include-truncated", action="store_true", help="keep answers that were cut at max_new_tokens")


def run(args: argparse.Namespace) -> int:
    if not part_paths(args.folder):
        sys.stderr.write(f"error: {args.folder} holds no part-*.jsonl\n")
        return 1
    try:
        exported = export_conversations(args.folder, args.out, include_truncated=args.include_truncated)
    except (PipelineError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.write(f"{exported.written:,} conversations in {args.out}\n")
    for count, why in ((exported.truncated, "cut answers"), (exported.without_messages, "prompts of bare token ids")):
        if count:
            sys.stdout.write(f"{count:,} {why} left out\n")
    return 0
