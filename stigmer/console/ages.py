"""How long ago something was, in words."""

from datetime import timedelta

_UNITS = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def age(passed: timedelta) -> str:
    """The two largest units that are not zero: `2 d 3 h`; `0 s` for less than a second."""
    left = max(0, int(passed.total_seconds()))
    parts = []
    for unit, seconds in _UNITS:
        count, left = divmod(left, seconds)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"
