"""`python -m pipeline validate FILE`: is this a usable file of prompts, and which rows are not?"""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from pipeline.datasets.containers.compression import Progress as OnProgress
from pipeline.datasets.reading import read_conversations
from pipeline.datasets.report import Problem, ValidationReport
from pipeline.errors import DataError
from pipeline.tokens import PromptTokenizer

SHOWN_PROBLEMS = 20

DESCRIPTION = """\
Read a file of prompts as an import would, write nothing, and say which rows cannot be used and why.

Containers: JSON Lines, a JSON list, Parquet; each plain, .gz or .zst (told by content, not by name).
Rows: OpenAI messages, ShareGPT conversations, Alpaca, one prompt in a field (prompt, question, query, problem, text),
      tools and tool calls, pre-tokenized input_ids with loss_mask.

Exit status: 0 when at least one row is valid, 1 otherwise.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", type=Path, help="the file to read")
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")
    parser.add_argument("--limit", type=int, default=None, metavar="N", help="list at most N problems (1000, or 20 as text)")
    bound = parser.add_mutually_exclusive_group()
    bound.add_argument("--vocab-size", type=int, default=None, metavar="N", help="refuse pre-tokenized rows with ids ≥ N")
    bound.add_argument("--tokenizer", type=Path, default=None, metavar="FOLDER", help="take the vocabulary's size from here")


def run(args: argparse.Namespace) -> int:
    report = ValidationReport()
    try:
        vocab_size = PromptTokenizer.load(args.tokenizer).vocab_size if args.tokenizer else args.vocab_size
        with _progress(args.file.name) as progress:
            for _ in read_conversations(args.file, report, vocab_size=vocab_size, progress=progress):
                pass
    except DataError as error:
        report.error = str(error)
    except OSError as error:
        report.error = _why_unreadable(args.file, error)
    if args.json:
        keep = {} if args.limit is None else {"keep": args.limit}
        sys.stdout.write(json.dumps(report.to_json(**keep), indent=1) + "\n")
    else:
        sys.stdout.writelines(_text(args.file, report, SHOWN_PROBLEMS if args.limit is None else args.limit))
    return 0 if report.accepted else 1


def _why_unreadable(path: Path, error: OSError) -> str:
    match error:
        case FileNotFoundError():
            return f"there is no file {path}"
        case IsADirectoryError():
            return f"{path} is a folder; name one file"
        case _:
            return f"{path} cannot be read: {error.strerror or error}"


@contextmanager
def _progress(name: str) -> Iterator[OnProgress | None]:
    """A bar on standard error, where that is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(f"reading {name}", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _text(path: Path, report: ValidationReport, limit: int) -> Iterator[str]:
    formats = ", ".join(f"{count:,} {name}" for name, count in report.formats.most_common())
    yield f"{path.name}: {report.accepted:,} accepted{f' ({formats})' if formats else ''}, {report.rejected:,} rejected\n"
    if report.error:
        yield f"error: {report.error}\n"
    for reason, count in report.reasons.most_common():
        yield f"  {count:>8,} × {reason}\n"
    for heading, problems, total in (
        ("rejected", report.rejections, report.rejected),
        ("warnings", report.warnings, report.warned),
    ):
        if problems:
            yield f"{heading}:\n"
            yield from map(_problem, problems[:limit])
            if total > limit:
                yield f"  … and {total - limit:,} more\n"


def _problem(problem: Problem) -> str:
    where = f"line {problem.line}" if problem.line else f"row {problem.index}"
    label = f" (id {problem.id})" if problem.id is not None else ""
    detail = f": {problem.detail}" if problem.detail else ""
    return f"  {_printable(f'{where}{label}: {problem.reason}{detail}')}\n"


def _printable(text: str) -> str:
    """Control characters as escapes: a file must not steer the terminal."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
