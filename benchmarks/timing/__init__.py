"""The timing of a session, step by step, request by request or token by token."""
