"""A file of prompts, from the command line; also what carries out the imports that people start in the browser."""

from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from eagle3web.domain.datasets import import_file, run_import
from eagle3web.enums import RevisionState
from eagle3web.models import DatasetRevision
from pipeline.errors import DataError
from pipeline.tokens import PromptTokenizer


class Command(BaseCommand):
    help = "Validate a file of prompts and store it as a revision of a dataset."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="JSON Lines, JSON list or Parquet; plain, .gz or .zst")
        target = parser.add_mutually_exclusive_group(required=True)
        target.add_argument("--slug", help="name of the dataset, new or existing")
        target.add_argument(
            "--revision", type=int, help="carry out an import that was begun in the browser (number of its row)"
        )
        parser.add_argument("--title", default="", help="what it is, for people")
        parser.add_argument("--licence", default="", help="what it may be used for, such as Apache-2.0")
        parser.add_argument("--source", default="", help="where it comes from")
        parser.add_argument("--notes", default="")
        parser.add_argument("--tokenizer", type=Path, help="folder of the tokenizer that measures prompt lengths")
        parser.add_argument("--remove", action="store_true", help="delete the file afterwards")

    def handle(self, *args: object, path: Path, slug: str | None, revision: int | None, **options: Any) -> None:
        try:
            tokenizer = PromptTokenizer.load(options["tokenizer"]) if options["tokenizer"] else None
            if revision is not None:
                row = DatasetRevision.objects.select_related("dataset").get(pk=revision, state=RevisionState.IMPORTING)
                row = run_import(row, path, tokenizer=tokenizer)
            else:
                fields = {name: options[name] for name in ("title", "licence", "source", "notes")}
                row = import_file(path, slug=slug or "", user=None, tokenizer=tokenizer, **fields)
        except DatasetRevision.DoesNotExist:
            raise CommandError(f"There is no import {revision} to carry out.") from None
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        except (DataError, OSError) as error:
            raise CommandError(str(error)) from error
        finally:
            if options["remove"]:
                path.unlink(missing_ok=True)
        if row.state != RevisionState.READY:
            raise CommandError(f"{row.file_name}: {row.error} ({row.rejected:,} rows rejected)")
        self.stdout.write(f"{row.dataset.slug} {row.revision}: {row.accepted:,} prompts, {row.rejected:,} rows rejected")
