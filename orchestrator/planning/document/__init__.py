"""The JSON document of a plan."""
