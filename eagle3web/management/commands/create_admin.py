"""First start: make an account for somebody, and say its password this once."""

from django.core.management.base import BaseCommand

from eagle3web.domain.people import create_first_admin


class Command(BaseCommand):
    help = "Create the superuser `admin` where there is no account yet, and print its password; otherwise do nothing."

    def handle(self, *args: object, **options: object) -> None:
        created = create_first_admin()
        if created is not None:
            username, password = created
            self.stdout.write(f"Created the administrator {username} with the password {password} (shown this once).")
