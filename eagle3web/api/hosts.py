"""Hosts: what they have, who holds their devices, and what they did lately."""

from datetime import datetime, timedelta
from typing import Annotated, Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Schema

from eagle3web.api.auth import may, user_of
from eagle3web.api.base import Body, Out, Page, Paging, Slug, Text, page
from eagle3web.domain import hosts
from eagle3web.domain.clock import database_now
from eagle3web.models import EngineSample, Host, HostSample, Lease

router = Router(tags=["hosts"])
SAMPLES = 20_000


class LeaseOut(Out):
    device: str
    run: int = Field(alias="attempt.run_id")
    attempt: int = Field(alias="attempt_id")
    taken_at: datetime


class HostOut(Out):
    name: str
    seen_at: datetime | None
    steady_since: datetime | None
    """Since when its reports came without a gap."""
    tags: list[str]
    clock_ahead_s: float | None
    """Seconds by which its clock is ahead of the database's."""
    drained_at: datetime | None
    """Since when it gets no new attempt."""
    drain_reason: str
    sample: dict[str, Any]
    """The newest one: cpu_percent, memory_used, memory_total, disk_free, disk_total (bytes), gpus."""


class HostDetail(HostOut):
    leases: list[LeaseOut]

    @staticmethod
    def resolve_leases(host: Host) -> QuerySet[Lease]:
        return Lease.objects.filter(host=host.name).select_related("attempt").order_by("device")


class HostSampleOut(Out):
    at: datetime
    cpu_percent: float | None
    memory_used: int | None
    memory_total: int | None
    disk_free: int | None
    disk_total: int | None
    gpus: list[dict[str, Any]]


class EngineSampleOut(Out):
    at: datetime
    running: int
    waiting: int
    tokens_per_s: float | None
    accept_length: float | None


class Why(Body):
    reason: Annotated[Text, Field(max_length=200)] = ""


class Back(Schema):
    seconds: int = Field(3600, ge=5, le=30 * 86_400)
    """How far back. Every 5 s for an hour, one a minute for a day, one in ten minutes for thirty days."""


@router.get("", auth=may("view_host"), response=Page[HostOut])
def list_hosts(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    """Every machine with a worker that was ever heard."""
    return page(Host.objects.all(), paging)


@router.get("/{name}", auth=may("view_host"), response=HostDetail)
def get_host(request: HttpRequest, name: Slug) -> Host:
    return get_object_or_404(Host, name=name)


@router.post("/{name}/drain", auth=may("change_host"), response=HostDetail)
def drain_host(request: HttpRequest, name: Slug, fields: Why) -> Host:
    """Give it no new attempt; what works there goes on to its end. Once more changes nothing."""
    host = get_object_or_404(Host, name=name)
    hosts.drain(host, user=user_of(request), reason=fields.reason)
    return host


@router.post("/{name}/undrain", auth=may("change_host"), response=HostDetail)
def undrain_host(request: HttpRequest, name: Slug) -> Host:
    """Let it take attempts again. Once more changes nothing."""
    host = get_object_or_404(Host, name=name)
    hosts.undrain(host, user=user_of(request))
    return host


@router.get("/{name}/samples", auth=may("view_hostsample"), response=list[HostSampleOut])
def list_host_samples(request: HttpRequest, name: Slug, query: Query[Back]) -> QuerySet[HostSample]:
    """Oldest first."""
    since = database_now() - timedelta(seconds=query.seconds)
    return HostSample.objects.filter(host=get_object_or_404(Host, name=name), at__gt=since).order_by("at")[:SAMPLES]


def engine_samples(engine_id: int, seconds: int) -> QuerySet[EngineSample]:
    since = database_now() - timedelta(seconds=seconds)
    return EngineSample.objects.filter(engine=engine_id, at__gt=since).order_by("at")[:SAMPLES]
