"""What a plan costs in time and disk."""
