"""Results as files, with their contract, their writers and their readers."""
