"""Models as their files describe them, read without running them."""
