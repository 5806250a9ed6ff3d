import json
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.artifacts import read_json, sha256_file
from pipeline.responses.manifest import MANIFEST, read_manifest, write_manifest
from pipeline.responses.store import ResponseStore
from tests.support.answers import SCOPE, answer


def test_manifest_names_parts_by_hash_and_scopes_by_count(tmp_path: Path) -> None:
    other = replace(SCOPE, sampling="hot")
    with ResponseStore(tmp_path, SCOPE) as store:
        store.append(answer(1, tokens=10))
        write_manifest(store, way={"temperature": 0})
    with ResponseStore(tmp_path, other, part_bytes=1) as store:
        store.append(answer(1, tokens=5, scope=other, finish_reason="length"))
        write_manifest(store, way={"temperature": 1})
    manifest = read_json(tmp_path / MANIFEST)
    assert [part["sha256"] for part in manifest["parts"]] == [
        sha256_file(tmp_path / "part-00001.jsonl"),
        sha256_file(tmp_path / "part-00002.jsonl"),
    ]
    cold = {"revision": "rev1", "sampling": "greedy00", "way": {"temperature": 0}, "answers": 1, "tokens": 10, "errors": 0}
    hot = {"revision": "rev1", "sampling": "hot", "way": {"temperature": 1}, "answers": 1, "tokens": 5, "errors": 0}
    assert manifest["scopes"] == [cold | {"finish_reasons": {"stop": 1}}, hot | {"finish_reasons": {"length": 1}}]


@pytest.mark.parametrize("content", [b"", b'{"parts": [', b"\0\xff", b"[]"])
def test_a_damaged_manifest_is_written_anew(tmp_path: Path, content: bytes) -> None:
    with ResponseStore(tmp_path, SCOPE) as store:
        store.append(answer(1, tokens=10))
        write_manifest(store, way={})
        whole = (tmp_path / MANIFEST).read_bytes()
        (tmp_path / MANIFEST).write_bytes(content)
        assert read_manifest(tmp_path) == {"parts": [], "scopes": []}
        write_manifest(store, way={})
    assert read_json(tmp_path / MANIFEST)["parts"] == json.loads(whole)["parts"]
