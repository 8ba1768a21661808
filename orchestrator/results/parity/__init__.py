"""The files of a run's parity checks, and answers stored for later runs."""
