"""Numbers the way people write them: 10.0 M, 9 998, 7 h 24 min, 1.42×, 1.8 TB. An unknown one is a dash."""

UNKNOWN = "–"
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def count(value: float | None) -> str:
    """A whole number, grouped by threes: `9 998`."""
    return UNKNOWN if value is None else f"{round(value):,}".replace(",", " ")


def short(value: float | None, digits: int = 1) -> str:
    """Many of something: `10.0 M`, `3.4 k`; below a thousand the number itself."""
    if value is None:
        return UNKNOWN
    for size, unit in _UNITS:
        # A value that would round up to 1000 k is 1 M.
        if abs(value) >= size * (1 - 0.5 / 10 ** (digits + 3)):
            return f"{value / size:.{digits}f} {unit}"
    return count(value)


def tokens(value: float | None) -> str:
    """Tokens: two digits after the point from a million on, since budgets are compared at this size: `17.03 M`."""
    return short(value, 2 if value is not None and abs(value) >= 999_995 else 1)


def of(done: float | None, goal: float | None) -> tuple[str, str]:
    """Two amounts in the unit of the larger one, so that they compare at a glance: `("4.20 M", "10.00 M")`."""
    if done is None or goal is None:
        return tokens(done), tokens(goal)
    size, unit = next(((s, u) for s, u in _UNITS if max(abs(done), abs(goal)) >= s), (1.0, ""))
    if not unit:
        return count(done), count(goal)
    digits = 2 if size >= 1e6 else 1
    return f"{done / size:.{digits}f} {unit}", f"{goal / size:.{digits}f} {unit}"


def rate(value: float | None) -> str:
    """Something a second: whole numbers from ten on, else one digit: `2 094`, `0.2`."""
    if value is None:
        return UNKNOWN
    return count(value) if value >= 9.95 or value == 0 else f"{value:.1f}"


def percent(share: float | None) -> str:
    """A share between 0 and 1. Little is never rounded to nothing, nor almost all to all."""
    if share is None:
        return UNKNOWN
    value = share * 100
    if 0 < value < 0.1:
        return "< 0.1 %"
    if value in (0, 100) or 10 <= value < 99.5:
        return f"{value:.0f} %"
    return f"{min(value, 99.9) if share < 1 else value:.1f} %"


def duration(seconds: float | None) -> str:
    """`0.4 s`, `12 s`, `3 min 12 s`, `7 h 24 min`, `3 d 4 h`: at most two units."""
    if seconds is None:
        return UNKNOWN
    if seconds < 0.95:
        return f"{max(seconds, 0):.1f} s" if seconds >= 0.05 else "0 s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole < 600 and whole % 60 else f"{round(seconds / 60)} min"
    minutes = round(seconds / 60)
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60:02d} min"
    hours = round(seconds / 3600)
    return f"{hours // 24} d {hours % 24} h"


def size(value: float | None) -> str:
    """Bytes in decimal units, as disks are sold: `1.8 TB`."""
    if value is None:
        return UNKNOWN
    return f"{short(value)}B" if abs(value) >= 999.95 else f"{count(value)} B"


def decimal(value: float | None) -> str:
    """Two digits after the point, for losses and accept lengths: `2.69`."""
    return UNKNOWN if value is None else f"{value:.2f}"


def times(value: float | None) -> str:
    """A factor: `1.42×`."""
    return UNKNOWN if value is None else f"{value:.2f}×"


def milliseconds(seconds: float | None) -> str:
    """A latency: `24 ms`, `3.1 ms`, `1.24 s`."""
    if seconds is None:
        return UNKNOWN
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1000:.{0 if seconds >= 0.01 else 1}f} ms"
