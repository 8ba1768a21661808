"""Regular expressions out of a file."""

import re
import warnings


def compiled(text: str) -> re.Pattern[str]:
    """Compile a pattern without a word on stderr of what Python finds odd in it; raises `re.error` where it is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(text)
        except (OverflowError, RecursionError) as error:
            raise re.error(str(error)) from None


def checked_syntax(text: str) -> str:
    """Return a pattern as it is; raises `ValueError` where it is no regular expression."""
    try:
        compiled(text)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    return text


def groups_problem(text: str) -> str:
    """Say why nobody can tell which group of a regular expression is the number; empty where it is plain."""
    pattern = compiled(text)
    if pattern.groups > 1 and "value" not in pattern.groupindex:
        return f"has {pattern.groups} groups; call the one with the number (?P<value>…)"
    return ""
