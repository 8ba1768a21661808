"""The search for the release or the dependency that changed a metric."""
