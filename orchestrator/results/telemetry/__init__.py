"""The series that the host samples of a cell's GPUs while a repeat runs."""
