"""Version-upgrade regression: what is new, what changed, and since when."""
