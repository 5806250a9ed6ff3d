from datetime import UTC, datetime

from eagle3web.templatetags import marks
from eagle3web.templatetags.numbers import register, visible_filter

AT = datetime(2026, 11, 30, 11, 24, 12, tzinfo=UTC)
HOSTILE = '"><script>alert(1)</script>'


def test_pill_has_colour_shape_and_word() -> None:
    html = marks.pill("silent")
    assert 'data-state="silent"' in html
    assert "#i-st-silent" in html
    assert html.endswith("silent</span>")


def test_pill_borrows_the_look_of_a_state_and_keeps_its_word() -> None:
    html = marks.pill("healthy")
    assert 'data-state="finished"' in html
    assert html.endswith("healthy</span>")


def test_words_are_escaped_everywhere() -> None:
    pieces = (
        marks.pill("running", HOSTILE),
        marks.budget_bar(HOSTILE, "running", 1, 0, 2, 2, HOSTILE),
        marks.figure("c", HOSTILE, {"data": [{"name": HOSTILE}], "layout": {}}),
        marks.numbers_button("c", HOSTILE),
        marks.spark([1.0], HOSTILE),
        marks.icon(HOSTILE),
    )
    assert [piece for piece in pieces if "<script>alert" in piece] == []


def test_moment_is_utc_without_a_script() -> None:
    html = marks.moment(AT, "ago")
    assert html == '<time datetime="2026-11-30T11:24:12.000000Z" data-as="ago">2026-11-30 11:24:12 UTC</time>'


def test_moment_and_clock_of_nothing_are_dashes() -> None:
    assert marks.moment(None) == marks.clock("", 10) == '<span class="faint">–</span>'


def test_clock_holds_no_age_so_that_it_changes_only_when_something_happened() -> None:
    html = marks.clock(AT, 10.0, "silent")
    assert 'data-limit="10.0" data-state="silent"' in html
    assert 'width="0"' in html


def test_bar_shows_done_in_flight_and_over_on_one_scale() -> None:
    under = marks.budget_bar("B3", "running", 4.2, 0.3, 10, 20, "4.2 of 10")
    assert '<rect class="track" width="50.00%"' in under
    assert '<rect class="done" width="21.00%"' in under
    assert '<rect class="fly" x="21.00%" width="1.50%"' in under
    assert 'aria-label="B3: 4.2 of 10"' in under
    over = marks.budget_bar("B1", "skipped", 17, 0, 10, 20, "17 of 10")
    assert '<rect class="done" width="50.00%"' in over
    assert '<rect class="over" x="50.00%" width="35.00%"' in over


def test_bar_of_unknown_length_is_none() -> None:
    assert marks.budget_bar("B1", "running", 5, 0, None, 20, "") == ""


def test_progress_bar_shows_a_share_and_says_it_in_words() -> None:
    html = marks.progress_bar(0.25, "running", "step 5 of <20>")
    assert '<rect class="done" width="25.00%"' in html
    assert 'aria-label="step 5 of &lt;20&gt;"' in html
    assert [marks.progress_bar(share, "running", "") for share in (None, "")] == ["", ""]
    assert 'width="100.00%"' in marks.progress_bar(1.2, "running", "")


def test_live_chart_says_how_its_values_are_written() -> None:
    assert 'data-after="7" data-written="decimal"' in marks.figure("c-loss", "Loss", {}, points_after=7, written="decimal")
    assert "data-written" not in marks.figure("c-loss", "Loss", {})


def test_filters_write_a_dash_for_what_a_template_does_not_find() -> None:
    assert [register.filters[name]("") for name in ("count", "tokens", "percent", "duration", "bytes")] == ["–"] * 5


def test_visible_filter_takes_anything() -> None:
    assert visible_filter(7) == "7"
    assert visible_filter("a\x1b") == "a␛"
