import json
from dataclasses import replace

import pytest

from pipeline.config import SamplingConfig
from pipeline.errors import DataError
from pipeline.responses.record import Failure, Response, key_digest, record_seed, sampling_name
from tests.support.answers import SCOPE, answer

HOSTILE = "<script>alert(1)</script>\x1b[31m\r\n\x00\u2028\u0085\ud800 end"


def test_response_survives_its_line() -> None:
    one = answer(7, text=HOSTILE, tools=({"type": "function"},))
    line = one.to_line()
    assert Response.from_line(line) == one
    assert line.isascii()
    assert line.count(b"\n") == 1


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"{}", b"null", json.dumps({"key": "a"}).encode()])
def test_response_from_something_else_is_refused(line: bytes) -> None:
    with pytest.raises(DataError, match="not a response"):
        Response.from_line(line)


def test_failure_survives_its_line() -> None:
    one = Failure(key="k", id=HOSTILE, dataset="B1", revision="r", sampling="s", reason=HOSTILE, failed_at="t")
    assert Failure.from_line(one.to_line()) == one


def test_sampling_name_changes_with_every_field() -> None:
    plain = SamplingConfig()
    names = {
        sampling_name(plain),
        sampling_name(replace(plain, temperature=0.7)),
        sampling_name(replace(plain, max_new_tokens=1024)),
        sampling_name(replace(plain, seed=1)),
        sampling_name(plain, chat_template="{{ messages }}"),
        sampling_name(plain, chat_template_kwargs={"enable_thinking": True}),
        sampling_name(plain, chat_template_kwargs={"enable_thinking": False}),
    }
    assert len(names) == 7


def test_sampling_name_is_stable() -> None:
    assert sampling_name(SamplingConfig()) == sampling_name(SamplingConfig(), chat_template="", chat_template_kwargs={})
    assert sampling_name(SamplingConfig(temperature=0.5, seed=3)) == "c26e9153"


def test_record_seed_is_stable_and_fits_an_engine() -> None:
    assert record_seed(0, "abc") == record_seed(0, "abc")
    seeds = {record_seed(run, f"{n}") for run in range(3) for n in range(1000)}
    assert len(seeds) == 3000
    assert max(seeds) < 2**31


def test_scope_digest_separates_revisions_and_samplings() -> None:
    scopes = [SCOPE, replace(SCOPE, revision="rev2"), replace(SCOPE, sampling="other"), replace(SCOPE, dataset="B2")]
    assert [scope.digest == SCOPE.digest for scope in scopes] == [True, False, False, True]
    assert len(key_digest("k")) == 16
