"""A token for a program."""

from datetime import timedelta

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from eagle3web.domain.people import issue_token
from eagle3web.enums import TokenScope
from eagle3web.management.people import find_person


class Command(BaseCommand):
    help = "Issue an API token that acts for a person, and print it; only its hash is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("name", help="what it is for, such as nightly-report")
        parser.add_argument("--days", type=int, help="days until it expires (default: never)")
        parser.add_argument(
            "--scope", action="append", default=[], choices=TokenScope.values, help="what it is good for (default: everything)"
        )

    def handle(self, *args: object, username: str, name: str, days: int | None, scope: list[str], **options: object) -> None:
        if days is not None and not 0 < days <= 36_500:
            raise CommandError("--days must be between 1 and 36500.")
        user = find_person(username)
        expires = None if days is None else timezone.now() + timedelta(days=days)
        self.stdout.write(issue_token(user, name, expires, scopes=scope))
