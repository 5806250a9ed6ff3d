"""A backup of everything that cannot be made again; runs may go on meanwhile."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from eagle3web.domain.backups import back_up
from eagle3web.domain.database_copies import CopyFailedError
from eagle3web.management.folders import folder as as_folder
from pipeline.errors import DataError, DiskFullError, explained


class Command(BaseCommand):
    help = "Copy database and home into a folder; a second call into the same folder copies what is new. Runs may go on."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=as_folder, help="where to; on another disk than EAGLE3_HOME")

    def handle(self, *_args: Any, folder: Path, **_options: Any) -> None:
        try:
            made = back_up(folder)
        except (CopyFailedError, DataError, DiskFullError, OSError) as error:
            raise CommandError(f"{explained(error)}.") from error
        for link in made.found.followed:
            self.stdout.write(f"Followed a link: {link}")
        for link in made.found.left_out:
            self.stderr.write(f"Left out a link: {link}")
        self.stdout.write(f"{sum(made.manifest.rows.values()):,} rows and {made.manifest.files:,} files are in {folder}")
