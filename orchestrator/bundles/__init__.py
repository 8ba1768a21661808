"""A whole matrix carried to a server without internet, and the results carried back."""
