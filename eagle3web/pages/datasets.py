"""Datasets: what prompts have we, are they sound?"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from eagle3web.domain.clock import database_now
from eagle3web.formats import count
from eagle3web.live.records import Entry, Reading
from eagle3web.models import DatasetRevision
from eagle3web.pages import fragments
from eagle3web.pages.rights import Rights
from eagle3web.queries import datasets
from eagle3web.text import cut, visible
from pipeline.datasets.conversation import Conversation

MESSAGE_LIMIT = 2000
"""Characters of a message that the browser of prompts shows."""


@dataclass
class DatasetsPage:
    """Reader of the list."""

    may: Rights
    pokes: frozenset[str] = frozenset()

    def context(self) -> dict[str, Any]:
        return {"may": self.may, "entries": datasets.all_datasets()}

    def read(self, now: datetime) -> Reading:
        found = fragments.render({"datasets-table": "datasets/_table.html"}, self.context())
        return Reading(fragments=found, title="Datasets", now=database_now())

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        return [], 0


@dataclass
class DatasetPage:
    """Reader of one dataset: its import, and what validation found."""

    dataset_id: int
    may: Rights
    pokes: frozenset[str] = frozenset()

    def context(self) -> dict[str, Any]:
        entry = datasets.one_dataset(self.dataset_id)
        return {"may": self.may, "entry": entry, "dataset": entry.dataset, "problems": problems(entry.newest)}

    def read(self, now: datetime) -> Reading:
        context = self.context()
        found = fragments.render(
            {"dataset-import": "datasets/_import.html", "dataset-report": "datasets/_report.html"}, context
        )
        return Reading(fragments=found, title=context["dataset"].slug, now=database_now())

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        return [], 0


@dataclass(frozen=True)
class Problem:
    """A row that was refused, or accepted with a change."""

    where: str
    id: str
    reason: str
    detail: str
    refused: bool


def problems(revision: DatasetRevision | None) -> list[Problem]:
    """What the row keeps of the report, refusals first. Everything in it is untrusted text."""
    if revision is None:
        return []
    found = []
    for kind in ("rejections", "warnings"):
        for raw in revision.report.get(kind, ()):
            line, index = raw.get("line"), raw.get("index")
            place = f"line {count(line)}" if line is not None else f"row {count(index)}" if index is not None else "–"
            found.append(
                Problem(
                    place,
                    _short(raw.get("id"), 80),
                    _short(raw.get("reason"), 200),
                    _short(raw.get("detail"), 300),
                    kind == "rejections",
                )
            )
    return found


def _short(value: object, limit: int) -> str:
    return visible(cut(str(value or ""), limit)[0])


@dataclass(frozen=True)
class Turn:
    """One message of a prompt."""

    role: str
    text: str
    left_out: int


@dataclass(frozen=True)
class ShownPrompt:
    key: str
    id: str
    turns: list[Turn]
    tools: int
    ids: int
    """Token ids, of a prompt that came as such."""


def shown_prompt(prompt: Conversation) -> ShownPrompt:
    """A prompt as the page shows it: long messages cut, unseen characters as signs."""
    turns = []
    for message in prompt.messages:
        text, left_out = cut(str(message.get("content", "")), MESSAGE_LIMIT)
        turns.append(Turn(_short(message.get("role"), 40), visible(text), left_out))
    return ShownPrompt(prompt.key, _short(prompt.id, 200), turns, len(prompt.tools), len(prompt.input_ids))
