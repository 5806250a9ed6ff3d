from pathlib import Path

from pipeline.responses.failures import FAILURES, commonest_reason
from pipeline.responses.record import Failure, Scope
from tests.support.answers import SCOPE


def failed(key: str, reason: str, scope: Scope = SCOPE) -> bytes:
    names = {"dataset": scope.dataset, "revision": scope.revision, "sampling": scope.sampling}
    return Failure(key=key, id=key, reason=reason, failed_at="2026-11-30T08:00:00Z", **names).to_line()


def test_commonest_reason_counts_each_prompt_once_by_its_newest_failure(tmp_path: Path) -> None:
    other = Scope(dataset=SCOPE.dataset, revision="another", sampling=SCOPE.sampling)
    lines = [
        failed("a", "refused"),
        failed("b", "refused"),
        b"not JSON\n",
        *(failed(key, "of another revision", other) for key in "uvwxyz"),
        failed("a", "no chat template"),
        failed("b", "too long"),
        failed("c", "no chat template"),
    ]
    (tmp_path / FAILURES).write_bytes(b"".join(lines))
    assert commonest_reason({tmp_path: SCOPE, tmp_path / "none": SCOPE}) == "no chat template"


def test_commonest_reason_of_nothing_is_no_word(tmp_path: Path) -> None:
    assert commonest_reason({tmp_path: SCOPE}) == ""
