"""Fills a database with rows for measuring."""

import dataclasses
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.utils import timezone
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from eagle3web.scale.seeding import SeedRefused, seed
from eagle3web.scale.size import Size


class Command(BaseCommand):
    help = "Write a project with many runs, points, events and answers, to measure how fast the pages are."

    def add_arguments(self, parser: CommandParser) -> None:
        for field in dataclasses.fields(Size):
            parser.add_argument(f"--{field.name}", type=int, default=field.default, help=f"rows (default {field.default:,})")
        parser.add_argument("--project", default="scale", help="slug of the new project (default scale)")
        parser.add_argument("--force", action="store_true", help="also into a database that has runs")

    def handle(self, *args: object, project: str, force: bool, **options: Any) -> None:
        size = Size(**{field.name: options[field.name] for field in dataclasses.fields(Size)})
        if size != size.scaled(1):
            raise CommandError(f"Too few rows to make pages of; the least is {Size().scaled(0)}.")
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns) as progress:
            tasks = {field.name: progress.add_task(field.name, total=options[field.name]) for field in dataclasses.fields(Size)}
            try:
                made = seed(
                    project, size, now=timezone.now(), force=force, report=lambda kind, n: progress.advance(tasks[kind], n)
                )
            except SeedRefused as refused:
                raise CommandError(str(refused)) from refused
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # both databases plan by what they counted
        self.stdout.write(f"{made}: {size.rows:,} rows")
