"""A small true world for the checker: one project with a finished generation, in files and in rows."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from eagle3web.enums import AttemptStatus
from eagle3web.models import Answer, Attempt, Event
from tests.faults.checker.check import Checker
from tests.support import factories
from tests.support.system import database_url

DONE = {"dataset": "B1", "done": 2, "tokens": 6, "errors": 0}


class Truth:
    """What a checker looks at; each test makes one thing false."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.known: set[int] = set()
        self.checker = Checker(home, database_url(), known=lambda: self.known)
        plan = {"slug": "B1", "budget": 6, "prompts_count": 10}
        self.run = factories.run(factories.project(slug="kimi"), tokens=6)
        factories.transition(self.run, "", "queued")
        self.attempt = self._attempt(plan)
        self.part = home / "projects" / "kimi" / "responses" / "B1" / "part-00001.jsonl"
        self.part.parent.mkdir(parents=True)
        for key in ("k1", "k2"):
            self.answer(key)

    def _attempt(self, plan: dict[str, Any]) -> Attempt:
        folder = self.home / "runs" / str(self.run.pk) / "attempts" / "1"
        folder.mkdir(parents=True)
        made = factories.attempt(
            self.run, status=AttemptStatus.FINISHED, folder=str(folder), config={"datasets": [plan]}, host=settings.EAGLE3_HOST
        )
        for old, new in (("queued", "starting"), ("starting", "running"), ("running", "finished")):
            factories.transition(self.run, old, new, attempt=made)
        factories.progress(made, **DONE, state="finished", in_flight=0)
        lines: list[dict[str, Any]] = [
            {"kind": "dataset_finished", "reason": "budget_met", **DONE},
            {"kind": "stage_finished", "summary": {}},
        ]
        for line in lines:
            factories.event(made, line["kind"], **{key: value for key, value in line.items() if key != "kind"})
        told = [json.dumps({"seq": seq, "t": "2026-01-01T00:00:00.0Z", **line}) for seq, line in enumerate(lines, 1)]
        (folder / "events.jsonl").write_text("".join(f"{line}\n" for line in told))
        factories.log(made, "it works\n")
        (folder / "log.txt").write_text("it works\n")
        return made

    def answer(self, key: str, *, row: bool = True) -> None:
        """One more answer of three tokens, in the file and, with `row`, in the database."""
        line = {"key": key, "revision": "r", "sampling": "s", "output_ids": [5, 6, 2]}
        raw = json.dumps(line).encode() + b"\n"
        offset = self.part.stat().st_size if self.part.exists() else 0
        with self.part.open("ab") as file:
            file.write(raw)
        if row:
            place = {"part": 1, "offset": offset, "size": len(raw)}
            factories.stored_answer(self.run.project, dataset="B1", key=key, scope="scope", error="", **place)


@pytest.fixture
def truth(home: Path, transactional_db: None) -> Truth:
    made = Truth(home)
    assert made.checker.look() == []
    assert (Answer.objects.count(), Event.objects.count()) == (2, 2)
    return made
