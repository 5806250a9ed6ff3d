import math

from eagle3web.queries.sampling import min_max


def test_short_lines_stay_whole() -> None:
    points = [(n, float(n)) for n in range(5)]
    assert min_max(points, 5) == points
    assert min_max([], 5) == []


def test_long_lines_keep_ends_peaks_and_dips_in_order() -> None:
    points = [(n, math.sin(n / 50)) for n in range(100_000)]
    points[31_415] = (31_415, 9.0)
    points[27_182] = (27_182, -9.0)
    found = min_max(points, 2000)
    assert len(found) <= 2000
    assert (found[0], found[-1]) == (points[0], points[-1])
    assert {(31_415, 9.0), (27_182, -9.0)} <= set(found)
    assert [x for x, _ in found] == sorted({x for x, _ in found})
