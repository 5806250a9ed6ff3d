"""What people write beside a run: tags and notes. Neither changes what the run does."""

from collections.abc import Callable, Iterable

from django.core.exceptions import ValidationError
from django.db import transaction

from eagle3web.domain import attempts, audit
from eagle3web.models import Run, User

TAGS = 20
"""Of one run, at most."""
TAG_LENGTH = 40
NOTES_LENGTH = 20_000


def set_tags(run: Run, tags: Iterable[str], *, user: User | None) -> bool:
    """Give the run exactly these tags. False: it has them already. Raises ValidationError."""
    wanted = sound(tags)
    return _write(run, lambda old: wanted, user=user)


def change_tags(run: Run, *, add: Iterable[str] = (), remove: Iterable[str] = (), user: User | None) -> bool:
    """Add and remove tags, whatever their case, and keep the others. False: nothing changed. Raises ValidationError."""
    more, less = sound(add), {tag.casefold() for tag in sound(remove)}
    return _write(run, lambda old: sound([tag for tag in old if tag.casefold() not in less] + more), user=user)


def set_notes(run: Run, notes: str, *, user: User | None) -> bool:
    """Replace the run's notes. False: they are the same. Raises ValidationError for too long ones."""
    text = notes.replace("\r\n", "\n").replace("\x00", "").strip()
    if len(text) > NOTES_LENGTH:
        raise ValidationError(f"Notes have {NOTES_LENGTH:,} characters at most; these have {len(text):,}.")
    with transaction.atomic():
        row = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if row.notes == text:
            return False
        Run.objects.filter(pk=run.pk).update(notes=text)
        audit.record(user, "run.notes", run, characters=len(text), before=len(row.notes))
        attempts.announce(run)
    run.notes = text
    return True


def sound(tags: Iterable[str]) -> list[str]:
    """Tags without blanks around them and without doubles. Raises ValidationError that says which is none."""
    found: dict[str, str] = {}
    for tag in (" ".join(tag.split()) for tag in tags):
        if not tag:
            continue
        if len(tag) > TAG_LENGTH or "," in tag or not tag.isprintable():
            raise ValidationError(
                f"“{tag[:TAG_LENGTH]}” is no tag: at most {TAG_LENGTH} characters, no commas, no control signs."
            )
        found.setdefault(tag.casefold(), tag)
    if len(found) > TAGS:
        raise ValidationError(f"A run has {TAGS} tags at most.")
    return list(found.values())


def _write(run: Run, change: Callable[[list[str]], list[str]], *, user: User | None) -> bool:
    with transaction.atomic():
        old = Run.objects.select_for_update(no_key=True).values_list("tags", flat=True).get(pk=run.pk)
        new = change(list(old))
        run.tags = new
        if new == old:
            return False
        Run.objects.filter(pk=run.pk).update(tags=new)
        audit.record(user, "run.tags", run, old=old, new=new)
        attempts.announce(run)
    return True
