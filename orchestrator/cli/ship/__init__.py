"""Commands that carry matrices and results across an air gap."""
