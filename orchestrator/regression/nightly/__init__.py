"""The nightly watch: settings, state, decisions, the night itself, and its notification."""
