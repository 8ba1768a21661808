"""The site over all runs, published and served."""
