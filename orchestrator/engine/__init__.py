"""The one place that speaks to a container engine; used by `images`, `runtimes` and `bundles`."""
