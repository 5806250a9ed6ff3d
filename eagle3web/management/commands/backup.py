"""A backup of everything that cannot be made again; runs may go on meanwhile."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from eagle3web.domain.backups import back_up
from eagle3web.domain.database_copies import CopyFailedError
from pipeline.errors import DiskFullError


class Command(BaseCommand):
    help = "Copy database and home into a folder; a second call into the same folder copies what is new. Runs may go on."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="where to; on another disk than EAGLE3_HOME")

    def handle(self, *_args: Any, folder: Path, **_options: Any) -> None:
        try:
            made = back_up(folder)
        except (CopyFailedError, DiskFullError) as error:
            raise CommandError(f"{error}.") from error
        self.stdout.write(f"{sum(made['rows'].values()):,} rows and {made['files']:,} files are in {folder}")
