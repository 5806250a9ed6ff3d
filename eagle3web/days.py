"""Days and moments that people look for, within what every zone and database computes with: the calendar's ends overflow."""

from datetime import date, datetime, time
from typing import Annotated

from django.core.validators import MaxValueValidator, MinValueValidator
from django.utils import timezone
from pydantic import AfterValidator, AwareDatetime

FIRST, LAST = date(1970, 1, 1), date(9000, 1, 1)
POSSIBLE = (MinValueValidator(FIRST), MaxValueValidator(LAST))
"""Validators of a form's day."""


def start_of(day: date) -> datetime:
    """In the reader's zone."""
    return timezone.make_aware(datetime.combine(day, time.min))


def _possible(moment: datetime) -> datetime:
    if not FIRST.year <= moment.year <= LAST.year:
        raise ValueError(f"years go from {FIRST.year} to {LAST.year}")
    return moment


Moment = Annotated[AwareDatetime, AfterValidator(_possible)]
"""Of a program's request, with its zone."""
