"""The disk that hidden states take."""

import json
from pathlib import Path

import pytest

from eagle3web.domain.storage import NoRoomError, StorageForecast, bytes_per_token, check_room, storage_forecast
from tests.support import factories
from tests.support.pipelines import ready_project


@pytest.mark.parametrize(
    ("config", "expected"),
    [({"hidden_size": 576}, 4 * 576 * 2), ({"text_config": {"hidden_size": 7168}}, 57_344), ({}, None)],
)
def test_bytes_per_token_are_four_states(tmp_path: Path, config: dict[str, object], expected: int | None) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert bytes_per_token(tmp_path) == expected


def test_bytes_per_token_of_a_folder_on_another_host_are_unknown(tmp_path: Path) -> None:
    assert bytes_per_token(tmp_path / "elsewhere") is None


@pytest.mark.django_db
def test_storage_forecast_counts_prompts_and_answers_of_what_is_switched_on(home: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 576}')
    project = ready_project(target_path=str(tmp_path))
    factories.host(name="gpu-1", sample={"disk_free": 5_000_000})
    found = storage_forecast(project, host="gpu-1")
    assert (found.bytes_per_token, found.free) == (4608, 5_000_000)
    assert found.tokens >= 1000
    assert (found.bytes, found.fits) == (found.tokens * 4608, found.tokens * 4608 <= 5_000_000)


def test_storage_forecast_without_a_size_does_not_guess() -> None:
    unknown = StorageForecast(tokens=1000, bytes_per_token=None, free=10)
    assert (unknown.bytes, unknown.fits) == (None, None)


@pytest.mark.django_db
def test_a_disk_too_small_is_refused_with_the_two_numbers(home: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 576}')
    project = ready_project(target_path=str(tmp_path))
    factories.host(name="gpu-1", sample={"disk_free": 1_000_000})
    with pytest.raises(NoRoomError, match=r"would take about [\d.]+ MB, and 1.0 MB are free; train online instead"):
        check_room(project, host="gpu-1")
    factories.host(name="gpu-2", sample={"disk_free": 10**12})
    check_room(project, host="gpu-2")
    check_room(project, host="gpu-1", parts=10**6)


def test_bytes_per_token_follow_the_dtype(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 576}')
    assert bytes_per_token(tmp_path, dtype="float32") == 4 * 576 * 4
