"""What commands that act for a person share."""

from django.core.management.base import CommandError
from django.db import OperationalError, ProgrammingError

from eagle3web.models import User


def find_person(username: str) -> User:
    """Raises CommandError where there is no such active person, or no table of people yet."""
    try:
        return User.objects.get(username=username, is_active=True)
    except User.DoesNotExist:
        raise CommandError(f"There is no active person {username!r}.") from None
    except (OperationalError, ProgrammingError) as error:
        raise CommandError(f"The database is not set up ({error}); `manage.py migrate` does that.") from None
