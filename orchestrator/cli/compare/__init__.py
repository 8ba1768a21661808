"""Commands that compare releases and runs."""
