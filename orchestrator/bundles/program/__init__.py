"""The orchestrator itself, as wheels and as an image."""
