from eagle3web import formats


def test_count_groups_by_threes() -> None:
    assert [formats.count(n) for n in (0, 12, 9998, 1_234_567, None)] == ["0", "12", "9 998", "1 234 567", "–"]


def test_tokens_have_two_digits_from_a_million_on() -> None:
    assert [formats.tokens(n) for n in (0, 950, 3_400, 999_999, 10_000_000, 17_030_000, 2.5e9)] == [
        "0", "950", "3.4 k", "1.00 M", "10.00 M", "17.03 M", "2.50 G",
    ]  # fmt: skip


def test_short_never_says_a_thousand_of_a_unit() -> None:
    assert [formats.short(n) for n in (999, 999.96, 999_940, 999_960)] == ["999", "1.0 k", "999.9 k", "1.0 M"]


def test_of_uses_one_unit_for_both() -> None:
    assert formats.of(4_200_000, 10_000_000) == ("4.20 M", "10.00 M")
    assert formats.of(0, 10_000_000) == ("0.00 M", "10.00 M")
    assert formats.of(17_030_000, 900_000) == ("17.03 M", "0.90 M")
    assert formats.of(1_500, 2_000) == ("1.5 k", "2.0 k")
    assert formats.of(12, 300) == ("12", "300")
    assert formats.of(12, None) == ("12", "–")


def test_duration_uses_at_most_two_units() -> None:
    said = [formats.duration(s) for s in (0, 0.4, 1, 59.4, 60, 192, 599, 2760, 26_640, 44_999, 200_000, None)]
    assert said == [
        "0 s", "0.4 s", "1 s", "59 s", "1 min", "3 min 12 s", "9 min 59 s", "46 min", "7 h 24 min", "12 h 30 min", "2 d 8 h",
        "–",
    ]  # fmt: skip


def test_percent_does_not_round_a_difference_away() -> None:
    shares = (0, 0.0002, 0.002, 0.046, 0.3, 0.9951, 0.99999, 1, 1.07)
    said = ["0 %", "< 0.1 %", "0.2 %", "4.6 %", "30 %", "99.5 %", "99.9 %", "100 %", "107.0 %"]
    assert [formats.percent(s) for s in shares] == said


def test_rate_size_and_times() -> None:
    assert [formats.rate(r) for r in (0, 0.21, 9.94, 9.96, 2094)] == ["0", "0.2", "9.9", "10", "2 094"]
    assert [formats.size(b) for b in (12, 57_300, 1.8e12)] == ["12 B", "57.3 kB", "1.8 TB"]
    assert formats.times(1.4203) == "1.42×"


def test_latencies_are_milliseconds_below_a_second() -> None:
    assert [formats.milliseconds(s) for s in (None, 0.0031, 0.024, 1.239)] == ["–", "3.1 ms", "24 ms", "1.24 s"]
