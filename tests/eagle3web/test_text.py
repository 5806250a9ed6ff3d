from eagle3web.text import cut, plotly, visible


def test_visible_shows_terminal_escapes_and_control_characters() -> None:
    assert visible("\x1b[31mred\x1b[0m\x00\x07\r\x7f\x85") == "␛[31mred␛[0m␀␇␍␡⟨U+0085⟩"


def test_visible_shows_marks_that_turn_the_direction_around() -> None:
    assert visible("a\u202eb\u2066c\u200f") == "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200F⟩"


def test_visible_shows_lone_surrogates() -> None:
    assert visible("\ud83d") == "⟨U+D83D⟩"


def test_visible_keeps_tabs_lines_and_ordinary_writing() -> None:
    text = "tab\there\nΩ 数学 🎉 <b>&amp;"
    assert visible(text) == text


def test_cut_says_how_much_is_left_out() -> None:
    assert cut("abcdef", 4) == ("abcd", 2)
    assert cut("abc", 4) == ("abc", 0)


def test_plotly_reads_no_markup() -> None:
    assert plotly("<b>B1</b> & <a href='x'>") == "&lt;b&gt;B1&lt;/b&gt; &amp; &lt;a href='x'&gt;"
