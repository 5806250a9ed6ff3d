"""Answers that were generated before pages knew them, or by hand: from their files into rows."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from eagle3web.domain.answer_copies import AnswerCopier
from eagle3web.models import Answer, Project
from pipeline.artifacts import Home


class Command(BaseCommand):
    help = "Copy a project's answers from the response files of this host into the database; a second call copies what is new."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="slug of the project")

    def handle(self, *_args: Any, project: str, **_options: Any) -> None:
        row = Project.objects.filter(slug=project).first()
        if row is None:
            raise CommandError(f"There is no project {project}.")
        folder = Home(Path(settings.EAGLE3_HOME)).responses(row.slug)
        if not folder.is_dir():
            raise CommandError(f"{folder} is not on this host; run this where the answers were generated.")
        copier, copied = AnswerCopier(row.pk, folder), 0
        while size := copier.copy():
            copied += size
        held = Answer.objects.filter(project=row).count()
        self.stdout.write(f"{copied:,} bytes copied; {held:,} answers and failures of {row.slug} are in the database")
