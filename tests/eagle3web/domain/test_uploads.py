"""Uploads wait for their form, for a day."""

import os
from pathlib import Path

import pytest

from eagle3web.domain.import_files import ImportRefused
from eagle3web.domain.uploads import KEPT_S, keep_upload, kept_upload


def test_kept_upload_is_found_by_its_token(home: Path) -> None:
    upload = keep_upload([b"ab", b"c"], "C:\\x\\prompts.jsonl")
    assert (upload.name, upload.size, upload.path.read_bytes()) == ("prompts.jsonl", 3, b"abc")
    assert kept_upload(upload.token) == upload


def test_changed_token_is_refused(home: Path) -> None:
    with pytest.raises(ImportRefused, match="choose it again"):
        kept_upload(keep_upload([b"a"], "a").token[:-1])


def test_upload_that_is_gone_is_refused(home: Path) -> None:
    upload = keep_upload([b"a"], "a")
    upload.path.unlink()
    with pytest.raises(ImportRefused, match="choose it again"):
        kept_upload(upload.token)


def test_uploads_that_nobody_came_back_to_are_forgotten(home: Path) -> None:
    old, young = keep_upload([b"a"], "a"), keep_upload([b"b"], "b")
    for upload, age in ((old, KEPT_S + 60), (young, KEPT_S - 60)):
        then = upload.path.stat().st_mtime - age
        os.utime(upload.path, (then, then))
    new = keep_upload([b"c"], "c")
    assert {path.name for path in new.path.parent.iterdir()} == {young.path.name, new.path.name}
