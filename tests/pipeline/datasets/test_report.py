from pipeline.datasets.report import Problem, RowError, ValidationReport


def problem(line: int, reason: str = "no user turn") -> Problem:
    return Problem(file="a.jsonl", line=line, index=line - 1, id=None, reason=reason)


def test_a_row_error_reads_as_one_sentence() -> None:
    assert str(RowError("lengths differ", "3 and 2")) == "lengths differ: 3 and 2"
    assert str(RowError("empty conversation")) == "empty conversation"


def test_the_json_form_has_counts_and_the_first_problems() -> None:
    report = ValidationReport(accepted=5)
    report.formats["messages"] = 5
    for line in (1, 2, 3):
        report.reject(problem(line))
    report.warn(problem(4, "leading assistant turn dropped"))
    body = report.to_json(keep=1)
    assert body == {
        "accepted": 5,
        "rejected": 3,
        "rejections": [{"file": "a.jsonl", "line": 1, "index": 0, "id": None, "reason": "no user turn", "detail": ""}],
        "reasons": {"no user turn": 3},
        "warned": 1,
        "warnings": [
            {"file": "a.jsonl", "line": 4, "index": 3, "id": None, "reason": "leading assistant turn dropped", "detail": ""}
        ],
        "formats": {"messages": 5},
    }
    report.error = "no valid row"
    assert report.to_json()["error"] == "no valid row"
