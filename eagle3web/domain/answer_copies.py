"""Copies a project's answers and failures from its response files into rows, so that pages can list and search them.

The files are the truth. A position and the rows before it are stored in one transaction: killed at any moment, the copy goes on
where it stood, and two that copy at once take turns.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.db import transaction

from eagle3web.domain.answer_places import checked_position
from eagle3web.domain.answer_rows import row_of_answer, row_of_failure
from eagle3web.enums import Stage
from eagle3web.models import Answer, AnswerFile, Attempt
from pipeline.errors import DataError
from pipeline.responses.failures import FAILURES
from pipeline.responses.index import Position, part_number, part_paths
from pipeline.responses.scan import scan_parts

BATCH_LINES = 100
BATCH_BYTES = 2 * 1024 * 1024
"""Of one transaction, so that a supervisor is back with its stage in a tenth of a second or so."""
log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class _Batch:
    rows: list[Answer]
    end: int
    """Byte offset after the last line that was read, broken ones included."""


class AnswerCopier:
    """Copies on from where the database stands. Survives failed transactions: positions are read again after one."""

    def __init__(self, project_id: int, folder: Path, datasets: list[str] | None = None) -> None:
        """`folder` holds one folder of answers for each dataset; without `datasets` all of them are copied."""
        self._project_id = project_id
        self._folder = folder
        self._datasets = datasets
        self._done: dict[tuple[str, str], int] | None = None

    def copy(self) -> int:
        """Store the next lines of one file, in one transaction; how many bytes they were. 0: nothing is new."""
        done = self._done if self._done is not None else self._read_positions()
        for path in self._files():
            name = (path.parent.name, path.name)
            begin, known, size = done.get(name, 0), done.get(name, 0), path.stat().st_size
            if size < begin and path.name == FAILURES:
                log.warning("%s is shorter than what was copied of it: reading it anew", path)
                begin = 0
            elif size < begin:
                begin = known = done[name] = checked_position(self._project_id, path, begin)
            if size > begin and (copied := self._copy_file(path, begin, known=known)):
                return copied
        return 0

    def _copy_file(self, path: Path, begin: int, *, known: int) -> int:
        reads = self._failures if path.name == FAILURES else self._answers
        batch = reads(path, begin)
        if batch.end == begin:
            return 0
        # Whatever fails from here on, what is in memory may be ahead of the database: forget it.
        done, self._done = self._done or {}, None
        with transaction.atomic():
            if not self._take(path, known, batch.end):
                return batch.end - begin
            _store(batch.rows)
        done[path.parent.name, path.name] = batch.end
        self._done = done
        return batch.end - begin

    def _take(self, path: Path, known: int, end: int) -> bool:
        """Move the position on; False when somebody else did, who then stored these lines."""
        name: dict[str, Any] = {"project_id": self._project_id, "dataset": path.parent.name[:80], "name": path.name[:80]}
        if not known:
            AnswerFile.objects.get_or_create(**name)
        return AnswerFile.objects.filter(**name, bytes_done=known).update(bytes_done=end) == 1

    def _read_positions(self) -> dict[tuple[str, str], int]:
        rows = AnswerFile.objects.filter(project=self._project_id)
        self._done = {(dataset, name): done for dataset, name, done in rows.values_list("dataset", "name", "bytes_done")}
        for name, path in self._newest_parts().items():
            if self._done.get(name):
                self._done[name] = checked_position(self._project_id, path, self._done[name])
        return self._done

    def _newest_parts(self) -> dict[tuple[str, str], Path]:
        """The part of each dataset that is appended to: after a crash it may hold other lines than were copied."""
        return {(path.parent.name, path.name): path for path in self._files() if path.name != FAILURES and _is_newest(path)}

    def _files(self) -> Iterator[Path]:
        """Parts before failures: what was answered in a second try is an answer."""
        names = self._datasets if self._datasets is not None else sorted(path.name for path in self._folder.glob("*/"))
        for name in names:
            yield from part_paths(self._folder / name)
            failures = self._folder / name / FAILURES
            if failures.exists():
                yield failures

    def _answers(self, path: Path, begin: int) -> _Batch:
        batch = _Batch(rows=[], end=begin)
        for line in scan_parts(path.parent, Position(part_number(path), begin)):
            if line.torn or line.path != path or _is_full(batch, begin):
                break
            self._add(batch, path, partial(row_of_answer, self._project_id, path.parent.name, line))
            batch.end += line.size
        return batch

    def _failures(self, path: Path, begin: int) -> _Batch:
        batch = _Batch(rows=[], end=begin)
        with path.open("rb") as file:
            file.seek(begin)
            for raw in file:
                if not raw.endswith(b"\n") or _is_full(batch, begin):
                    break
                self._add(batch, path, partial(row_of_failure, self._project_id, path.parent.name, raw))
                batch.end += len(raw)
        return batch

    def _add(self, batch: _Batch, path: Path, make: Callable[[], Answer]) -> None:
        try:
            batch.rows.append(make())
        except DataError as error:
            log.warning("%s, byte %d: the line is passed over: %s", path, batch.end, error)


def copier_of(attempt: Attempt) -> AnswerCopier | None:
    """Of the answers that a generation attempt writes; None for the other stages, which write none."""
    folder, run = attempt.config.get("responses"), attempt.run
    if run.stage != Stage.GENERATE or not folder:
        return None
    slugs = [str(plan["slug"]) for plan in attempt.config.get("datasets", ())]
    return AnswerCopier(run.project_id, Path(folder), slugs)


def _is_newest(path: Path) -> bool:
    return path == part_paths(path.parent)[-1]


def _is_full(batch: _Batch, begin: int) -> bool:
    return len(batch.rows) >= BATCH_LINES or batch.end - begin >= BATCH_BYTES


def _store(rows: list[Answer]) -> None:
    """Each prompt once a scope: the first answer stays, as training reads it, and takes the place of a failure before it."""
    for scope in {(row.project_id, row.dataset, row.scope) for row in rows if not row.error}:
        keys = [row.key for row in rows if not row.error and (row.project_id, row.dataset, row.scope) == scope]
        project, dataset, digest = scope
        Answer.objects.filter(project=project, dataset=dataset, scope=digest, key__in=keys).exclude(error="").delete()
    Answer.objects.bulk_create(rows, ignore_conflicts=True)
