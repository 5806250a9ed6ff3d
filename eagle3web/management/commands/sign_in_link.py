"""A way in for somebody who sits at the machine."""

from django.core.management.base import BaseCommand, CommandError, CommandParser

from eagle3web.domain.people import LINK_LIFETIME, make_sign_in_link
from eagle3web.models import User


class Command(BaseCommand):
    help = f"Print a link that signs a person in once, within {LINK_LIFETIME.total_seconds() / 60:.0f} minutes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--base", default="", help="address of the site, such as https://eagle3.example")

    def handle(self, *args: object, username: str, base: str, **options: object) -> None:
        try:
            user = User.objects.get(username=username, is_active=True)
        except User.DoesNotExist:
            raise CommandError(f"There is no active person {username!r}.") from None
        self.stdout.write(base.rstrip("/") + make_sign_in_link(user))
