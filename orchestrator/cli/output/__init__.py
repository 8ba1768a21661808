"""The ways that commands show results and progress."""
