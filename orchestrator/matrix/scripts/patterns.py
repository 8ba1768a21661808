"""Regular expressions that a file holds."""

import re
import warnings


def compiled(text: str) -> re.Pattern[str]:
    """Compile a pattern without Python's warnings, or raise `re.error` if it is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(text)
        except (OverflowError, RecursionError) as error:
            raise re.error(str(error)) from None


def checked_syntax(text: str) -> str:
    """Return a pattern unchanged, or raise `ValueError` if it is no regular expression."""
    try:
        compiled(text)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    return text


def groups_problem(text: str) -> str | None:
    """Return the reason that no group of a regular expression is clearly the number, or None."""
    pattern = compiled(text)
    if pattern.groups > 1 and "value" not in pattern.groupindex:
        return f"has {pattern.groups} groups; call the one with the number (?P<value>…)"
    return None
