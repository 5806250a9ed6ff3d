"""The project itself: people, datasets with budgets, hosts and engines."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from eagle3web.enums import EngineState, RevisionState, Role
from eagle3web.models import Dataset, DatasetRevision, Engine, Host, Project, TokenBudget, User

DATASETS = (
    "B1_glaive", "B2_opencode", "B3_openmath", "B4_ultrachat", "B5_tools", "B6_longwriter", "B7_reasoning", "B8_agents",
)  # fmt: skip
PEOPLE = ("operator-1", "operator-2", "operator-3", "viewer-1", "budget-admin-1")
HOSTS = ("gpu-03", "gpu-05", "gpu-07", "gpu-11")
ROLES = {"operator": Role.OPERATOR, "viewer": Role.VIEWER, "budget-admin": Role.BUDGET_ADMIN}
GOAL = 10_000_000
"""Tokens of each budget."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """What runs belong to."""

    project: Project
    people: list[User]
    datasets: list[Dataset]
    hosts: list[Host]
    engines: list[Engine]


def make_place(slug: str, now: datetime) -> Place:
    """Rows of a new project; people, datasets, hosts and engines with these names are taken as they are."""
    project = Project.objects.create(
        slug=slug,
        name=f"{slug.capitalize()} drafter",
        target_model="Scale-7B",
        tokenizer="/models/scale-7b",
        target_path="/models/scale-7b",
        sampling={"temperature": 0.7, "max_new_tokens": 8192},
    )
    datasets = [_dataset(project, name, place) for place, name in enumerate(DATASETS)]
    return Place(
        project=project,
        people=[_person(name) for name in PEOPLE],
        datasets=datasets,
        hosts=[_host(name, now) for name in HOSTS],
        engines=[_engine(f"{slug}-{name}", now) for name in HOSTS],
    )


def _person(name: str) -> User:
    user, is_new = User.objects.get_or_create(username=name)
    if is_new:
        user.set_unusable_password()
        user.save()
        user.groups.add(*user.groups.model.objects.filter(name=ROLES[name.rsplit("-", 1)[0]]))
    return user


def _dataset(project: Project, name: str, place: int) -> Dataset:
    dataset, is_new = Dataset.objects.get_or_create(slug=name, defaults={"licence": "Apache-2.0"})
    if is_new:
        lengths = {"edges": [0, 32, 64, 128, 256], "counts": [900, 2400, 1800, 400], "mean": 71.0, "max": 250}
        DatasetRevision.objects.create(
            dataset=dataset, revision=f"{place + 1:064x}", state=RevisionState.READY, file_name=f"{name}.jsonl",
            accepted=6236, rejected=3, bytes_total=4_000_000, bytes_done=4_000_000, token_lengths=lengths,
        )  # fmt: skip
    TokenBudget.objects.create(project=project, dataset=dataset, tokens=GOAL, position=place)
    return dataset


def _host(name: str, now: datetime) -> Host:
    gib = 2**30
    sample: dict[str, Any] = {"cpu_percent": 43.0, "cpu_count": 64, "memory_used": 90 * gib, "memory_total": 512 * gib}
    sample |= {"disk_free": 900 * gib, "disk_total": 4000 * gib, "gpus": []}
    return Host.objects.get_or_create(name=name, defaults={"seen_at": now, "boot_id": settings.EAGLE3_HOST, "sample": sample})[
        0
    ]


def _engine(name: str, now: datetime) -> Engine:
    fields = {
        "url": f"http://{name.rsplit('-', 2)[0]}.invalid:30000", "state": EngineState.HEALTHY, "state_since": now,
        "checked_at": now, "info": {"model_path": "Scale-7B", "context_length": 32768}, "tokens_per_s": 2100.0,
    }  # fmt: skip
    return Engine.objects.get_or_create(name=name, defaults=fields)[0]
