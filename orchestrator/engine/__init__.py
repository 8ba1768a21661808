"""The only package that speaks to a container engine, for `images`, `runtimes` and `bundles`."""
