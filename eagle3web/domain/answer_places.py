"""Where copied answers stand in their files: a disk that lost the end of a file must not leave rows that name other lines."""

import logging
from pathlib import Path
from typing import BinaryIO

from django.db import transaction

from eagle3web.models import Answer, AnswerFile
from pipeline.errors import DataError
from pipeline.responses.index import part_number
from pipeline.responses.record import Response

log = logging.getLogger(__name__)


def checked_position(project_id: int, path: Path, done: int) -> int:
    """How far the copy of a part really is: `done`, unless the file is not any more what was copied.

    Consequences in that case: rows whose lines are gone are deleted, and the position of the file is moved back to the last
    line that still stands; what was written since is copied from there.
    """
    copied = Answer.objects.filter(project=project_id, dataset=path.parent.name[:80], part=part_number(path), error="")
    gone: list[int] = []
    end = 0
    with path.open("rb") as file:
        for row in copied.order_by("-offset").only("key", "offset", "size").iterator(chunk_size=100):
            if _stands(file, row):
                end = row.offset + row.size
                break
            gone.append(row.pk)
        if not gone and _ends_a_line(file, done):
            return done
    log.warning("%s is not what was copied of it: %d rows go, and it is read again from byte %d", path, len(gone), end)
    with transaction.atomic():
        Answer.objects.filter(pk__in=gone).delete()
        name = {"dataset": path.parent.name[:80], "name": path.name[:80]}
        AnswerFile.objects.filter(project=project_id, bytes_done=done, **name).update(bytes_done=end)
    return end


def _stands(file: BinaryIO, row: Answer) -> bool:
    file.seek(row.offset)
    line = file.read(row.size)
    try:
        return line.endswith(b"\n") and Response.from_line(line).key == row.key
    except DataError:
        return False


def _ends_a_line(file: BinaryIO, position: int) -> bool:
    """Whether a line ends there; false beyond the end of the file."""
    if position == 0:
        return True
    file.seek(position - 1)
    return file.read(1) == b"\n"
