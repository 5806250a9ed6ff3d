from eagle3web.text import cut, plotly, unbroken, visible


def test_visible_shows_terminal_escapes_and_control_characters() -> None:
    assert visible("\x1b[31mred\x1b[0m\x00\x07\r\x7f\x85") == "␛[31mred␛[0m␀␇␍␡⟨U+0085⟩"


def test_visible_shows_marks_that_turn_the_direction_around() -> None:
    assert visible("a\u202eb\u2066c\u200f") == "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200F⟩"


def test_visible_shows_lone_surrogates() -> None:
    assert visible("\ud83d") == "⟨U+D83D⟩"


def test_visible_shows_what_has_no_width() -> None:
    assert visible("a\u200bb\u00adc\u2060d\U000e0041") == "a⟨U+200B⟩b⟨U+00AD⟩c⟨U+2060⟩d⟨U+E0041⟩"


def test_visible_shows_joiners_only_where_they_join_nothing() -> None:
    assert visible("a\u200db \u200c") == "a⟨U+200D⟩b ⟨U+200C⟩"
    family, persian = "👨\u200d👩\u200d👧", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    assert (visible(family), visible(persian)) == (family, persian)


def test_unbroken_ties_numbers_to_their_groups_and_units() -> None:
    tied = unbroken("10 000 tokens in 7 h 24 min, 2 094 tok/s, 5 % of 3 runs, 17.03 M, 12 stops").replace("\u00a0", "_")
    assert tied == "10_000 tokens in 7_h 24_min, 2_094_tok/s, 5_% of 3 runs, 17.03_M, 12 stops"


def test_visible_keeps_tabs_lines_and_ordinary_writing() -> None:
    text = "tab\there\nΩ 数学 🎉 <b>&amp;"
    assert visible(text) == text


def test_cut_says_how_much_is_left_out() -> None:
    assert cut("abcdef", 4) == ("abcd", 2)
    assert cut("abc", 4) == ("abc", 0)


def test_plotly_reads_no_markup() -> None:
    assert plotly("<b>B1</b> & <a href='x'>") == "&lt;b&gt;B1&lt;/b&gt; &amp; &lt;a href='x'&gt;"
