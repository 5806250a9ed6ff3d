from pipeline.benchmark.config import BenchmarkConfig, PromptSet
from pipeline.benchmark.contenders import PLAIN, Contender, Group, embedded_contenders, groups, in_turn
from pipeline.draft_shape import DraftShape


def test_three_rows_always_and_a_drafter_for_each_shape() -> None:
    shapes = (DraftShape(), DraftShape(steps=4, topk=4, draft_tokens=12), DraftShape())
    prompts = (PromptSet(dataset="B1", revision="r", prompts="p"),)
    config = BenchmarkConfig(project="p", output="o", target="t", drafter="d", prompts=prompts, shapes=shapes)
    names = [(contender.name, contender.shape_name) for contender in embedded_contenders(config)]
    assert names == [
        ("plain", ""),
        ("lookup-3-1-4", "3/1/4"),
        ("drafter-3-1-4", "3/1/4"),
        ("drafter-4-4-12", "4/4/12"),
    ]


def test_every_dataset_comes_before_a_second_repetition() -> None:
    order = [(group.repetition, group.concurrency, group.dataset) for group in groups(["B1", "B2"], (1, 4), 2)]
    assert order[:4] == [(1, 1, "B1"), (1, 1, "B2"), (1, 4, "B1"), (1, 4, "B2")]
    assert order[4:] == [(2, n, dataset) for _, n, dataset in order[:4]]
    assert groups(["B1"], (1, 1), 1) == [Group(dataset="B1", concurrency=1, repetition=1)]


def test_another_contender_begins_in_each_repetition() -> None:
    three = [PLAIN, Contender(mode="lookup", shape=DraftShape()), Contender(mode="drafter", shape=DraftShape())]
    modes = [[contender.mode for contender in in_turn(three, repetition)] for repetition in (1, 2, 3, 4)]
    assert modes == [
        ["plain", "lookup", "drafter"],
        ["lookup", "drafter", "plain"],
        ["drafter", "plain", "lookup"],
        ["plain", "lookup", "drafter"],
    ]
