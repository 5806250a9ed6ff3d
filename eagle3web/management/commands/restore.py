"""From a backup to an installation that works."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from eagle3web.domain.backups import restore
from eagle3web.domain.database_copies import CopyFailedError
from pipeline.errors import DiskFullError


class Command(BaseCommand):
    help = "Fill an empty EAGLE3_HOME and an empty database from a folder that `backup` made."
    # The database has no tables yet.
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="what `backup` made")

    def handle(self, *_args: Any, folder: Path, **_options: Any) -> None:
        try:
            made = restore(folder)
        except (CopyFailedError, DiskFullError) as error:
            raise CommandError(f"{error}.") from error
        self.stdout.write(f"{sum(made['rows'].values()):,} rows and {made['files']:,} files of {made['made_at']} are back")
        self.stdout.write("Start the services. Runs that were live are lost, and can be resumed from their pages.")
