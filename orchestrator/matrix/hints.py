"""Suggestions for mistyped words."""

from collections.abc import Collection
from difflib import get_close_matches

MAX_LISTED = 8


def did_you_mean(word: str, known: Collection[str]) -> str:
    """Return the end of a message with the closest known word, or with the known words if none is close."""
    lowered = {name.lower(): name for name in reversed(list(known))}
    close = get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {lowered[close[0]]!r}?"
    if not known:
        return "; there is none"
    listed = ", ".join(list(known)[:MAX_LISTED])
    return f"; there is {listed}{', …' if len(known) > MAX_LISTED else ''}"
