"""Fewer points for the same picture: of each stretch of a line the lowest and the highest."""

from collections.abc import Sequence


def min_max(points: Sequence[tuple[int, float]], limit: int) -> list[tuple[int, float]]:
    """At most `limit` of the points (x, y), in order: peaks and dips stay, and the first and the last point."""
    if len(points) <= limit:
        return list(points)
    stretches = max(1, (limit - 2) // 2)
    inner = len(points) - 2
    kept = [points[0]]
    for i in range(stretches):
        stretch = points[1 + i * inner // stretches : 1 + (i + 1) * inner // stretches]
        values = [value for _, value in stretch]
        low, high = values.index(min(values)), values.index(max(values))
        kept += [stretch[place] for place in sorted({low, high})]
    return [*kept, points[-1]]
