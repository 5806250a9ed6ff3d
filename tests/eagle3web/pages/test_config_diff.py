from eagle3web.models import Run
from eagle3web.pages.config_diff import config_diff


def run(stage: str, **config: object) -> Run:
    return Run(stage=stage, config=config)


def test_keys_that_differ_are_told_from_those_that_do_not() -> None:
    diff = config_diff([run("train", seed=1, optimizer={"rate": 1}), run("train", seed=1, optimizer={"rate": 2}, more=True)])
    assert [(row.key, row.values) for row in diff.different] == [("optimizer.rate", ["1", "2"]), ("more", ["", "True"])]
    assert (diff.same, len(diff.rows)) == (1, 3)


def test_keys_of_another_stage_are_no_difference() -> None:
    diff = config_diff([run("train", seed=1, epochs=2), run("benchmark", seed=2, shapes=[])])
    assert [row.key for row in diff.different] == ["seed"]


def test_equal_configs_differ_in_nothing() -> None:
    diff = config_diff([run("train", seed=1), run("train", seed=1)])
    assert (diff.different, diff.same) == ([], 1)
