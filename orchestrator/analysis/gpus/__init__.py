"""The GPUs that cells ran on: their conditions, and what one differs from another by."""
