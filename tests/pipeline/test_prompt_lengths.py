from pathlib import Path

from pipeline.datasets.revision import import_prompts
from pipeline.prompt_lengths import histogram, measure_prompts
from pipeline.tokens import PromptTokenizer
from tests.support.models import CHATML, tiny_tokenizer
from tests.support.prompts import chat, write_lines


def test_bins_are_round_and_hold_every_length() -> None:
    assert histogram([0, 3, 24, 25, 47]) == {
        "edges": list(range(0, 49, 2)),
        "counts": [1, 1] + [0] * 10 + [2] + [0] * 10 + [1],
        "mean": 19.8,
        "max": 47,
    }
    wide = histogram([100, 2399])
    assert (wide["edges"][:2], wide["edges"][-1], sum(wide["counts"])) == ([0, 100], 2400, 2)


def test_nothing_measured_is_an_empty_histogram() -> None:
    assert histogram([]) == {"edges": [0, 1], "counts": [0], "mean": 0.0, "max": 0}


def test_prompts_are_measured_and_refused_ones_counted(tmp_path: Path) -> None:
    template = "{% if 'bad' in messages[0].content %}{{ raise_exception('no') }}{% endif %}" + CHATML
    tokenizer = PromptTokenizer.load(tiny_tokenizer(tmp_path / "tokenizer", template=template))
    made = import_prompts(
        write_lines(tmp_path / "a.jsonl", *[{"prompt": text} for text in ("hi", "bad", "hi there")]), home=tmp_path, slug="set"
    )
    measured = measure_prompts(made.folder, made.count, tokenizer)
    longest = len(tokenizer.encode(chat("hi there")))
    assert (measured["sampled"], measured["refused"], measured["max"], sum(measured["counts"])) == (3, 1, longest, 2)
