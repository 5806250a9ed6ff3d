"""What hosts and engines did lately: samples as points of lines. Loads are percent; a line is named by what it counts."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max

from eagle3web.models import Engine, EngineSample, HostSample
from eagle3web.queries.points import milliseconds

LINES = 64
"""Points of one sample at most: it becomes points with numbers of its own, which grow as samples do."""
ENGINES = 4
"""Lines of a chart; further engines stand in the table."""
HOST_FIELDS = ("cpu_percent", "memory_used", "memory_total", "disk_free", "disk_total", "gpus")
ENGINE_FIELDS = ("tokens_per_s", "waiting", "accept_length")
Entry = tuple[int, tuple[str, int, float | None]]
"""A point's number, which only grows; its line, milliseconds since 1970, value."""
Lines = Mapping[str, Sequence[tuple[int, float | None]]]
"""Line → (milliseconds since 1970, value); None breaks a line where nothing was heard."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """How far back charts go."""

    key: str
    """In the address."""
    words: str
    seconds: int
    every_s: int
    """One sample in so many seconds is drawn: eight GPUs for a day would weigh more than the whole page."""
    gap_s: int
    """Samples that are farther apart are not joined by a line."""

    def since(self, now: datetime) -> datetime:
        return now - timedelta(seconds=self.seconds)


SPANS = {
    span.key: span
    for span in (
        Span(key="1h", words="last hour", seconds=3600, every_s=10, gap_s=30),
        Span(key="24h", words="last 24 hours", seconds=86_400, every_s=300, gap_s=900),
    )
}


def charted_engines() -> list[tuple[int, str]]:
    """Keys and names of the engines that charts show: the first that are switched on. One query."""
    return list(Engine.objects.filter(enabled=True).order_by("name").values_list("pk", "name")[:ENGINES])


def host_lines(host_id: int, span: Span, now: datetime) -> Lines:
    """`cpu`, `memory`, `disk`, and `gpu/0`, `gpu-memory/0` for each GPU. One query."""
    rows = HostSample.objects.filter(host=host_id, at__gt=span.since(now)).order_by("at").values_list("at", *HOST_FIELDS)
    return _lines(((at, "", loads(*told)) for at, *told in rows.iterator(chunk_size=1000)), span)


def engine_lines(engine_ids: Collection[int], span: Span, now: datetime) -> Lines:
    """`rate/3`, `queue/3` and `accept/3` for the engine with the key 3. One query."""
    rows = EngineSample.objects.filter(engine__in=engine_ids, at__gt=span.since(now)).order_by("at")
    told = rows.values_list("at", "engine_id", *ENGINE_FIELDS)
    return _lines(((at, key, work(key, *values)) for at, key, *values in told.iterator(chunk_size=1000)), span)


def host_points_after(host_id: int, after: int, *, up_to: int | None = None) -> list[Entry]:
    """Points with numbers above `after`, as entries of a stream. One query."""
    rows = HostSample.objects.filter(host=host_id, pk__gte=after // LINES).order_by("pk")
    told = rows.values_list("pk", "at", *HOST_FIELDS)
    return _entries(((pk, at, loads(*values)) for pk, at, *values in told), after, up_to)


def engine_points_after(engine_ids: Collection[int], after: int, *, up_to: int | None = None) -> list[Entry]:
    """As `host_points_after`, of engines."""
    rows = EngineSample.objects.filter(engine__in=engine_ids, pk__gte=after // LINES).order_by("pk")
    told = rows.values_list("pk", "at", "engine_id", *ENGINE_FIELDS)
    return _entries(((pk, at, work(key, *values)) for pk, at, key, *values in told), after, up_to)


def newest_number(model: type[HostSample] | type[EngineSample]) -> int:
    """A number that no point by now exceeds, and every later one does. One query."""
    newest: int = model.objects.aggregate(last=Max("pk"))["last"] or 0
    return newest * LINES + LINES - 1


def loads(
    cpu: float | None,
    memory_used: int | None,
    memory_total: int | None,
    disk_free: int | None,
    disk_total: int | None,
    gpus: Any,  # noqa: ANN401  (JSON that a host reported)
) -> dict[str, float | None]:
    """One sample of a host, line → percent."""
    disk_used = None if disk_total is None or disk_free is None else disk_total - disk_free
    found = {"cpu": cpu, "memory": _percent(memory_used, memory_total), "disk": _percent(disk_used, disk_total)}
    for gpu in gpus if isinstance(gpus, list) else ():
        found[f"gpu/{gpu.get('index')}"] = gpu.get("utilisation_percent")
        found[f"gpu-memory/{gpu.get('index')}"] = _percent(gpu.get("memory_used"), gpu.get("memory_total"))
    return found


def work(key: int, tokens_per_s: float | None, waiting: int, accept_length: float | None) -> dict[str, float | None]:
    """One sample of an engine, line → value."""
    return {f"rate/{key}": tokens_per_s, f"queue/{key}": waiting, f"accept/{key}": accept_length}


def _percent(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else round(100 * part / whole, 1)


def _lines(samples: Iterable[tuple[datetime, Any, dict[str, float | None]]], span: Span) -> Lines:
    """Samples (moment, whose, line → value), oldest first, as lines that break at gaps."""
    lines: dict[str, list[tuple[int, float | None]]] = {}
    last: dict[Any, int] = {}
    for at, whose, values in samples:
        second = int(at.timestamp())
        before = last.get(whose)
        if before is not None and second // span.every_s == before // span.every_s:
            continue
        last[whose] = second
        for name, value in values.items():
            line = lines.setdefault(name, [])
            if before is not None and second - before > span.gap_s and line:
                line.append((before * 1000 + 1000, None))
            line.append((milliseconds(at), value))
    return lines


def _entries(samples: Iterable[tuple[int, datetime, dict[str, float | None]]], after: int, up_to: int | None) -> list[Entry]:
    return [entry for entry in _numbered(samples) if entry[0] > after and (up_to is None or entry[0] <= up_to)]


def _numbered(samples: Iterable[tuple[int, datetime, dict[str, float | None]]]) -> Iterator[Entry]:
    for pk, at, values in samples:
        for place, (name, value) in enumerate(list(values.items())[:LINES]):
            yield pk * LINES + place, (name, milliseconds(at), value)
