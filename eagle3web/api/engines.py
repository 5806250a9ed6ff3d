"""Engines: list, register, health as last seen."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Status

from eagle3web.api.auth import may, user_of
from eagle3web.api.base import Body, Out, Page, Paging, Slug, Text, page
from eagle3web.api.hosts import Back, EngineSampleOut, engine_samples
from eagle3web.domain import registry
from eagle3web.models import Engine, EngineSample

router = Router(tags=["engines"])


class EngineOut(Out):
    name: str
    url: str
    protocol: str
    model_name: str
    enabled: bool
    state: str
    """unknown, loading, healthy, hanging, down."""
    reason: str
    state_since: datetime | None
    checked_at: datetime | None
    info: dict[str, Any]
    running: int
    """Requests that it works on."""
    waiting: int
    """Requests in its queue."""
    tokens_per_s: float | None
    accept_length: float | None


class NewEngine(Body):
    name: Slug
    url: Annotated[Text, Field(max_length=300)]
    protocol: Literal["sglang", "openai"] = "sglang"
    model_name: Annotated[Text, Field(max_length=300)] = ""
    """What the OpenAI protocol asks for."""
    enabled: bool = True


class EngineChanges(Body):
    url: Annotated[Text, Field(max_length=300)] = ""
    protocol: Literal["sglang", "openai"] = "sglang"
    model_name: Annotated[Text, Field(max_length=300)] = ""
    enabled: bool = True


@router.get("", auth=may("view_engine"), response=Page[EngineOut])
def list_engines(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    """All engines with their health, as of `checked_at`."""
    return page(Engine.objects.all(), paging)


@router.post("", auth=may("add_engine"), response={201: EngineOut})
def add_engine(request: HttpRequest, fields: NewEngine) -> Status[Engine]:
    values = fields.model_dump()
    return Status(201, registry.register_engine(values.pop("name"), user=user_of(request), **values))


@router.get("/{name}", auth=may("view_engine"), response=EngineOut)
def get_engine(request: HttpRequest, name: Slug) -> Engine:
    return get_object_or_404(Engine, name=name)


@router.patch("/{name}", auth=may("change_engine"), response=EngineOut)
def patch_engine(request: HttpRequest, name: Slug, fields: EngineChanges) -> Engine:
    """Change an engine; a live attempt keeps the address that it started with."""
    return registry.change_engine(get_object_or_404(Engine, name=name), user=user_of(request), **fields.changes())


@router.get("/{name}/samples", auth=may("view_enginesample"), response=list[EngineSampleOut])
def list_engine_samples(request: HttpRequest, name: Slug, query: Query[Back]) -> QuerySet[EngineSample]:
    """Oldest first; there are none for moments at which the engine did not answer."""
    return engine_samples(get_object_or_404(Engine, name=name).pk, query.seconds)
