import pytest

from eagle3web.domain.answer_traits import language, repetition


@pytest.mark.parametrize(
    ("items", "share"),
    [
        ([], 0.0),
        ([1, 2, 3], 0.0),
        ([1, 2, 3, 4], 0.0),
        ([1, 1, 1, 1, 1], 0.5),
        ([1, 2, 3, 4, 5, 1, 2, 3, 4], 1 / 6),
        ([7] * 103, 0.99),
        (["one", "two", "three", "four", "five", "one", "two", "three", "four"], 1 / 6),
    ],
)
def test_repetition_is_the_share_of_sequences_that_occurred_before(items: list[int | str], share: float) -> None:
    assert repetition(items) == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("12 + 30 = 42", ""),
        ("The answer is 42.", "Latin"),
        ("Grüße aus Köln, ça va?", "Latin"),
        ("Привет, мир! OK", "Cyrillic"),
        ("概率是二十二分之七。x = 7/22", "Han"),
        ("ひらがなで書きます", "Hiragana"),
        ("한국어로 대답합니다", "Hangul"),
        ("مرحبا بالعالم", "Arabic"),
        ("ΔΘΛΞ δθλξ", "Greek"),
        ("नमस्ते दुनिया", "Devanagari"),
        ("```python\nx = 1\nprint(x)\n```", "code"),
        ("def f(x):\n    return x + 1\n", "code"),
        ("int main() {\n  return 0;\n}\n", "code"),
        ("Use a loop:\n```\nfor x in y:\n    f(x)\n    g(x)\n```\n", "code"),
        ("<think>\nLet n be 7.\n</think>\nSo 4n = 28.", "Latin"),
        ("<div>\n  <p>Hello</p>\n</div>", "code"),
        ("First we count.\nThen we add.\n```\nx = 1\n```\nSo it is one, as was to be shown.", "Latin"),
        ("If you want to import the goods, you return the form.\nFor example: two apples", "Latin"),
    ],
)
def test_language_is_the_script_of_most_letters_or_code(text: str, expected: str) -> None:
    assert language(text) == expected
