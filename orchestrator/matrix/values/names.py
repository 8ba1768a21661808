"""The patterns of names in a matrix, which also bind plans from elsewhere."""

MAX_WORD = 100
WORD = r"^[A-Za-z0-9][A-Za-z0-9._+-]*$"
SYSTEM_NAME = r"^[a-z0-9][a-z0-9_.-]{0,39}$"
DISTRIBUTION = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"
METRIC = r"^[A-Za-z][A-Za-z0-9_.-]{0,59}$"
DATASET = r"^[a-z][a-z0-9_-]{0,39}$"
INPUT = r"^[a-z][a-z0-9_]{0,39}$"
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]{0,254}$"
PYTHON = r"^[23]\.[0-9]{1,2}$"
IMAGE = r"^[A-Za-z0-9\[][A-Za-z0-9._:/@+\[\]-]{0,511}$"
"""An image as engines name it: by repository, tag, digest or id."""
UNIT = r"^[^\x00-\x1f\x7f-\x9f]{1,100}$"
ARGUMENT = r"^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*$"
"""An argument may hold several lines."""
MAX_PATTERN = 1000
"""Characters of a regular expression."""
MAX_TEXT = 32_768
"""Characters of an argument, or of the value of an environment variable."""
MAX_ARGUMENTS = 1000
