"""A web server of the site over all runs and of what is measured at the moment. It only reads."""
