import pytest

from pipeline.config import from_mapping, to_mapping
from pipeline.errors import ConfigError
from pipeline.exclusions import ExcludedAnswers, Exclusions


def test_a_list_is_named_by_what_is_on_it_whatever_the_order() -> None:
    one = Exclusions.of({"B2": ["b", "a"], "B1": ["c"]}, by=["bea", "ada", "bea"])
    other = Exclusions.of({"B1": ["c", "c"], "B2": ["a", "b"], "B3": []}, by=["ada"])
    assert one.hash == other.hash != ""
    assert one.answers == (ExcludedAnswers(dataset="B1", keys=("c",)), ExcludedAnswers(dataset="B2", keys=("a", "b")))
    assert (one.count, one.by) == (3, ("ada", "bea"))
    assert one.hash != Exclusions.of({"B1": ["c"]}).hash


def test_an_empty_list_has_no_name() -> None:
    assert Exclusions.of({"B1": []}, by=["ada"]) == Exclusions()
    assert (Exclusions().hash, Exclusions().count) == ("", 0)


def test_keys_are_those_of_one_dataset() -> None:
    found = Exclusions.of({"B1": ["a"], "B2": ["b"]})
    assert found.keys_of("B1") == {"a"}
    assert found.keys_of("B3") == frozenset()


def test_a_list_survives_json() -> None:
    found = Exclusions.of({"B1": ["a", "b"]}, by=["ada"])
    assert from_mapping(Exclusions, to_mapping(found)) == found


def test_a_list_that_was_edited_is_refused() -> None:
    with pytest.raises(ConfigError, match="it was edited"):
        Exclusions(answers=(ExcludedAnswers(dataset="B1", keys=("a",)),), hash="00000000")


def test_words_say_how_many_and_by_whom() -> None:
    found = Exclusions.of({"B1": ["a"]}, by=["bea", "ada"])
    assert found.words(1) == f"1 answer excluded by ada, bea (list {found.hash})"
    assert Exclusions.of({"B1": ["a"]}).words(1200) == f"1,200 answers excluded (list {found.hash})"
