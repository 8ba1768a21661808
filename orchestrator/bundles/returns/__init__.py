"""Files of results: runs collected on one host and merged on another."""
