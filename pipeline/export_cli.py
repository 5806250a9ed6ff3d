"""`python -m pipeline export`: a checkpoint as SGLang loads it, or a verdict about one."""

import argparse
import json
import sys
from pathlib import Path

import torch

from pipeline.artifacts import read_json
from pipeline.checkpoint import export_checkpoint
from pipeline.checkpoint_check import Finding, check_folder
from pipeline.checkpoint_lineage import other_target
from pipeline.errors import PipelineError
from pipeline.model_card import kept_benchmark, write_model_card

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of the `export` command."""
    parser.add_argument("source", nargs="?", type=Path, help="checkpoint folder to export")
    parser.add_argument("destination", nargs="?", type=Path, help="folder to make; it must not exist")
    parser.add_argument(
        "--dtype", choices=sorted(DTYPES), default="bfloat16", help="of the exported weights (default: %(default)s)"
    )
    parser.add_argument(
        "--check", type=Path, metavar="PATH", help="verify the EAGLE-3 checkpoint in this folder and write nothing"
    )
    parser.add_argument(
        "--target", type=Path, metavar="PATH", help="the target model's folder, to compare sizes, context and RoPE"
    )
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")


def run(args: argparse.Namespace) -> int:
    """0: exported, or nothing wrong; 1: a fault, each named with file and tensor; 2: the arguments make no sense together."""
    if (args.check is None) == (args.source is None) or (args.source is not None and args.destination is None):
        sys.stderr.write("give SOURCE and DESTINATION to export, or --check PATH to verify\n")
        return 2
    folder = args.check or args.source
    try:
        target = read_json(args.target / "config.json") if args.target else None
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{args.target}: no readable config.json: {error}\n")
        return 1
    findings = check_folder(folder, target=target)
    if args.target and (text := other_target(folder, args.target)):
        findings.append(Finding("warning", "manifest.json", "", text))
    faulty = any(finding.severity == "error" for finding in findings)
    _report(folder, findings, as_json=args.json)
    if faulty or args.check is not None:
        return int(faulty)
    try:
        export_checkpoint(args.source, args.destination, dtype=DTYPES[args.dtype])
        write_model_card(args.destination, benchmark=kept_benchmark(args.source))
    except PipelineError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"exported to {args.destination}\n")
    return 0


def _report(folder: Path, findings: list[Finding], *, as_json: bool) -> None:
    if as_json:
        rows = [vars(finding) for finding in findings]
        valid = not any(finding.severity == "error" for finding in findings)
        sys.stdout.write(json.dumps({"folder": str(folder), "valid": valid, "findings": rows}, indent=1) + "\n")
        return
    for finding in findings:
        sys.stdout.write(f"{finding.severity}: {finding}\n")
    sys.stdout.write(f"{folder}: {sum(f.severity == 'error' for f in findings)} errors, ")
    sys.stdout.write(f"{sum(f.severity == 'warning' for f in findings)} warnings\n")
