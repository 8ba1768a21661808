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
