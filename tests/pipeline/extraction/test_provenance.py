from pathlib import Path

from pipeline.answer_sets import AnswerSet
from pipeline.artifacts import write_json
from pipeline.extraction.provenance import answers_inputs, greedy_datasets
from pipeline.responses.manifest import MANIFEST
from tests.support.answers import answer
from tests.support.extraction import SETS, store_answers


def test_hash_of_answers_changes_with_them(tmp_path: Path) -> None:
    responses = store_answers(tmp_path, [answer(1)])
    before = answers_inputs(responses, SETS)
    assert sorted(before) == ["responses/B1"]
    assert answers_inputs(responses, SETS) == before
    store_answers(tmp_path, [answer(2)])
    assert answers_inputs(responses, SETS) != before


def test_greedy_is_what_the_manifest_says_of_the_chosen_answers(tmp_path: Path) -> None:
    responses = store_answers(tmp_path, [answer(1)])
    assert greedy_datasets(responses, SETS) == set()
    warm, cold = {"temperature": 0.7, "top_k": -1}, {"temperature": 0.0, "top_k": -1}
    scopes = [
        {"revision": "rev1", "sampling": "warm", "way": warm},
        {"revision": "rev1", "sampling": "cold", "way": cold},
        {"revision": "rev2", "sampling": "warm", "way": warm},
    ]
    write_json(responses / "B1" / MANIFEST, {"scopes": scopes})
    assert greedy_datasets(responses, SETS) == set()
    assert greedy_datasets(responses, [AnswerSet(dataset="B1", revision="rev1", sampling="cold")]) == {"B1"}
    assert greedy_datasets(responses, [AnswerSet(dataset="B1", revision="rev1", sampling="warm")]) == set()
