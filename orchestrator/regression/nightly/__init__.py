"""The nightly watch, with its settings, state, decisions, the night itself and its notification."""
