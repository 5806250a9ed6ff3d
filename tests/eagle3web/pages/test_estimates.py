from eagle3web.formats import count
from eagle3web.pages.estimates import Span, span
from pipeline.budget import Range


def test_span_says_its_range_where_that_says_more() -> None:
    assert span(Range(low=1, likely=2, high=3), count) == Span("2", "1 to 3")
    assert span(Range.around(2), count) == Span("2", "")
    assert span(None, count) == Span("–", "")


def test_span_of_few_answers_leaves_its_range_out() -> None:
    assert span(Range(low=1, likely=200, high=9000), count, early=True) == Span("200", "too few answers yet")
    assert span(Range.around(2), count, early=True) == Span("2", "")
