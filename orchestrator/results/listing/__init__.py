"""What many runs hold, cached for listings and estimates."""
