"""A way in for somebody who sits at the machine."""

from django.core.management.base import BaseCommand, CommandParser

from eagle3web.domain.people import LINK_LIFETIME, make_sign_in_link
from eagle3web.management.people import find_person


class Command(BaseCommand):
    help = f"Print a link that signs a person in once, within {LINK_LIFETIME.total_seconds() / 60:.0f} minutes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--base", default="", help="address of the site, such as https://eagle3.example")

    def handle(self, *args: object, username: str, base: str, **options: object) -> None:
        user = find_person(username)
        self.stdout.write(base.rstrip("/") + make_sign_in_link(user))
