"""The examples at the end of a command's help."""


def examples(*lines: str) -> str:
    """Return the end of a help text with command lines, each on a line of its own."""
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))  # \b keeps the lines as they are
