from dataclasses import replace
from pathlib import Path

from pipeline.responses.reading import iter_records, recount
from pipeline.responses.store import ResponseStore
from tests.support.answers import SCOPE, answer


def test_recount_reads_the_parts_alone(tmp_path: Path) -> None:
    with ResponseStore(tmp_path / "B1", SCOPE) as store:
        store.append(answer(1, tokens=10))
        store.append(answer(2, tokens=30, finish_reason="length"))
    (tmp_path / "B1" / "index.bin").unlink()
    part = tmp_path / "B1" / "part-00001.jsonl"
    with part.open("ab") as file:
        file.write(answer(1, tokens=10).to_line() + answer(3, scope=replace(SCOPE, sampling="hot")).to_line() + b"torn")
    count = recount(tmp_path)["B1"]
    assert (count.answers, count.duplicates, count.tokens, count.unreadable) == (3, 1, 43, 1)
    assert (count.truncated, count.longest, count.errors) == (1, 30, 0)
    assert recount(tmp_path, sampling=SCOPE.sampling)["B1"].answers == 2


def test_recount_of_an_empty_or_missing_folder_is_empty(tmp_path: Path) -> None:
    (tmp_path / "B1").mkdir()
    assert recount(tmp_path) == {}
    assert recount(tmp_path / "none") == {}


def test_iter_records_leaves_a_torn_last_line_to_its_writer(tmp_path: Path) -> None:
    (tmp_path / "part-00001.jsonl").write_bytes(answer(1).to_line() + answer(2).to_line()[:-1])
    assert list(iter_records(tmp_path)) == [answer(1)]
