"""The demo's datasets."""

from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from eagle3web.domain.datasets import import_demo
from pipeline.errors import PipelineError


class Command(BaseCommand):
    help = "Import eight small datasets of real prompts from the packages of requirements-demo.txt."

    def handle(self, *args: object, **options: object) -> None:
        try:
            for row in import_demo(Path(settings.EAGLE3_HOME), user=None):
                self.stdout.write(f"{row.dataset.slug:<14} {row.revision}  {row.accepted:>5,} prompts  {row.dataset.licence}")
        except PipelineError as error:
            raise CommandError(str(error)) from error
