import random
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import DataError, DiskFullError, FolderHeldError
from pipeline.responses.index import MAGIC, NAME, WIDTH
from pipeline.responses.reading import iter_records, recount
from pipeline.responses.record import Failure, Scope
from pipeline.responses.store import ResponseStore
from tests.support.answers import SCOPE, answer
from tests.support.disks import SmallDisk


def fill(folder: Path, numbers: range, *, scope: Scope = SCOPE, part_bytes: int = 2000) -> None:
    with ResponseStore(folder, scope, part_bytes=part_bytes) as store:
        for n in numbers:
            store.append(answer(n, scope=scope, tokens=n % 7 + 1))


def append_until_it_fails(store: ResponseStore) -> None:
    for n in range(2000):
        store.append(answer(n, text="x" * 2000))


def failure(n: int, reason: str = "too long") -> Failure:
    return Failure(
        key=f"{n:016x}",
        id="",
        dataset=SCOPE.dataset,
        revision=SCOPE.revision,
        sampling=SCOPE.sampling,
        reason=reason,
        failed_at="t",
    )


def test_store_starts_empty(tmp_path: Path) -> None:
    with ResponseStore(tmp_path / "B1", SCOPE) as store:
        assert (store.answers, store.tokens, store.failures, store.warnings) == (0, 0, 0, [])
        assert not store.answered("a")


def test_store_finds_again_what_was_appended(tmp_path: Path) -> None:
    fill(tmp_path, range(30))
    with ResponseStore(tmp_path, SCOPE) as store:
        assert (store.answers, store.warnings) == (30, [])
        assert list(store.lengths) == [n % 7 + 1 for n in range(30)]
        assert store.answered(f"{29:016x}")
        assert not store.answered(f"{30:016x}")
        assert store.finish_reasons == {"stop": 30}
    assert [record.key for record in iter_records(tmp_path)] == [f"{n:016x}" for n in range(30)]


def test_store_starts_a_new_part_when_one_is_full(tmp_path: Path) -> None:
    fill(tmp_path, range(30), part_bytes=2000)
    sizes = [path.stat().st_size for path in sorted(tmp_path.glob("part-*.jsonl"))]
    assert len(sizes) > 3
    assert all(2000 <= size < 3000 for size in sizes[:-1])


def test_store_refuses_a_second_answer(tmp_path: Path) -> None:
    with ResponseStore(tmp_path, SCOPE) as store:
        store.append(answer(1))
        with pytest.raises(DataError, match="has its answer already"):
            store.append(answer(1))


def test_store_keeps_scopes_apart(tmp_path: Path) -> None:
    fill(tmp_path, range(5))
    other = replace(SCOPE, sampling="hot")
    fill(tmp_path, range(3, 10), scope=other)
    with ResponseStore(tmp_path, SCOPE) as store:
        assert store.answers == 5
    with ResponseStore(tmp_path, other) as store:
        assert store.answers == 7
        assert not store.answered(f"{0:016x}")


def test_store_lets_one_process_in(tmp_path: Path) -> None:
    with ResponseStore(tmp_path, SCOPE), pytest.raises(FolderHeldError, match="only one process may"):
        ResponseStore(tmp_path, SCOPE)
    ResponseStore(tmp_path, SCOPE).close()


def test_store_counts_failures_until_they_are_answered(tmp_path: Path) -> None:
    with ResponseStore(tmp_path, SCOPE) as store:
        store.append_failure(failure(1))
        store.append_failure(failure(1, "still too long"))
        store.append_failure(failure(2))
        assert store.failures == 2
        store.append(answer(2))
        assert store.failures == 1
    with ResponseStore(tmp_path, SCOPE) as store:
        asked = [store.asked(f"{n:016x}") for n in range(4)]
        assert (store.failures, asked) == (1, [False, True, True, False])
    assert recount(tmp_path.parent)[tmp_path.name].errors == 1


def test_store_cuts_a_torn_last_line_and_names_it(tmp_path: Path) -> None:
    fill(tmp_path, range(3), part_bytes=10**6)
    part = tmp_path / "part-00001.jsonl"
    whole = part.read_bytes()
    part.write_bytes(whole + answer(3).to_line()[:40])
    with ResponseStore(tmp_path, SCOPE) as store:
        assert store.warnings == [f"{part}, line 4: a torn last line of 40 bytes was cut off"]
        assert store.answers == 3
        store.append(answer(3))
    assert part.read_bytes() == whole + answer(3).to_line()


def test_store_cuts_a_torn_failure_and_names_it(tmp_path: Path) -> None:
    with ResponseStore(tmp_path, SCOPE) as store:
        store.append_failure(failure(1))
    with (tmp_path / "errors.jsonl").open("ab") as file:
        file.write(b'{"key":')
    with ResponseStore(tmp_path, SCOPE) as store:
        assert store.warnings == [f"{tmp_path / 'errors.jsonl'}, line 2: a torn last line of 7 bytes was cut off"]
        store.append_failure(failure(2))
    with ResponseStore(tmp_path, SCOPE) as store:
        assert (store.failures, store.warnings) == (2, [])


def test_store_takes_up_lines_that_the_index_does_not_know(tmp_path: Path) -> None:
    fill(tmp_path, range(20))
    index = tmp_path / NAME
    index.write_bytes(index.read_bytes()[: len(MAGIC) + 17 * WIDTH + 5])
    with ResponseStore(tmp_path, SCOPE) as store:
        assert (store.answers, store.warnings) == (20, [])
    assert index.stat().st_size == len(MAGIC) + 20 * WIDTH


@pytest.mark.parametrize(
    ("damage", "warning"),
    [
        (lambda data: b"", "missing: 20 lines"),
        (lambda data: b"something else entirely", "damaged after 0 entries: 20 lines"),
        (lambda data: data[:400] + b"\xff\xff" + data[402:], "damaged after 7 entries: 13 lines"),
        (lambda data: data[: len(MAGIC) + WIDTH] + data[len(MAGIC) + 2 * WIDTH :], "damaged after 1 entries: 19 lines"),
    ],
    ids=["empty", "foreign", "bit rot", "entry lost"],
)
def test_store_builds_a_damaged_index_again(tmp_path: Path, damage: object, warning: str) -> None:
    fill(tmp_path, range(20))
    index = tmp_path / NAME
    good = index.read_bytes()
    index.write_bytes(damage(good))  # type: ignore[operator]
    with ResponseStore(tmp_path, SCOPE) as store:
        assert [text.split(" was ")[1] for text in store.warnings] == [f"{warning} were read again from the parts"]
        assert store.answers == 20
    assert index.read_bytes() == good


def test_store_does_not_trust_the_index_of_other_parts(tmp_path: Path) -> None:
    fill(tmp_path / "a", range(10), part_bytes=10**6)
    fill(tmp_path / "b", range(100, 110), part_bytes=10**6)
    shutil.copy(tmp_path / "a" / NAME, tmp_path / "b" / NAME)
    with ResponseStore(tmp_path / "b", SCOPE) as store:
        assert store.answered(f"{105:016x}")
        assert not store.answered(f"{5:016x}")


def test_store_passes_over_an_unreadable_line_once(tmp_path: Path) -> None:
    fill(tmp_path, range(2), part_bytes=10**6)
    part = tmp_path / "part-00001.jsonl"
    with part.open("ab") as file:
        file.write(b"not json\n" + answer(2).to_line())
    with ResponseStore(tmp_path, SCOPE) as store:
        assert store.answers == 3
        assert store.warnings[0].startswith(f"{part}, line 3: not a response")
    with ResponseStore(tmp_path, SCOPE) as store:
        assert (store.answers, store.warnings) == (3, [])
    with pytest.raises(DataError, match=r"part-00001\.jsonl, line 3: not a response"):
        list(iter_records(tmp_path))


def test_store_goes_on_after_a_kill_between_two_parts(tmp_path: Path) -> None:
    fill(tmp_path, range(10), part_bytes=2000)
    (tmp_path / f"part-{len(list(tmp_path.glob('part-*'))) + 1:05d}.jsonl").touch()
    fill(tmp_path, range(10, 20), part_bytes=2000)
    assert [record.key for record in iter_records(tmp_path)] == [f"{n:016x}" for n in range(20)]
    with ResponseStore(tmp_path, SCOPE) as store:
        assert (store.answers, store.warnings) == (20, [])


def test_store_on_a_full_disk_keeps_whole_lines_and_goes_on_after_freeing(small_disk: SmallDisk) -> None:
    folder = small_disk.path / "B1"
    with ResponseStore(folder, SCOPE) as store:
        with pytest.raises(DiskFullError):
            append_until_it_fails(store)
        appended = store.answers
    small_disk.free()
    with ResponseStore(folder, SCOPE) as store:
        # A line whose index entry found no room is on disk, and was never told to anybody.
        assert appended <= store.answers <= appended + 1
        assert store.warnings == []
        store.append(answer(3000, text="x" * 2000))
    count = recount(small_disk.path)["B1"]
    assert (count.duplicates, count.unreadable) == (0, 0)
    assert appended + 1 <= count.answers <= appended + 2


@pytest.mark.slow
@settings(max_examples=25)
@given(st.data())
def test_store_cut_anywhere_loses_at_most_the_torn_line(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("store")
    fill(folder, range(12), part_bytes=1500)
    last = sorted(folder.glob("part-*.jsonl"))[-1]
    cut = data.draw(st.integers(0, last.stat().st_size))
    index_cut = data.draw(st.integers(0, (folder / NAME).stat().st_size))
    whole = last.read_bytes()[:cut]
    last.write_bytes(whole)
    index = folder / NAME
    index.write_bytes(index.read_bytes()[:index_cut])
    before = recount(folder.parent)[folder.name]
    with ResponseStore(folder, SCOPE, part_bytes=1500) as store:
        assert store.answers == before.answers
        for n in range(12):
            if not store.answered(f"{n:016x}"):
                store.append(answer(n))
    after = recount(folder.parent)[folder.name]
    assert (after.answers, after.duplicates, after.unreadable) == (12, 0, 0)
    shutil.rmtree(folder)


def test_store_with_many_answers_opens_quickly(tmp_path: Path) -> None:
    rng = random.Random(1)
    with ResponseStore(tmp_path, SCOPE) as store:
        for n in range(5_000):
            store.append(answer(n, tokens=rng.randrange(1, 4)))
    started = time.perf_counter()
    with ResponseStore(tmp_path, SCOPE) as store:
        assert store.answers == 5_000
    assert time.perf_counter() - started < 0.5
