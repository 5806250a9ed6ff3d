from pathlib import Path

import pytest

from pipeline.datasets.paging import read_evenly, read_page, read_prompt
from pipeline.datasets.revision import import_prompts
from tests.support.prompts import write_lines

COUNT = 200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"id": f"row-{i}", "prompt": f"Prompt number {i} " + "ä" * (i % 7)} for i in range(COUNT)]
    return import_prompts(write_lines(tmp_path / "a.jsonl", *rows), home=tmp_path, slug="set").folder


def ids(folder: Path, **options: int | str) -> tuple[list[str], int | None]:
    page = read_page(folder, **options)  # type: ignore[arg-type]
    return [prompt.id for prompt in page.prompts], page.next_offset


def test_pages_follow_each_other_to_the_end(folder: Path) -> None:
    assert ids(folder, offset=0, limit=2) == (["row-0", "row-1"], 2)
    assert ids(folder, offset=127, limit=3) == (["row-127", "row-128", "row-129"], 130)
    assert ids(folder, offset=198, limit=2) == (["row-198", "row-199"], None)
    assert ids(folder, offset=500, limit=2) == ([], None)
    assert ids(folder, offset=-5, limit=0) == (["row-0"], 1)


@pytest.mark.parametrize("position", [0, 63, 64, 65, 128, 199])
def test_one_prompt_is_found_by_its_position(folder: Path, position: int) -> None:
    prompt = read_prompt(folder, position)
    assert prompt is not None
    assert prompt.id == f"row-{position}"
    assert read_prompt(folder, COUNT) is None


def test_a_search_finds_text_and_labels_in_any_case(folder: Path) -> None:
    assert ids(folder, search=" NUMBER 77 ") == (["row-77"], None)
    assert ids(folder, search="Row-199") == (["row-199"], None)
    assert ids(folder, search="number 1", limit=2) == (["row-1", "row-10"], 2)
    assert ids(folder, search="number 1", offset=2, limit=2) == (["row-11", "row-12"], 4)
    assert ids(folder, search="absent") == ([], None)


def test_a_sample_is_spread_over_the_file(folder: Path) -> None:
    assert [prompt.id for prompt in read_evenly(folder, COUNT, 4)] == ["row-0", "row-50", "row-100", "row-150"]
    assert len(list(read_evenly(folder, COUNT, 500))) == COUNT
