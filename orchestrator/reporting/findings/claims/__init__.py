"""The claims of a published study, judged by a run."""
