"""How much disk the hidden states of a project's answers will take, before anything is extracted."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings

from eagle3web.domain.forecasts import ForecastRow, forecast
from eagle3web.domain.target_config import target_number
from eagle3web.formats import size
from eagle3web.models import DatasetRevision, Host, Project
from pipeline.errors import ConfigError

WIDTHS = {"bfloat16": 2, "float16": 2, "float32": 4}
"""Bytes of a stored number."""
STATES = 4
"""Of each token: low, mid and high features, and the last hidden state."""


@dataclass(frozen=True, kw_only=True)
class StorageForecast:
    tokens: int
    """Prompt and answer, of all datasets that are switched on, those on disk included."""
    bytes_per_token: int | None
    """None while the target's config cannot be read from here."""
    free: int
    """Bytes on the host that would store them."""

    @property
    def bytes(self) -> int | None:
        return None if self.bytes_per_token is None else self.tokens * self.bytes_per_token

    @property
    def fits(self) -> bool | None:
        """None while nobody knows."""
        return None if self.bytes is None else self.bytes <= self.free


class NoRoomError(ConfigError):
    """The disk is too small for what was asked; the text has both numbers."""


def check_room(project: Project, *, host: str = "", dtype: str = "bfloat16", parts: int = 1) -> None:
    """Raises NoRoomError when the hidden states of the project's answers would not fit; not while nobody knows.

    Of runs that share them each needs room for its own part.
    """
    found = storage_forecast(project, host=host, dtype=dtype)
    found = replace(found, tokens=-(-found.tokens // parts))
    if found.fits is False:
        needed, free = size(found.bytes), size(found.free)
        raise NoRoomError(f"the hidden states would take about {needed}, and {free} are free; train online instead")


def storage_forecast(project: Project, *, host: str = "", dtype: str = "bfloat16") -> StorageForecast:
    """Tokens × bytes a token against the free disk of `host`; of this machine when it is empty or unheard."""
    rows = [row for row in forecast(project).rows if row.budget.enabled]
    return StorageForecast(
        tokens=round(sum(_tokens(row) for row in rows)),
        bytes_per_token=bytes_per_token(Path(project.target_path), dtype=dtype) if project.target_path else None,
        free=free_disk(host),
    )


def bytes_per_token(target: Path, *, dtype: str = "bfloat16") -> int | None:
    """None when the folder's config.json cannot be read or names no size."""
    width = target_number(target, "hidden_size")
    return None if width is None else STATES * width * WIDTHS[dtype]


def _tokens(row: ForecastRow) -> float:
    answers = row.answers + row.forecast.answers.likely
    return row.tokens + row.forecast.tokens.likely + answers * _mean_prompt(row)


def _mean_prompt(row: ForecastRow) -> float:
    """Mean length of the newest revision's prompts, 0 where it was not measured."""
    revision = DatasetRevision.objects.filter(dataset=row.budget.dataset_id).exclude(token_lengths={}).order_by("id").last()
    return float(revision.token_lengths.get("mean", 0)) if revision else 0.0


def free_disk(host: str = "") -> int:
    """Bytes on `host`, as it last told; of this machine when it is empty or unheard."""
    told = Host.objects.filter(name=host).values_list("sample", flat=True).first() if host else None
    if told and told.get("disk_free") is not None:
        return int(told["disk_free"])
    return shutil.disk_usage(settings.EAGLE3_HOME).free
