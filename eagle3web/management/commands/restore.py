"""From a backup to an installation that works."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from eagle3web.domain.database_copies import CopyFailedError
from eagle3web.domain.restores import HalfRestoredError, restore
from eagle3web.management.folders import folder as as_folder
from pipeline.errors import DataError, DiskFullError, explained


class Command(BaseCommand):
    help = "Fill an empty EAGLE3_HOME and an empty database from a folder that `backup` made."
    # The database has no tables yet.
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=as_folder, help="what `backup` made")

    def handle(self, *_args: Any, folder: Path, **_options: Any) -> None:
        try:
            found = restore(folder)
        except (CopyFailedError, DataError, DiskFullError, DatabaseError, OSError) as error:
            raise CommandError(f"{explained(error)}. Nothing was restored") from error
        except HalfRestoredError as error:
            raise CommandError(f"{error}.") from error
        made = found.manifest
        self.stdout.write(f"{sum(made.rows.values()):,} rows and {found.files:,} files of {made.made_at} are back")
        if made.contents is None:
            self.stderr.write("An older version made this backup, without a record of its files: none could be compared.")
        if found.missing:
            self.stderr.write(f"At least {found.missing:,} of the {made.files:,} files that it speaks of are missing.")
        self.stdout.write("Start the services. Runs that were live are lost, and can be resumed from their pages.")
